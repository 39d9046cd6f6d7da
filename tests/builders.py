"""Small studies for tests: a published questionnaire whose ids and systems would tell, if they ever leaked."""

from datetime import timedelta
from decimal import Decimal

from django.core.files.base import ContentFile
from django.utils import timezone

from annotators.models import HIT, HITType
from surveys.definitions import VQAX, Definition
from surveys.models import Batch, Item, Output, Picture, Questionnaire, QuestionnaireItem, Survey

QUESTIONS = {  # question: (gold, other answers)
    "What is the weather like?": ("rainy", "snowy", "sunny"),
    "Is the dog asleep?": ("no", "yes"),
    "What sport is this?": ("football", "golf", "tennis"),
    "Where is the cat?": ("kitchen", "sofa"),
    "What time is it?": ("morning", "night"),
}
TEXTS = {
    "ofa-x": "The umbrellas are open.",
    "ground_truth": "There is a bus <bin_817> & more.",
    "third": "So.",
}
PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


def make_questionnaire(
    *,
    n_items: int = 5,
    definition: Definition = VQAX,
    name: str = "study",
    picture: bytes = PIXEL,
    **batch_values,
) -> Questionnaire:
    """Return a questionnaire on a HIT of the embedded marketplace, with gold in every id and file name."""
    survey = Survey.objects.create(name=name, slug=name, definition_key="evil-vqax")
    batch = make_batch(survey, definition=definition, name=name, items_per_hit=n_items, **batch_values)
    questionnaire = Questionnaire.objects.create(
        batch=batch, position=1, target_assignments=5, hit=make_hit(f"3HIT{name.upper()}")
    )
    for n in range(1, n_items + 1):
        item = make_item(survey, position=n, definition=definition, picture=picture)
        QuestionnaireItem.objects.create(questionnaire=questionnaire, item=item, position=n)
    return questionnaire


def make_batch(survey: Survey, *, definition: Definition, name: str, **values) -> Batch:
    return Batch.objects.create(
        **{
            "survey": survey,
            "name": name,
            "title": definition.title,
            "description": "Look at pictures.",
            "reward": Decimal("1.20"),
            "auto_approval_delay": timedelta(days=3),
            "seed": 7,
            "snapshot": definition.to_snapshot(),
            "status": Batch.Status.OPEN,
            **values,
        }
    )


def make_hit(hit_id: str) -> HIT:
    hit_type = HITType.objects.create(
        endpoint="embedded",
        hit_type_id=f"{hit_id}TYPE",
        title="Judge",
        description="Judge",
        reward=Decimal("1.20"),
        assignment_duration=timedelta(hours=1),
        auto_approval_delay=timedelta(days=3),
    )
    later = timezone.now() + timedelta(days=7)
    return HIT.objects.create(
        hit_type=hit_type, hit_id=hit_id, max_assignments=5, created_at=timezone.now(), expires_at=later
    )


def make_item(survey: Survey, *, position: int, definition: Definition, picture: bytes) -> Item:
    question, (gold, *others) = list(QUESTIONS.items())[(position - 1) % 5]
    item = Item.objects.create(
        survey=survey,
        external_id=f"16054198{position}.jpg#3r1e",
        position=position,
        payload={"question": question, "columns": {"answer": gold}},
        choices=[{"value": v, "label": v} for v in sorted([gold, *others])],
        gold=gold,
    )
    name = f"{item.external_id}.jpg"
    file = ContentFile(picture, name=f"{position}.png")
    Picture.objects.create(item=item, name=name, file=file, content_type="image/png", width=800, height=600)
    for system, text in list(TEXTS.items())[: definition.outputs_per_item]:
        Output.objects.create(item=item, system=system, text=text, answer=gold)
    return item


def frame_query(
    questionnaire: Questionnaire, *, worker: str = "A1WORKER", assignment: str = "3ASSIGNMENT1"
) -> dict[str, str]:
    """Return the query MTurk adds to the ExternalURL."""
    return {
        "assignmentId": assignment,
        "hitId": questionnaire.hit.hit_id,
        "workerId": worker,
        "turkSubmitTo": "http://localhost:8000",
    }
