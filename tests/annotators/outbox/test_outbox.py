"""The outbox: an intent is carried out once, whatever happens to the answers."""

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from annotators.models import HIT, Assignment, Call, HITType
from annotators.outbox import outcomes, sending
from annotators.outbox.journal import IN_FLIGHT, perform, plan, plan_again, token_of
from marketplace import models as marketplace
from tests.annotators.crowds.offers import long_ago, offer, on_the_market
from tests.factories import make_hit
from tests.market_site import Site

pytestmark = pytest.mark.django_db


def test_an_intent_exists_once(site: Site) -> None:
    first = plan("t", Call.Operation.APPROVE, arguments={"feedback": "a"}, endpoint="embedded")
    again = plan("t", Call.Operation.REJECT, arguments={"feedback": "b"}, endpoint="embedded")
    assert (again.pk, again.operation, again.arguments) == (first.pk, "ApproveAssignment", {"feedback": "b"})


def test_an_intent_of_an_earlier_version_keeps_its_token(site: Site) -> None:
    """The marketplace may know it by that one; a second intent would be a second call."""
    old = plan("replace:7", "CreateAdditionalAssignmentsForHIT", arguments={})
    assert plan("replace:3XYZ", old.operation, arguments={}, formerly="replace:7") == old
    new = plan("replace:3ABC", old.operation, arguments={}, formerly="replace:8")
    assert (new.token, Call.objects.count()) == ("replace:3ABC", 2)


@pytest.mark.parametrize("state", ["sent", "done", "refused"])
def test_an_intent_once_sent_keeps_its_arguments(state: str) -> None:
    first = plan("t", Call.Operation.APPROVE, arguments={"feedback": "a"}, endpoint="embedded")
    Call.objects.filter(pk=first.pk).update(state=state, finished_at=timezone.now())
    again = plan("t", Call.Operation.APPROVE, arguments={"feedback": "b"}, endpoint="embedded")
    assert again.arguments == {"feedback": "a"}


def test_a_call_is_written_down_with_what_is_at_stake(site: Site, hit_type: HITType) -> None:
    call = offer(site, hit_type)
    assert (call.state, call.attempts, call.amount, call.error) == ("done", 1, Decimal("2.30"), "")
    assert (call.finished_at is None, call.hit is None) == (False, False)
    assert site.held() == 230


def test_a_finished_call_is_not_made_again(site: Site, hit_type: HITType) -> None:
    first, again = offer(site, hit_type), offer(site, hit_type)
    assert (again.pk, again.hit, again.attempts) == (first.pk, first.hit, 1)
    assert site.wire.calls["CreateHITWithHITType"] == 1


def test_a_call_performed_by_two_is_sent_once(
    site: Site, hit_type: HITType, in_parallel: Callable[..., list[Any]]
) -> None:
    results = in_parallel(*[lambda: offer(site, hit_type)] * 4)
    assert [type(result) for result in results] == [Call] * 4
    assert site.wire.calls["CreateHITWithHITType"] == 1
    assert (Call.objects.get().state, HIT.objects.count()) == ("done", 1)


def test_a_lost_creation_is_unknown_at_once_and_found_by_its_annotation(
    site: Site, hit_type: HITType
) -> None:
    site.wire.lose.add("CreateHITWithHITType")
    site.wire.block.add("GetHIT")  # botocore repeats, hears "exists already", and we ask which
    call = offer(site, hit_type)
    assert (call.state, call.hit, HIT.objects.count()) == ("unknown", None, 0)
    site.wire.heal()
    sent = site.wire.calls["CreateHITWithHITType"]
    done = perform(call, gateway=site.gateway)
    made = marketplace.HIT.objects.get()
    assert (done.state, done.hit and done.hit.hit_id, done.attempts) == ("done", made.hit_id, 2)
    assert done.hit is not None
    assert (done.hit.requester_annotation, done.hit.max_assignments) == ("create:1", 5)
    assert site.wire.calls["CreateHITWithHITType"] == sent


def test_a_creation_repeated_by_botocore_is_one_hit(
    site: Site, hit_type: HITType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first answer is lost, botocore's second try hears that the HIT exists: then it is done."""
    site.wire.lose.add("CreateHITWithHITType")
    monkeypatch.setattr("botocore.endpoint.time.sleep", lambda seconds: site.wire.heal())
    call = offer(site, hit_type)
    assert (call.state, call.attempts, on_the_market()) == ("done", 1, ["create:1"])
    assert site.wire.calls["CreateHITWithHITType"] == 2


def test_a_crash_before_the_answer_was_recorded(site: Site, hit_type: HITType) -> None:
    """The process dies between CreateHIT and our row: the next one finds the HIT."""
    call = offer(site, hit_type)
    Call.objects.filter(pk=call.pk).update(state="sent", hit=None, finished_at=None)
    HIT.objects.all().delete()
    assert offer(site, hit_type).state == "sent"
    again = perform(long_ago(call), gateway=site.gateway)
    assert (again.state, again.hit and again.hit.hit_id) == ("done", marketplace.HIT.objects.get().hit_id)
    assert site.wire.calls["CreateHITWithHITType"] == 1


def test_a_creation_that_never_arrived_is_sent_again(site: Site, hit_type: HITType) -> None:
    site.wire.block.add("CreateHITWithHITType")
    call = offer(site, hit_type)
    assert (call.state, on_the_market()) == ("unknown", [])
    site.wire.heal()
    assert perform(call, gateway=site.gateway).state == "done"
    assert on_the_market() == ["create:1"]


def test_a_token_without_the_hits_name_is_looked_up(site: Site, hit_type: HITType) -> None:
    made = offer(site, hit_type).hit
    Call.objects.all().delete()
    body = b'{"__type":"RequestError","Message":"The idempotency token \\"create:1\\" has already been processed."}'
    site.wire.replies["CreateHITWithHITType"] = (400, {"Content-Type": "application/x-amz-json-1.1"}, body)
    call = offer(site, hit_type)
    assert (call.state, call.hit) == ("done", made)


THROTTLED = (
    400,
    {"Content-Type": "application/x-amz-json-1.1"},
    b'{"__type":"ThrottlingException","message":"Rate"}',
)


def test_not_ready_goes_back_to_planned(site: Site, hit_type: HITType) -> None:
    site.wire.replies["CreateHITWithHITType"] = THROTTLED
    call = offer(site, hit_type)
    assert (call.state, call.attempts, call.error, call.finished_at) == ("planned", 1, "Rate", None)
    site.wire.heal()
    again = offer(site, hit_type)
    assert (again.state, again.attempts, again.error) == ("done", 2, "")
    assert site.wire.calls["ListHITs"] == 0  # nothing had happened, so nothing was looked for


def test_throttled_while_settling_stays_unknown(site: Site, hit_type: HITType) -> None:
    site.wire.block.add("CreateHITWithHITType")
    call = offer(site, hit_type)
    site.wire.heal()
    site.wire.replies["ListHITs"] = THROTTLED
    assert perform(call, gateway=site.gateway).state == "unknown"
    site.wire.heal()
    assert perform(call, gateway=site.gateway).state == "done"
    assert on_the_market() == ["create:1"]


def test_refused_stays_refused_until_planned_again(site: Site, hit_type: HITType) -> None:
    marketplace.Balance.objects.update(available_cents=229)
    call = offer(site, hit_type)
    assert (call.state, call.hit) == ("refused", None)
    assert "InsufficientFunds" not in call.error
    assert call.error != ""
    marketplace.Balance.objects.update(available_cents=230)
    assert (offer(site, hit_type).state, site.wire.calls["CreateHITWithHITType"]) == ("refused", 1)
    assert plan_again(call) is True
    assert plan_again(call) is False
    again = offer(site, hit_type)
    assert (again.state, again.error, again.attempts) == ("done", "", 1)


def test_only_a_refused_call_is_planned_again(site: Site, hit_type: HITType) -> None:
    call = offer(site, hit_type)
    assert plan_again(call) is False
    assert Call.objects.get().state == "done"


def test_an_unexpected_error_leaves_the_call_open(site: Site, hit_type: HITType) -> None:
    """A crash in our own process between intent and call: nobody claims it was done."""
    body = b'{"HIT": {}}'
    site.wire.replies["CreateHITWithHITType"] = (200, {"Content-Type": "application/x-amz-json-1.1"}, body)
    with pytest.raises(KeyError):
        offer(site, hit_type)
    call = Call.objects.get()
    assert (call.state, call.hit) == ("sent", None)
    site.wire.heal()
    assert perform(long_ago(call), gateway=site.gateway).state == "done"


def test_in_flight_is_longer_than_the_calls_it_covers(site: Site) -> None:
    config = site.gateway._client.meta.config
    attempts = config.retries["total_max_attempts"]
    one_call = attempts * (config.connect_timeout + config.read_timeout)
    assert timedelta(seconds=2 * one_call) < IN_FLIGHT


def test_every_operation_can_be_sent_and_read() -> None:
    assert set(sending._ACTIONS) == set(outcomes._READINGS) == set(Call.Operation)


def test_a_finished_call_has_its_time() -> None:
    from django.db import IntegrityError

    call = plan("t", Call.Operation.EXPIRE, arguments={}, endpoint="embedded", hit=make_hit())
    with pytest.raises(IntegrityError, match="finished_call_has_time"):
        Call.objects.filter(pk=call.pk).update(state="done")


def test_who_has_an_old_view_of_a_call_doesnt_send_it(site: Site, hit_type: HITType) -> None:
    """Another process has sent it since, and its answer was lost: that has to be settled, not repeated."""
    stale = plan("t", Call.Operation.APPROVE, arguments={"feedback": ""}, endpoint="embedded")
    Call.objects.filter(pk=stale.pk).update(state="sent", attempts=1)
    long_ago(stale)
    returned = perform(stale, gateway=site.gateway)
    assert (returned.state, returned.attempts) == ("sent", 1)
    assert sum(site.wire.calls.values()) == 1  # the HITType of the fixture


def test_a_token_of_an_assignment_has_its_id_or_where_that_is_too_long_its_hash() -> None:
    short, longest, longer = (
        token_of("approve", Assignment(assignment_id="A" * length)) for length in (4, 56, 57)
    )
    assert (short, longest) == ("approve:AAAA", f"approve:{'A' * 56}")
    assert re.fullmatch("approve:[0-9a-f]{40}", longer)


def test_what_is_done_meanwhile_keeps_its_time_where_the_clock_was_set_back(site: Site) -> None:
    stale = plan("t", Call.Operation.APPROVE, arguments={"feedback": "a"}, endpoint="embedded")
    tomorrow = timezone.now() + timedelta(days=1)
    Call.objects.filter(pk=stale.pk).update(state="done", sent_at=tomorrow, finished_at=tomorrow)
    assert perform(stale, gateway=site.gateway).sent_at == tomorrow
    assert site.wire.calls["ApproveAssignment"] == 0
