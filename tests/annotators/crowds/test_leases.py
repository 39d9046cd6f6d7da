"""The lease on a HIT: one holder, renewed before each call, over soon after its holder is gone."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotators.crowds.mturk.gateway import Gateway, NotReady
from annotators.crowds.mturk.leases import LEASE, Lease, LeaseLost, lease
from annotators.models import HIT
from annotators.outbox import market
from tests.annotators.crowds.offers import TERMS, offer
from tests.factories import make_hit
from tests.market_site import Site

pytestmark = pytest.mark.django_db


def overtaken() -> None:
    """The lease ran out, and another task took the HIT."""
    HIT.objects.update(leased_until=timezone.now() + 2 * LEASE)


def offered(site: Site) -> HIT:
    hit = offer(site, market.offer_hit_type(TERMS, gateway=site.gateway)).hit
    assert hit is not None
    return hit


def test_one_holds_a_lease_at_a_time() -> None:
    hit = make_hit()
    with lease(hit) as first, lease(hit) as second:
        assert (isinstance(first, Lease), second) == (True, None)
        assert HIT.objects.get().leased_until is not None
    assert HIT.objects.get().leased_until is None


def test_who_didnt_get_the_lease_doesnt_give_it_back() -> None:
    hit = make_hit()
    with lease(hit) as first:
        with lease(hit) as second:
            pass
        with lease(hit) as third:
            assert (first is None, second, third) == (False, None, None)


def test_a_lease_is_given_back_after_an_error() -> None:
    hit = make_hit()
    with pytest.raises(RuntimeError), lease(hit):
        raise RuntimeError
    assert HIT.objects.get().leased_until is None


def test_a_lease_never_given_back_runs_out() -> None:
    hit = make_hit()
    now = timezone.now()
    HIT.objects.update(leased_until=now + LEASE / 2)
    with lease(hit) as early:
        assert early is None
    HIT.objects.update(leased_until=now - timedelta(seconds=1))
    with lease(hit) as late:
        assert late is not None


def test_a_lease_from_before_the_clock_was_set_back_is_free() -> None:
    hit = make_hit()
    HIT.objects.update(leased_until=timezone.now() + timedelta(hours=2))
    with lease(hit) as held:
        assert held is not None
    assert HIT.objects.get().leased_until is None


def test_a_killed_holders_hit_is_free_within_a_minute_and_a_half() -> None:
    assert timedelta(seconds=60) <= LEASE <= timedelta(seconds=90)


def test_an_overtaken_lease_isnt_ended_by_its_first_holder() -> None:
    hit = make_hit()
    with lease(hit):
        overtaken()
        later = HIT.objects.get().leased_until
    assert HIT.objects.get().leased_until == later


def test_renewing_moves_the_end() -> None:
    hit = make_hit()
    with lease(hit) as held:
        before = HIT.objects.get().leased_until
        held.renew()
        assert HIT.objects.get().leased_until > before
    assert HIT.objects.get().leased_until is None


def test_a_lease_that_ran_out_is_renewed_where_nobody_took_it(monkeypatch: pytest.MonkeyPatch) -> None:
    hit = make_hit()
    monkeypatch.setattr("annotators.crowds.mturk.leases.LEASE", timedelta(seconds=-5))
    with lease(hit) as held:
        monkeypatch.setattr("annotators.crowds.mturk.leases.LEASE", LEASE)
        held.renew()
        with lease(hit) as other:
            assert other is None


def test_an_overtaken_lease_cant_be_renewed() -> None:
    hit = make_hit()
    with lease(hit) as held:
        overtaken()
        later = HIT.objects.get().leased_until
        with pytest.raises(LeaseLost, match=f"Another task works on HIT {hit.hit_id} by now."):
            held.renew()
    assert HIT.objects.get().leased_until == later


def test_losing_a_lease_is_like_a_call_that_was_never_made() -> None:
    assert issubclass(LeaseLost, NotReady)


@pytest.mark.django_db(transaction=True)
def test_each_call_renews_the_lease(site: Site) -> None:
    hit = offered(site)
    with lease(hit) as held:
        gateway = Gateway("embedded", before_call=held.renew)
        seen = [HIT.objects.get().leased_until]
        for call in (gateway.get_hit, gateway.list_assignments):
            call(hit.hit_id)
            seen.append(HIT.objects.get().leased_until)
    assert seen == sorted(set(seen))


@pytest.mark.django_db(transaction=True)
def test_who_was_overtaken_makes_no_more_calls(site: Site) -> None:
    hit = offered(site)
    with lease(hit) as held:
        gateway = Gateway("embedded", before_call=held.renew)
        gateway.get_hit(hit.hit_id)
        overtaken()
        before = site.wire.calls.total()
        for call in (gateway.get_hit, gateway.list_assignments):
            with pytest.raises(LeaseLost):
                call(hit.hit_id)
    assert site.wire.calls.total() == before


@pytest.mark.django_db(transaction=True)
def test_who_is_overtaken_between_two_pages_does_not_ask_for_the_second(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotators.crowds.mturk.gateway.PAGE", 1)
    hit = offered(site)
    for _ in range(3):
        site.submit(site.accept(hit))
    with lease(hit) as held:
        gateway = Gateway("embedded", before_call=held.renew)
        pages = gateway._pages("list_assignments_for_hit", "Assignments", HITId=hit.hit_id)
        next(pages)
        overtaken()
        with pytest.raises(LeaseLost):
            next(pages)
    assert site.wire.calls["ListAssignmentsForHIT"] == 1


@pytest.mark.django_db(transaction=True)
def test_many_reach_for_a_lease_and_one_gets_it(in_parallel: Callable[..., list[Any]]) -> None:
    hit = make_hit()

    def reach() -> bool:
        with lease(hit) as held:
            time.sleep(0.3)
            return held is not None

    assert sorted(in_parallel(*[reach] * 5)) == [False] * 4 + [True]
