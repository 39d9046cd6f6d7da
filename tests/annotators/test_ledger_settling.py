"""Extensions and decisions whose answer was lost are settled, never doubled."""

import pytest
from django.utils import timezone

from annotators import market
from annotators.ledger import TOKEN_LIFE, perform
from annotators.models import HIT, Call
from marketplace import models as marketplace
from tests.annotators.offers import listed, long_ago
from tests.market_site import Site

pytestmark = pytest.mark.django_db


def test_a_lost_extension_is_repeated_with_its_token(site: Site, hit: HIT) -> None:
    site.wire.lose.add("CreateAdditionalAssignmentsForHIT")
    call = market.extend(hit, token="replace:1", gateway=site.gateway)
    assert site.hit(hit).max_assignments == 6
    site.wire.heal()
    Call.objects.filter(pk=call.pk).update(state="sent", finished_at=None)
    assert perform(long_ago(call), gateway=site.gateway).state == "done"
    assert site.hit(hit).max_assignments == 6


def test_a_lost_extension_isnt_taken_for_another_that_came_through(site: Site, hit: HIT) -> None:
    site.wire.block.add("CreateAdditionalAssignmentsForHIT")
    lost = market.extend(hit, token="replace:1", gateway=site.gateway)
    site.wire.heal()
    market.extend(hit, token="replace:2", gateway=site.gateway)
    assert perform(long_ago(lost), gateway=site.gateway).state == "done"
    assert site.hit(hit).max_assignments == 7


def test_after_a_day_an_extension_is_settled_by_max_assignments(site: Site, hit: HIT) -> None:
    site.wire.lose.add("CreateAdditionalAssignmentsForHIT")
    call = market.extend(hit, token="replace:1", gateway=site.gateway)
    site.wire.heal()
    marketplace.Token.objects.all().delete()  # the marketplace has forgotten it
    Call.objects.filter(pk=call.pk).update(state="sent", finished_at=None)
    old = long_ago(call, created_at=timezone.now() - TOKEN_LIFE)
    assert perform(old, gateway=site.gateway).state == "done"
    assert site.hit(hit).max_assignments == 6


def test_after_a_day_an_extension_that_never_arrived_is_made(site: Site, hit: HIT) -> None:
    site.wire.block.add("CreateAdditionalAssignmentsForHIT")
    call = market.extend(hit, token="replace:1", gateway=site.gateway)
    site.wire.heal()
    old = long_ago(call, created_at=timezone.now() - TOKEN_LIFE)
    assert perform(old, gateway=site.gateway).state == "done"
    assert site.hit(hit).max_assignments == 6


def test_a_lost_decision_is_settled_by_the_status(site: Site, hit: HIT) -> None:
    assignment = listed(site, hit)
    call = market.reject(assignment, feedback="1 of 5", gateway=site.gateway)
    Call.objects.filter(pk=call.pk).update(state="sent", finished_at=None)
    assert perform(long_ago(call), gateway=site.gateway).state == "done"
    assert site.wire.calls["RejectAssignment"] == 1


def test_a_decision_repeated_by_botocore_is_done(site: Site, hit: HIT) -> None:
    """The answer is lost, botocore's second try hears "wrong state": the assignment's status tells that it is done."""
    assignment = listed(site, hit)
    site.wire.lose.add("ApproveAssignment")
    call = market.approve(assignment, gateway=site.gateway)
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
    call = market.approve(assignment, gateway=site.gateway)
    assert (call.state, call.attempts, assignment.status) == ("done", 1, "Approved")
    assert site.wire.calls["ApproveAssignment"] == 2


def test_a_rejection_that_came_too_late_is_refused(site: Site, hit: HIT) -> None:
    assignment = listed(site, hit)
    site.pass_time(seconds=3 * 86_400)
    call = market.reject(assignment, feedback="1 of 5", gateway=site.gateway)
    assert (call.state, assignment.status) == ("refused", "Approved")
    assert call.error.startswith("This operation can be called with a status of: Submitted")
    assert assignment.rejected_at is None
    assert assignment.feedback == ""
