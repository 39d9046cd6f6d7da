"""Extensions and decisions whose answer was lost are settled, never doubled."""

from decimal import Decimal

import pytest

from annotators.models import HIT, Call
from annotators.outbox import market
from annotators.outbox.journal import perform
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
    assignment = listed(site, hit)
    asked = site.wire.calls["GetAssignment"]
    pay(site, assignment, amount=Decimal("1.00"), reason="Thanks", token="bonus:1")
    assert site.wire.calls["GetAssignment"] == asked
    decide(site, assignment, "APPROVE")
    assert site.wire.calls["GetAssignment"] == asked + 1
