"""Whose rows a decision is about, and the first and the last case in which it is taken."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotators.models import Assignment, Call
from surveys.answering.orders import History, draw_responses
from surveys.models import Inclusion, Response
from surveys.protocols.rules import RatedAlike
from surveys.publishing import quota
from surveys.review import analysis_use, appeals, decisions, replacements
from surveys.review.decisions import AUTO_APPROVED, late_reason
from surveys.review.evidence import evidence_of_batch
from tests.appeals import appealed, replaced
from tests.factories import (
    make_assignment,
    make_batch,
    make_hit,
    make_published,
    make_questionnaire,
    make_survey,
    make_worker,
    open_for,
    submitted,
)
from tests.link_people import make_batch as make_link_batch

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("wanted", "reason", "told"),
    [
        ("approve", "", AUTO_APPROVED),
        ("approve", "Good.", AUTO_APPROVED),
        ("reject", "", AUTO_APPROVED),
        ("reject", "Two of five.", f"{AUTO_APPROVED} It was to be rejected: Two of five."),
        ("propose", "Two of five.", f"{AUTO_APPROVED} It was to be rejected: Two of five."),
        ("flag", "Too fast.", f"{AUTO_APPROVED} It waited for a person: Too fast."),
    ],
)
def test_what_would_have_been_decided_is_told_of_what_was_approved_late(wanted, reason, told) -> None:
    assert late_reason(wanted, reason) == told


def refused_overturn(assignment: Assignment) -> Call:
    return Call.objects.create(
        token=f"overturn:{assignment.pk}",
        operation=Call.Operation.OVERTURN,
        endpoint="embedded",
        assignment=assignment,
        hit=assignment.hit,
        state=Call.State.REFUSED,
        finished_at=timezone.now(),
        arguments={},
    )


def test_a_refusal_is_told_of_the_work_it_was_about() -> None:
    hit = make_published().hit
    one, other, paid = (make_assignment(hit, status=s) for s in ("Rejected", "Rejected", "Approved"))
    refused = refused_overturn(one)
    refused_overturn(paid)
    assert decisions.overturn_refused(one) == refused
    assert [decisions.overturn_refused(found) for found in (other, paid)] == [None, None]


def test_a_rejection_can_be_overturned_until_thirty_days_after_it_was_handed_in() -> None:
    hit, now = make_published().hit, timezone.now()
    times = [now - timedelta(days=30) + change for change in (timedelta(minutes=1), -timedelta(minutes=1))]
    work = [make_assignment(hit, status="Rejected", accepted_at=at, submitted_at=at) for at in times]
    assert [decisions.can_overturn(one) for one in work] == [True, False]
    assert decisions.can_overturn(make_assignment(hit, status="Submitted")) is False


def test_an_appeal_that_is_granted_uses_answers_only_where_asked(person: User) -> None:
    appeal = appealed(make_published())
    replaced(appeal.assignment)
    appeals.answer_appeal(appeal, outcome="overturned", answer="Our mistake.", by=person)
    assert Inclusion.objects.get().is_included is False


def test_answers_that_were_used_again_can_be_left_out_again(person: User) -> None:
    assignment = submitted(make_published())
    for _ in range(2):
        out = analysis_use.exclude(assignment, by=person, reason="Letters.", replace=False)
        assert out.is_included is False
        assert analysis_use.include(assignment, by=person, reason="They meant it.").is_included is True


def test_only_what_was_skipped_counts_against_as_many_skips_as_are_wanted() -> None:
    questionnaire = make_published()
    questionnaire.target_assignments = 1
    questionnaire.save()
    hit = questionnaire.hit
    thrown_out = [make_assignment(hit, status="Rejected") for _ in range(3)]
    skips = [submitted(questionnaire) for _ in range(2)]
    for one in skips:
        one.responses.filter(position=1).update(skip_reason="text_missing")
    assert set(replacements.to_replace(hit)) == {*thrown_out, skips[0]}


def test_somebody_rejected_alone_is_compared_with_nobody() -> None:
    assignment = submitted(make_published())
    Assignment.objects.filter(pk=assignment.pk).update(status="Rejected", rejected_at=timezone.now())
    found = evidence_of_batch(assignment.hit.questionnaire.batch, kinds={"agreement"})
    assert found[assignment.pk].worker.ratings == ()


def test_a_mean_of_others_is_exact_to_nine_digits() -> None:
    questionnaire = make_published(n_items=1)
    work = [submitted(questionnaire) for _ in range(4)]
    output = Response.objects.filter(assignment=work[0]).get().item.outputs.first()
    for one, score in zip(work, (0.0, 1.0, 0.0, 0.0), strict=True):
        one.responses.get().ratings.filter(output=output, criterion="justifies").update(score=score)
    found = evidence_of_batch(questionnaire.batch, kinds={"agreement"})
    assert RatedAlike(0.0, 0.333333333) in found[work[0].pk].worker.ratings
    assert RatedAlike(1.0, 0.0) in found[work[1].pk].worker.ratings


def test_nothing_is_wanted_of_a_batch_without_questionnaires() -> None:
    batch = make_batch(make_survey())
    assert quota.n_wanted(batch) == 0
    make_questionnaire(batch, items=[], target_assignments=3)
    root = make_questionnaire(batch, items=[], target_assignments=2)
    make_questionnaire(batch, items=[], target_assignments=1, sibling_of=root)
    assert quota.n_wanted(batch) == 5


def test_a_claim_counts_where_it_came_from_and_what_was_handed_in_everywhere() -> None:
    hit, link_hit = make_hit(), make_hit()
    here = make_assignment(hit, claimed_from="10.0.0.1")
    make_assignment(hit, claimed_from="10.0.0.2")
    handed_in = make_assignment(hit, status="Submitted", claimed_from="10.0.0.2")
    by_link = make_assignment(link_hit, channel="link", claimed_from="10.0.0.2")
    counted = Assignment.objects.filter(quota.is_borne_out("10.0.0.1"))
    assert set(counted) == {here, handed_in, by_link}


def test_whoever_may_still_come_back_was_shown_what_they_were_shown() -> None:
    """An hour for the work, and as much again at most: after that nobody can hand it in."""
    questionnaire = make_published(n_items=1)
    batch, now = questionnaire.batch, timezone.now()
    items = [slot.item for slot in questionnaire.slots.all()]
    for minutes in (119, 121):
        one = open_for(questionnaire)
        Assignment.objects.filter(pk=one.pk).update(loaded_at=now - timedelta(minutes=minutes))
    seen = History.of(batch, items=items, worker=None)
    assert sum(seen.outputs_first[items[0].pk].values()) == 1


def test_what_was_drawn_once_is_not_drawn_again() -> None:
    questionnaire = make_published()
    assignment = make_assignment(questionnaire.hit)
    assert [len(draw_responses(questionnaire, assignment=assignment)) for _ in range(2)] == [5, 0]


def test_what_is_drawn_depends_on_what_this_worker_was_shown(monkeypatch: Any) -> None:
    asked, of = [], History.of

    def watched(*args: Any, worker: Any, **values: Any) -> History:
        asked.append(worker)
        return of(*args, worker=worker, **values)

    monkeypatch.setattr(History, "of", watched)
    questionnaire, ann = make_published(), make_worker()
    draw_responses(questionnaire, assignment=make_assignment(questionnaire.hit, worker=ann))
    bob = make_assignment(questionnaire.hit)
    draw_responses(questionnaire, assignment=bob, is_newcomer=True)
    assert asked == [ann, None]


def test_a_place_without_anybody_is_given_back_by_nobody() -> None:
    batch = make_link_batch()
    assert quota.release(make_assignment(make_hit())) is None
    assert batch.annotation_slots.count() == 2
