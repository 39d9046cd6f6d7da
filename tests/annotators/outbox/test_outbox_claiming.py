"""Who may make a call, and when: two processes, a process that is gone, a clock that jumps."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone

from annotators.models import HIT, Call, HITType
from annotators.outbox import journal, market
from annotators.outbox.journal import IN_FLIGHT, find_out, perform, plan, plan_again, unsettled
from marketplace import models as marketplace
from tests.annotators.crowds.offers import listed, long_ago, offer, on_the_market, pay
from tests.factories import make_assignment, make_hit
from tests.market_site import Site

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[timedelta], None]:
    """Set our clock, not the marketplace's, by so much."""
    shift = [timedelta(0)]
    ours = SimpleNamespace(now=lambda: timezone.now() + shift[0])
    for module in ("journal", "outcomes"):
        monkeypatch.setattr(f"annotators.outbox.{module}.timezone", ours)

    def jump(by: timedelta) -> None:
        shift[0] += by

    return jump


def in_flight(site: Site, hit_type: HITType, *, sent_at: datetime) -> Call:
    """A call another process is making: the request is on its way."""
    call = plan("create:1", Call.Operation.CREATE_HIT, endpoint="embedded", arguments=terms(hit_type))
    Call.objects.filter(pk=call.pk).update(state="sent", attempts=1, sent_at=sent_at)
    return Call.objects.get(pk=call.pk)


def terms(hit_type: HITType) -> dict[str, Any]:
    return {
        "hit_type": hit_type.pk,
        "url": "http://127.0.0.1/hits/1/",
        "lifetime": 86_400.0,
        "max_assignments": 5,
    }


def test_a_call_in_flight_is_left_to_its_process(site: Site, hit_type: HITType) -> None:
    call = in_flight(site, hit_type, sent_at=timezone.now() - IN_FLIGHT + timedelta(seconds=30))
    assert (perform(call, gateway=site.gateway).state, on_the_market()) == ("sent", [])
    assert list(unsettled()) == []


def test_a_call_of_a_process_that_is_gone_is_settled(site: Site, hit_type: HITType) -> None:
    call = in_flight(site, hit_type, sent_at=timezone.now() - IN_FLIGHT)
    assert list(unsettled()) == [call]
    assert (perform(call, gateway=site.gateway).state, on_the_market()) == ("done", ["create:1"])


def test_a_call_that_has_moved_on_since_it_was_read_is_left_to_who_moved_it(
    site: Site, hit_type: HITType
) -> None:
    """Whoever read it in flight would go by what is not true any more; the next reading does what is to be done."""
    stale = in_flight(site, hit_type, sent_at=timezone.now() - IN_FLIGHT)
    Call.objects.update(state="unknown", error="The marketplace does not show it, yet.")
    assert perform(stale, gateway=site.gateway).state == "unknown"
    assert on_the_market() == []
    assert perform(Call.objects.get(), gateway=site.gateway).state == "done"


def test_a_call_that_does_not_say_when_it_was_sent_is_read_all_the_same(
    site: Site, hit_type: HITType
) -> None:
    made = offer(site, hit_type)
    Call.objects.update(state="unknown", hit=None, sent_at=None, finished_at=None)
    call = perform(Call.objects.get(), gateway=site.gateway)
    assert (call.state, call.hit, site.wire.calls["CreateHITWithHITType"]) == ("done", made.hit, 1)


def test_many_settle_one_bonus_and_it_is_paid_once(
    site: Site, hit: HIT, in_parallel: Callable[..., list[Any]]
) -> None:
    bonus = market.plan_bonus(
        listed(site, hit), amount=Decimal("1.00"), reason="Thanks", token="bonus:1", endpoint="embedded"
    )
    Call.objects.update(state="unknown", attempts=1, sent_at=timezone.now())
    results = in_parallel(*[lambda: market.settle(Call.objects.get(pk=bonus.pk), gateway=site.gateway)] * 6)
    assert [type(result) for result in results] == [Call] * 6
    bonus.refresh_from_db()
    assert (bonus.state, marketplace.Bonus.objects.count(), site.wire.calls["SendBonus"]) == ("done", 1, 1)


def test_two_equal_bonuses_at_once_are_two(
    site: Site, hit: HIT, in_parallel: Callable[..., list[Any]]
) -> None:
    """Whichever is second waits until the first is settled, and is then paid as well."""
    assignment = listed(site, hit)

    def paying(number: int) -> Callable[[], Call]:
        values = {"amount": Decimal("1.00"), "reason": "Thanks", "token": f"bonus:{number}"}
        return lambda: pay(site, assignment, **values)

    in_parallel(paying(1), paying(2))
    for call in Call.objects.filter(operation="SendBonus"):
        perform(call, gateway=site.gateway)
    assert (marketplace.Bonus.objects.count(), site.wire.calls["SendBonus"]) == (2, 2)
    assert list(Call.objects.filter(operation="SendBonus").values_list("state", flat=True)) == ["done"] * 2


@pytest.mark.parametrize("state", ["sent", "unknown"])
def test_the_database_lets_one_extension_of_a_hit_be_unsettled(state: str) -> None:
    hit = make_hit()
    for number in (1, 2):
        plan(f"replace:{number}", Call.Operation.EXTEND, arguments={}, endpoint="embedded", hit=hit)
    Call.objects.filter(token="replace:1").update(state=state)
    with pytest.raises(IntegrityError):
        Call.objects.filter(token="replace:2").update(state="sent")


def test_the_database_lets_one_bonus_of_an_assignment_be_unsettled() -> None:
    assignment = make_assignment(make_hit(), status="Approved")
    for number in (1, 2):
        plan(f"b{number}", Call.Operation.BONUS, arguments={}, endpoint="embedded", assignment=assignment)
    Call.objects.filter(token="b1").update(state="unknown")
    with pytest.raises(IntegrityError):
        Call.objects.filter(token="b2").update(state="unknown")


def test_a_clock_set_back_neither_hurries_a_call_nor_holds_it_up(
    site: Site, hit_type: HITType, clock: Callable[[timedelta], None]
) -> None:
    call = in_flight(site, hit_type, sent_at=timezone.now())
    clock(-HOUR)
    assert list(unsettled()) == [call]
    assert (perform(call, gateway=site.gateway).state, on_the_market()) == ("sent", [])
    clock(IN_FLIGHT - timedelta(seconds=30))
    assert (perform(call, gateway=site.gateway).state, on_the_market()) == ("sent", [])
    clock(timedelta(minutes=1))
    assert (perform(call, gateway=site.gateway).state, on_the_market()) == ("done", ["create:1"])


def test_a_clock_set_forward_makes_a_call_look_lost_and_still_it_is_done_once(
    site: Site, hit_type: HITType, clock: Callable[[timedelta], None]
) -> None:
    """The first process is still waiting when a second one settles: the reading finds the HIT."""
    call = offer(site, hit_type)
    Call.objects.filter(pk=call.pk).update(state="sent", hit=None, finished_at=None)
    call = Call.objects.get(pk=call.pk)
    clock(HOUR)
    assert (perform(call, gateway=site.gateway).state, on_the_market()) == ("done", ["create:1"])


@pytest.mark.parametrize("jump", [HOUR, timedelta(days=2)])
def test_a_clock_set_forward_while_the_request_is_on_its_way(
    site: Site, hit_type: HITType, clock: Callable[[timedelta], None], jump: timedelta
) -> None:
    """The second process reads nothing and sends too; then the first one's request arrives, with the same token."""
    call = in_flight(site, hit_type, sent_at=timezone.now())
    clock(jump)
    assert perform(call, gateway=site.gateway).state == "done"
    again = plan("late", Call.Operation.CREATE_HIT, endpoint="embedded", arguments=terms(hit_type))
    Call.objects.filter(pk=call.pk).update(token="was create:1")
    Call.objects.filter(pk=again.pk).update(token="create:1")
    again.refresh_from_db()
    assert (perform(again, gateway=site.gateway).state, on_the_market()) == ("done", ["create:1"])


def test_an_unknown_call_with_a_time_to_come_counts_from_now(
    site: Site, hit_type: HITType, clock: Callable[[timedelta], None]
) -> None:
    site.wire.block.add("CreateHITWithHITType")
    call = offer(site, hit_type)
    site.wire.heal()
    clock(-HOUR)
    found = find_out(call, gateway=site.gateway)
    assert (found.state, found.sent_at is not None and found.sent_at <= timezone.now()) == ("unknown", True)
    clock(timedelta(minutes=20))
    assert (find_out(found, gateway=site.gateway).state, on_the_market()) == ("planned", [])


def test_who_lost_a_call_to_another_writes_nothing(site: Site, hit_type: HITType) -> None:
    """A process stood still for too long. Another has settled the call, and the late refusal is not believed."""
    call = in_flight(site, hit_type, sent_at=timezone.now() - IN_FLIGHT)
    body = b'{"__type":"RequestError","Message":"No.","TurkErrorCode":"AWS.MechanicalTurk.InsufficientFunds"}'
    site.wire.replies["CreateHITWithHITType"] = (400, {"Content-Type": "application/x-amz-json-1.1"}, body)
    slow = site.gateway.find_hit

    def overtaken(*, annotation: str) -> Any:
        Call.objects.filter(pk=call.pk).update(state="done", attempts=7, finished_at=timezone.now())
        return slow(annotation=annotation)

    site.gateway.find_hit = overtaken  # type: ignore[method-assign]
    assert (perform(call, gateway=site.gateway).state, Call.objects.get().error) == ("done", "")


def test_what_is_left_and_what_other_steps_ask_for(site: Site) -> None:
    hit, old = make_hit(), timezone.now() - IN_FLIGHT
    fields = {"endpoint": "embedded", "arguments": {}, "hit": hit}
    left = plan("a", Call.Operation.EXPIRE, **fields)
    fresh = plan("b", Call.Operation.EXPIRE, **fields)
    throttled = plan("c", Call.Operation.EXPIRE, **fields)
    wanted = plan("d", Call.Operation.EXTEND, **fields)
    unknown = plan("e", Call.Operation.EXTEND, **fields)
    done = plan("f", Call.Operation.EXPIRE, **fields)
    Call.objects.filter(pk__in=[left.pk, wanted.pk]).update(created_at=old)
    Call.objects.filter(pk=throttled.pk).update(error="Rate exceeded")
    Call.objects.filter(pk=unknown.pk).update(state="unknown")
    Call.objects.filter(pk=done.pk).update(state="done", error="x", finished_at=old)
    assert fresh.state == "planned"
    assert set(unsettled()) == {left, throttled, unknown}


def test_more_work_is_only_looked_for_by_the_sweep(site: Site, hit: HIT) -> None:
    """The batch may have been stopped since: settling opens nothing."""
    site.wire.block.add("CreateAdditionalAssignmentsForHIT")
    call = market.extend(hit, token="replace:1", gateway=site.gateway)
    site.wire.heal()
    settled = market.settle(long_ago(call), gateway=site.gateway)
    assert (settled.state, site.hit(hit).max_assignments) == ("unknown", 5)
    Call.objects.filter(pk=call.pk).update(sent_at=timezone.now() - HOUR)
    settled = market.settle(Call.objects.get(pk=call.pk), gateway=site.gateway)
    assert (settled.state, site.hit(hit).max_assignments, list(unsettled())) == ("planned", 5, [])


def test_a_refused_bonus_can_be_planned_again(site: Site, hit: HIT) -> None:
    marketplace.Balance.objects.update(available_cents=0)
    assignment = listed(site, hit)
    values: dict[str, Any] = {"amount": Decimal("1.00"), "reason": "Thanks", "token": "bonus:1"}
    call = pay(site, assignment, **values)
    assert (call.state, plan_again(call)) == ("refused", True)
    marketplace.Balance.objects.update(available_cents=120)
    assert pay(site, assignment, **values).state == "done"
    assert (call.amount, marketplace.Balance.objects.get().available_cents) == (Decimal("1.20"), 0)


def test_the_balance_is_what_is_free_to_spend(site: Site, hit: HIT) -> None:
    assert site.gateway.balance() == Decimal("1000.00") - Decimal("2.30")


def test_the_number_before_is_kept_while_the_call_may_have_been_carried_out(site: Site, hit: HIT) -> None:
    """Where it was certainly not, as a planned one, the number is written down anew when it is sent."""
    arguments = {"hit": hit.pk, "before": 5}
    kept = []
    for state in ("planned", "unknown"):
        call = plan(f"replace:{state}", Call.Operation.EXTEND, endpoint="embedded", arguments=arguments)
        Call.objects.filter(pk=call.pk).update(state=state, sent_at=timezone.now())
        call.refresh_from_db()
        assert journal._claim(call) is True
        kept.append(Call.objects.get(pk=call.pk).arguments)
        call.delete()
    assert kept == [{"hit": hit.pk}, arguments]
