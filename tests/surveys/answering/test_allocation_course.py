"""Whole courses drawn by chance: people come, leave, answer late, skip, are rejected; the quota holds throughout."""

import random
from collections import Counter

import pytest
from django.db.models import Count
from django.utils import timezone

from annotators.models import Assignment, Worker
from surveys.answering.allocation import NothingLeft
from surveys.models import AnnotationSlot, Batch, Decision, Response
from surveys.publishing import quota
from tests.link_people import answered, make_batch, make_person, run_out, skipped, take

pytestmark = pytest.mark.django_db


def reject(assignment: Assignment) -> None:
    """As the sweep does."""
    now = timezone.now()
    Decision.objects.create(assignment=assignment, verdict="reject", reason="Too few.", decided_at=now)
    Assignment.objects.filter(pk=assignment.pk).update(status="Rejected", rejected_at=now)
    assignment.refresh_from_db()
    quota.reopen(assignment)


def step(batch: Batch, chance: random.Random, open_ones: list[Assignment], people: list[Worker]) -> None:
    """One thing that happens to a study."""
    what = chance.choice(["take", "take", "answer", "answer", "leave", "skip", "reject"])
    if what == "take" or not open_ones:
        try:
            given = take(batch, chance.choice(people))
        except NothingLeft:
            return
        if given not in open_ones:
            open_ones.append(given)
        return
    assignment = chance.choice(open_ones)
    if what == "leave":  # they may still answer later
        run_out(assignment)
        return
    open_ones.remove(assignment)
    skipped(assignment) if what == "skip" else answered(assignment, n_correct=5)
    if what == "reject":
        assignment.refresh_from_db()
        reject(assignment)


def counted(batch: Batch) -> Counter[int]:
    """How many answers count, by questionnaire."""
    count = Assignment.objects.filter(annotation_slot__batch=batch, saved_at__isnull=False)
    count = count.exclude(status="Rejected").exclude(responses__skip_reason__gt="")
    return Counter(count.values_list("annotation_slot__questionnaire__position", flat=True))


def check(batch: Batch, *, copies: int) -> None:
    slots = AnnotationSlot.objects.filter(batch=batch)
    last_of_chain = slots.filter(reopened_as=None).values("questionnaire").annotate(n=Count("pk"))
    assert {row["n"] for row in last_of_chain} == {copies}
    given = slots.filter(assignment__isnull=False).count()
    assert given == Assignment.objects.filter(hit__questionnaire__batch=batch).count()
    seen = Response.objects.filter(batch=batch).values("worker", "item").annotate(n=Count("pk"))
    assert {row["n"] for row in seen} <= {1}
    numbers = sorted(slots.values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("seed", range(6))
def test_the_quota_holds_whatever_happens(seed: int) -> None:
    chance, copies = random.Random(seed), 2
    batch = make_batch(n_items=3, copies=copies)
    people = [make_person() for _ in range(6)]
    open_ones: list[Assignment] = []
    for _ in range(30):
        step(batch, chance, open_ones, people)
        check(batch, copies=copies)
    for assignment in open_ones:
        answered(assignment)
    for _ in range(30):
        try:
            answered(take(batch, make_person()))
        except NothingLeft:
            break
    Assignment.objects.filter(status="Submitted").update(status="Approved", approved_at=timezone.now())
    check(batch, copies=copies)
    assert quota.unfilled(batch) == []
    skips = Counter(Response.objects.exclude(skip_reason="").values_list("item__position", flat=True))
    for position in (1, 2, 3):
        assert counted(batch)[position] + max(skips[position] - copies, 0) >= copies


def test_a_place_is_worked_on_as_long_as_its_lease_runs() -> None:
    """One whose time ran out handed in late, and it counts: the next one is waited for until their time is over too."""
    batch = make_batch(n_items=1)
    late = take(batch, make_person())
    run_out(late)
    second = take(batch, make_person())
    answered(late)
    Assignment.objects.filter(pk=late.pk).update(status="Approved", approved_at=timezone.now())
    assert [one.pk for one in quota.unfilled(batch)] == [batch.questionnaires.get().pk]
    run_out(second)
    assert quota.unfilled(batch) == []
