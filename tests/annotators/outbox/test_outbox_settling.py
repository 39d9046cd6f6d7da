"""Extensions and decisions whose answer was lost are settled, never doubled."""

from decimal import Decimal

import pytest
from django.utils import timezone

from annotators.crowds.mturk import mirror
from annotators.crowds.mturk.mirror import fetch
from annotators.models import HIT, Assignment, Call
from annotators.outbox import market, outcomes
from annotators.outbox.journal import perform
from marketplace.api.dispatch import TIME_HEADER
from tests.annotators.crowds.offers import decide, listed, long_ago, pay
from tests.market_site import Site

pytestmark = pytest.mark.django_db


def test_a_lost_extension_is_read_and_not_repeated(site: Site, hit: HIT) -> None:
    site.wire.lose.add("CreateAdditionalAssignmentsForHIT")
    call = market.extend(hit, token="replace:1", gateway=site.gateway)
    sent = site.wire.calls["CreateAdditionalAssignmentsForHIT"]
    site.wire.heal()
    assert call.state == "unknown"  # botocore's second try heard that the token was used, and was lost too
    assert perform(call, gateway=site.gateway).state == "done"
    assert (site.hit(hit).max_assignments, site.wire.calls["CreateAdditionalAssignmentsForHIT"]) == (6, sent)


def test_a_lost_decision_is_settled_by_the_status(site: Site, hit: HIT) -> None:
    assignment = listed(site, hit)
    call = decide(site, assignment, "REJECT", feedback="1 of 5")
    Call.objects.filter(pk=call.pk).update(state="sent", finished_at=None)
    assert perform(long_ago(call), gateway=site.gateway).state == "done"
    assert site.wire.calls["RejectAssignment"] == 1


def test_a_decision_repeated_by_botocore_is_done(site: Site, hit: HIT) -> None:
    """The answer is lost, botocore's second try hears "wrong state": the assignment's status tells that it is done."""
    assignment = listed(site, hit)
    site.wire.lose.add("ApproveAssignment")
    call = decide(site, assignment, "APPROVE")
    assert site.wire.calls["ApproveAssignment"] > 1
    site.wire.heal()
    call = perform(long_ago(call), gateway=site.gateway)
    assignment.refresh_from_db()
    assert (call.state, call.error, assignment.status) == ("done", "", "Approved")


def test_wrong_state_after_our_own_approval_is_done(
    site: Site, hit: HIT, monkeypatch: pytest.MonkeyPatch
) -> None:
    assignment = listed(site, hit)
    site.wire.lose.add("ApproveAssignment")
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda seconds: site.wire.heal())
    call = decide(site, assignment, "APPROVE")
    assert (call.state, call.attempts, assignment.status) == ("done", 1, "Approved")
    assert site.wire.calls["ApproveAssignment"] == 2


def test_a_rejection_that_came_too_late_is_refused(site: Site, hit: HIT) -> None:
    assignment = listed(site, hit)
    site.pass_time(seconds=3 * 86_400)
    call = decide(site, assignment, "REJECT", feedback="1 of 5")
    assert (call.state, assignment.status) == ("refused", "Approved")
    assert call.error.startswith("It was approved on the marketplace before it could be rejected, at 20")
    assert assignment.rejected_at is None
    assert assignment.feedback == ""


def test_only_after_a_decision_is_the_work_read_again(site: Site, hit: HIT) -> None:
    site.wire.tells_time = False
    assignment = listed(site, hit)
    asked = site.wire.calls["GetAssignment"]
    pay(site, assignment, amount=Decimal("1.00"), reason="Thanks", token="bonus:1")
    assert site.wire.calls["GetAssignment"] == asked
    decide(site, assignment, "APPROVE")
    assert site.wire.calls["GetAssignment"] == asked + 1


def test_an_approval_answered_with_its_time_is_not_read_again(site: Site, hit: HIT) -> None:
    """What is written of it is what reading it would have said, to the last digit."""
    assignment = listed(site, hit)
    decide(site, assignment, "APPROVE")
    assert site.wire.calls["GetAssignment"] == 0
    ours = Assignment.objects.get(pk=assignment.pk)
    shown = site.gateway.get_assignment(assignment.assignment_id)
    assert (
        (ours.status, ours.approved_at) == (shown.status, shown.approved_at) == ("Approved", ours.approved_at)
    )
    before = Assignment.objects.values().get(pk=assignment.pk)
    fetch(hit, gateway=site.gateway)
    assert Assignment.objects.values().get(pk=assignment.pk) == before


@pytest.mark.parametrize("told", ["", "soon", "nan", "inf", "1e300"])
def test_a_time_that_is_none_is_asked_for(site: Site, hit: HIT, told: str) -> None:
    kind = {"Content-Type": "application/x-amz-json-1.1", TIME_HEADER: told}
    assignment = listed(site, hit)
    site.gateway.approve(assignment.assignment_id)
    site.wire.replies["ApproveAssignment"] = (200, kind, b"{}")
    assert decide(site, assignment, "APPROVE").state == "done"
    assert (assignment.status, site.wire.calls["GetAssignment"]) == ("Approved", 1)


def test_words_of_an_approval_are_read_back(site: Site, hit: HIT) -> None:
    assignment = listed(site, hit)
    decide(site, assignment, "APPROVE", feedback="Thank you.")
    assert (assignment.status, assignment.feedback) == ("Approved", "Thank you.")
    assert site.wire.calls["GetAssignment"] == 1


def test_an_approval_nobody_wrote_down_is_read(site: Site, hit: HIT, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process was killed between the answer and our row of the work."""
    assignment = listed(site, hit)
    monkeypatch.setattr(outcomes, "note_effect", lambda call, *, done_at: None)
    monkeypatch.setattr(market, "_mirror_decision", lambda assignment, *, gateway: None)
    assert (decide(site, assignment, "APPROVE").state, assignment.status) == ("done", "Submitted")
    monkeypatch.undo()
    decide(site, assignment, "APPROVE")
    assert (assignment.status, site.wire.calls["GetAssignment"]) == ("Approved", 1)
    assert site.wire.calls["ApproveAssignment"] == 1


def test_what_is_known_to_be_approved_keeps_its_time(site: Site, hit: HIT) -> None:
    assignment = listed(site, hit)
    decide(site, assignment, "APPROVE")
    assert not mirror.note_approval(assignment, at=timezone.now())
    known = Assignment.objects.get(pk=assignment.pk).approved_at
    assert (
        known == assignment.approved_at == site.gateway.get_assignment(assignment.assignment_id).approved_at
    )
