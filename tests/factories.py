"""Small studies, HITs and assignments for tests. Everything can be overridden by name."""

import itertools
import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from annotators.models import HIT, Assignment, HITType, Worker
from marketplace.questions.answer_documents import document
from surveys.answering.answer_copy import ItemAnswer
from surveys.answering.arrival import Claims, open_assignment
from surveys.answering.collection import save_answers
from surveys.answering.presentation import ShownItem, opened_responses, shown_item
from surveys.models import Batch, Item, Output, Questionnaire, QuestionnaireItem, Survey
from surveys.protocols.registry import get_definition
from surveys.publishing.questionnaires import start_publishing

_ids = itertools.count(1)
SYSTEMS = ("model", "ground_truth")


def new_id(prefix: str) -> str:
    return f"{prefix}{next(_ids):06d}"


def make_survey(*, n_items: int = 0, **values: Any) -> Survey:
    slug = values.pop("slug", f"study-{next(_ids)}")
    survey = Survey.objects.create(
        **{"name": f"Study {slug}", "slug": slug, "definition_key": "evil-vqax", "is_shared": True, **values}
    )
    items = Item.objects.bulk_create(_item(survey, position=n) for n in range(1, n_items + 1))
    Output.objects.bulk_create(_output(item, system) for item in items for system in SYSTEMS)
    return survey


def make_item(
    survey: Survey, *, position: int = 1, systems: tuple[str, ...] = SYSTEMS, **values: Any
) -> Item:
    item = _item(survey, position=position, **values)
    item.save()
    for system in systems:
        _output(item, system).save()
    return item


def _item(
    survey: Survey, *, position: int, choices: tuple[str, ...] = ("maybe", "no", "yes"), **values: Any
) -> Item:
    return Item(
        **{
            "survey": survey,
            "position": position,
            "external_id": f"item-{position}",
            "subject": values.get("external_id", f"item-{position}"),
            "payload": {"question": f"Question {position}?"},
            "choices": [{"value": value, "label": value.title()} for value in choices],
            "gold": "yes",
            **values,
        }
    )


def _output(item: Item, system: str) -> Output:
    return Output(item=item, system=system, text=f"A sentence about {item.position}.", answer="yes")


def make_draft(survey: Survey, **values: Any) -> Batch:
    """A batch that is not published yet."""
    return Batch.objects.create(
        **{
            "survey": survey,
            "name": new_id("Batch "),
            "title": "Judge explanations",
            "description": "Five questions about pictures.",
            "reward": Decimal("0.38"),
            "auto_approval_delay": timedelta(days=3),
            "lifetime": timedelta(days=1),
            "seed": 7,
            "rejects_automatically": True,
            **values,
        }
    )


def make_batch(survey: Survey, **values: Any) -> Batch:
    """An open batch, without questionnaires."""
    snapshot = get_definition(survey.definition_key).to_snapshot()
    return make_draft(
        survey,
        **{"status": Batch.Status.OPEN, "snapshot": snapshot, "published_at": timezone.now(), **values},
    )


def make_hit_type(**values: Any) -> HITType:
    return HITType.objects.create(
        **{
            "endpoint": "embedded",
            "hit_type_id": new_id("TYPE"),
            "title": "Judge explanations",
            "description": "Five questions about pictures.",
            "reward": Decimal("0.38"),
            "assignment_duration": timedelta(hours=1),
            "auto_approval_delay": timedelta(days=3),
            **values,
        }
    )


def make_hit(**values: Any) -> HIT:
    now = timezone.now()
    values.setdefault("hit_type", None)
    values["hit_type"] = values["hit_type"] or make_hit_type()
    return HIT.objects.create(
        **{
            "hit_id": new_id("HIT"),
            "max_assignments": 5,
            "created_at": now,
            "expires_at": now + timedelta(days=1),
            **values,
        }
    )


def make_questionnaire(
    batch: Batch, *, items: list[Item], hit: HIT | None = None, **values: Any
) -> Questionnaire:
    position = batch.questionnaires.count() + 1
    questionnaire = Questionnaire.objects.create(
        **{"batch": batch, "position": position, "target_assignments": 5, "hit": hit, **values}
    )
    QuestionnaireItem.objects.bulk_create(
        QuestionnaireItem(questionnaire=questionnaire, item=item, position=n)
        for n, item in enumerate(items, 1)
    )
    return questionnaire


def make_published(*, n_items: int = 5, hit: HIT | None = None, **batch_values: Any) -> Questionnaire:
    """A questionnaire on a HIT, in an open batch of its own."""
    survey = make_survey(n_items=n_items)
    batch = make_batch(survey, **{"items_per_hit": n_items, **batch_values})
    return make_questionnaire(batch, items=list(survey.items.all()), hit=hit or make_hit())


def open_batch(draft: Batch) -> list[Questionnaire]:
    """Publish a draft by its design, as far as a marketplace is asked: each of its questionnaires has a HIT."""
    start_publishing(draft)
    Batch.objects.filter(pk=draft.pk).update(status=Batch.Status.OPEN)
    for questionnaire in draft.questionnaires.all():
        Questionnaire.objects.filter(pk=questionnaire.pk).update(hit=make_hit())
    return list(Questionnaire.objects.filter(batch=draft).select_related("batch__survey", "hit"))


def make_worker(worker_id: str = "", **values: Any) -> Worker:
    return Worker.objects.create(
        **{"worker_id": worker_id or new_id("AWORKER"), "source": "embedded", **values}
    )


def make_assignment(hit: HIT, *, status: str = "Accepted", **values: Any) -> Assignment:
    """An assignment of a new worker, with the times its status asks for."""
    now = timezone.now()
    times: dict[str, Any] = {"accepted_at": now - timedelta(minutes=9)}
    if status != "Accepted":
        times |= {"submitted_at": now, "auto_approval_at": now + timedelta(days=3)}
    times |= {"Approved": {"approved_at": now}, "Rejected": {"rejected_at": now}}.get(status, {})
    values.setdefault("worker", None)
    values["worker"] = values["worker"] or make_worker()
    return Assignment.objects.create(
        **{"hit": hit, "assignment_id": new_id("ASSIGNMENT"), "status": status, **times, **values}
    )


def claims_for(questionnaire: Questionnaire, *, worker: str = "AWORKER", assignment: str = "") -> Claims:
    assert questionnaire.hit is not None
    return Claims(
        assignment_id=assignment or new_id("ASSIGNMENT"),
        hit_id=questionnaire.hit.hit_id,
        worker_id=worker,
        submit_to="",
    )


def open_for(questionnaire: Questionnaire, *, worker: str = "", assignment: str = "") -> Assignment:
    """The assignment of a worker who opens the questionnaire in the frame."""
    claims = claims_for(questionnaire, worker=worker or new_id("AWORKER"), assignment=assignment)
    return open_assignment(questionnaire, claims=claims).assignment


def shown_items(assignment: Assignment) -> list[ShownItem]:
    """Return the items of an opened assignment as their worker sees them."""
    batch = assignment.hit.questionnaire.batch
    return [shown_item(response) for response in opened_responses(assignment, batch=batch)]


def answers_for(assignment: Assignment, *, n_correct: int = 5) -> list[ItemAnswer]:
    """Complete e-ViL answers, the first `n_correct` of them right; the second output as shown is preferred."""
    responses = assignment.responses.select_related("item").prefetch_related("item__outputs")
    return [_answer(response, is_right=n < n_correct) for n, response in enumerate(responses)]


def _answer(response: Any, *, is_right: bool) -> ItemAnswer:
    codes = {output.pk: output.code for output in response.item.outputs.all()}
    first, second = (codes[pk] for pk in response.shown["outputs"])
    return ItemAnswer(
        position=response.position,
        answer=response.item.gold if is_right else "no",
        ratings={
            first: {
                "justifies": "weak_no",
                "shortcomings": ["incorrect_description", "insufficient_justification"],
            },
            second: {"justifies": "yes", "shortcomings": []},
        },
        preference=second,
        active_seconds=12.5,
    )


def answer(assignment: Assignment, *, n_correct: int = 5, comment: str = "") -> Assignment:
    """Save complete answers for an opened assignment."""
    save_answers(assignment, answers=answers_for(assignment, n_correct=n_correct), comment=comment)
    return assignment


def submitted(questionnaire: Questionnaire, *, n_correct: int = 5, worker: str = "") -> Assignment:
    """An answered assignment that the marketplace lists as Submitted."""
    assignment = answer(open_for(questionnaire, worker=worker), n_correct=n_correct)
    now = timezone.now()
    Assignment.objects.filter(pk=assignment.pk).update(
        status="Submitted", accepted_at=now - timedelta(minutes=9), submitted_at=now
    )
    assignment.refresh_from_db()
    return assignment


def answer_xml(task_answers: Any, **fields: str) -> str:
    """The marketplace's copy of a submitted form."""
    text = task_answers if isinstance(task_answers, str) else json.dumps(task_answers)
    return document({"taskAnswers": text, **fields})
