"""Small studies for tests: a published questionnaire whose ids and systems would tell, if they ever leaked."""

from decimal import Decimal

from django.core.files.base import ContentFile

from surveys.models import Item, Output, Picture, Questionnaire, Survey
from surveys.protocols.definition import Definition
from tests import factories
from tests.protocols import VQAX

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
    survey = factories.make_survey(name=name, slug=name)
    values = {"title": definition.title, "description": "Look at pictures.", "reward": Decimal("1.20")}
    batch = factories.make_batch(
        survey,
        **{
            "name": name,
            "items_per_hit": n_items,
            "snapshot": definition.to_snapshot(),
            **values,
            **batch_values,
        },
    )
    items = [
        make_item(survey, position=n, definition=definition, picture=picture) for n in range(1, n_items + 1)
    ]
    hit = factories.make_hit(hit_id=f"3HIT{name.upper()}")
    return factories.make_questionnaire(batch, items=items, hit=hit)


def make_item(survey: Survey, *, position: int, definition: Definition, picture: bytes) -> Item:
    question, (gold, *others) = list(QUESTIONS.items())[(position - 1) % 5]
    item = factories.make_item(
        survey,
        position=position,
        systems=(),
        external_id=f"16054198{position}.jpg#3r1e",
        payload={"question": question, "columns": {"answer": gold}},
        choices=tuple(sorted([gold, *others])),
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
