"""People who come by link in tests: small batches for them, what they take and answer, and how they are invited."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from annotators.models import Assignment, Source, Worker
from surveys.answering import allocation
from surveys.answering.invitations import Invited, Person, invite
from surveys.models import AnnotationSlot, Batch, Panel
from surveys.publishing import quota
from tests import factories
from tests.policy_data import NEVER


def make_batch(*, n_items: int = 2, copies: int = 1, items_per_hit: int = 1, **values: Any) -> Batch:
    """An open batch that takes links: `copies` annotations of each questionnaire are wanted."""
    survey = factories.make_survey(n_items=n_items)
    values = {"endpoint": "link", "reward": Decimal(0), "review_policy": NEVER, **values}
    batch = factories.make_batch(
        survey, **{"items_per_hit": items_per_hit, "assignments_per_hit": copies, **values}
    )
    hit_type = factories.make_hit_type(endpoint=batch.endpoint)
    items = list(survey.items.order_by("position"))
    for start in range(0, n_items, items_per_hit):
        hit = factories.make_hit(hit_type=hit_type, max_assignments=copies)
        factories.make_questionnaire(
            batch, items=items[start : start + items_per_hit], hit=hit, target_assignments=copies
        )
    quota.write_slots(batch)
    return batch


def make_person(worker_id: str = "", source: str = "link") -> Worker:
    return factories.make_worker(worker_id, source=Source(source))


def take(batch: Batch, worker: Worker, **values: Any) -> Assignment:
    return allocation.take(batch, worker=worker, **{"channel": "link", **values})


def take_number(batch: Batch, number: int, worker: Worker, **values: Any) -> Assignment:
    return allocation.take_number(batch, number=number, worker=worker, **{"channel": "link", **values})


def answered(assignment: Assignment, *, n_correct: int = 5) -> Assignment:
    """Complete answers, handed in."""
    factories.answer(assignment, n_correct=n_correct)
    allocation.settle(assignment)
    return assignment


def skipped(assignment: Assignment, *, reason: str = "text_missing") -> Assignment:
    """As if the only item had been skipped, handed in."""
    assignment.responses.update(skip_reason=reason)
    Assignment.objects.filter(pk=assignment.pk).update(saved_at=timezone.now())
    assignment.refresh_from_db()
    allocation.settle(assignment)
    return assignment


def run_out(assignment: Assignment) -> None:
    """Let the lease of an assignment run out."""
    AnnotationSlot.objects.filter(assignment=assignment).update(
        leased_until=timezone.now() - timedelta(seconds=1)
    )


def number_of(assignment: Assignment) -> int:
    return AnnotationSlot.objects.get(assignment=assignment).number


def invite_one(batch: Batch, name: str = "Ann", **values: Any) -> Invited:
    person = Person(name, values.pop("email", ""), values.pop("worker_id", ""))
    values = {"expires_at": timezone.now() + timedelta(days=1), "by": None, **values}
    return invite(batch, people=[person], **values)[0]


def make_panel(batch: Batch, **values: Any) -> Panel:
    return Panel.objects.create(**{"batch": batch, "completion_code": "C1A2B3", **values})


def from_prolific(worker_id: str = "5f2a", **values: str) -> dict[str, str]:
    return {"PROLIFIC_PID": worker_id, "STUDY_ID": "study1", "SESSION_ID": "session1", **values}
