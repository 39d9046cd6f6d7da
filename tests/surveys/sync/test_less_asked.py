"""Of what a sync does not ask for (ADR 29) nothing is missed, and nothing is believed that was not so."""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from annotators.crowds.mturk import mirror
from annotators.crowds.mturk.fees import price
from annotators.crowds.mturk.gateway import AssignmentRecord, Gateway
from annotators.models import HIT, Assignment, Call, Listing
from annotators.outbox import market
from annotators.outbox.journal import SHOWN_WITHIN
from marketplace import models as marketplace
from marketplace.api.dispatch import TIME_HEADER
from surveys import sync
from surveys.models import Batch, Decision, Questionnaire
from surveys.publishing import budget, questionnaires, stopping
from surveys.review import decisions
from tests.factories import make_draft, make_published, make_survey, submitted
from tests.market_site import Site, eager, in_parallel, site, wire
from tests.market_study import again, work

__all__ = ["eager", "in_parallel", "site", "wire"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def opened(site: Site, eager: None, settings: Any) -> Questionnaire:
    settings.SYNC_EVERY_SECONDS = 0
    batch = make_draft(make_survey(n_items=5), assignments_per_hit=3)
    questionnaires.start_publishing(batch)
    sync.sweep()
    assert Batch.objects.get().status == "open"
    HIT.objects.update(synced_at=timezone.now() - timedelta(minutes=1))
    return again(Questionnaire.objects.get())


def test_an_extension_that_was_never_made_is_not_taken_for_somebody_elses(
    site: Site, opened: Questionnaire
) -> None:
    """Two places were opened by hand; the one that replaces a rejection is lost on its way, and must be sent again."""
    hit = opened.hit
    assert hit is not None
    work(site, opened, n_correct=0)
    site.gateway.extend(hit.hit_id, n=2, token="by-hand")
    site.wire.block.add("CreateAdditionalAssignmentsForHIT")
    sync.sync_moved()
    extension = Call.objects.get(operation=Call.Operation.EXTEND)
    assert (extension.state, site.hit(hit).max_assignments) == ("unknown", 5)
    site.wire.heal()
    for _ in range(3):
        Call.objects.filter(state__in=["sent", "unknown"]).update(sent_at=timezone.now() - SHOWN_WITHIN)
        HIT.objects.update(synced_at=timezone.now() - timedelta(minutes=1))
        sync.sweep()
    extension.refresh_from_db()
    assert (extension.state, site.hit(hit).max_assignments) == ("done", 6)


def test_a_list_tells_of_a_hit_whose_assignments_alone_were_listed_meanwhile(
    site: Site, opened: Questionnaire, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sync that has not asked about the HIT knows its places no better than the list, which was asked for before."""
    hit = opened.hit
    assert hit is not None
    site.gateway.extend(hit.hit_id, n=2, token="by-hand")
    listed_hits = Gateway.listed_hits

    def listed_and_synced(gateway: Gateway) -> Iterator[Any]:
        for n, page in enumerate(listed_hits(gateway)):
            if n == 0:
                work(site, opened)
                sync.sync_moved()
            yield page

    monkeypatch.setattr(Gateway, "listed_hits", listed_and_synced)
    sync.list_marketplaces()
    monkeypatch.undo()
    assert HIT.objects.get(pk=hit.pk).max_assignments == 5


@pytest.mark.parametrize("told", ["0", "-86400", "4102444800.0"])
def test_a_time_that_cannot_be_is_asked_for(site: Site, opened: Questionnaire, told: str) -> None:
    """Before the work was handed in, or in 2100."""
    kind = {"Content-Type": "application/x-amz-json-1.1", TIME_HEADER: told}
    done = work(site, opened)
    mirror.fetch(HIT.objects.select_related("hit_type").get(), gateway=site.gateway)
    site.gateway.approve(done.assignment_id)
    site.wire.replies["ApproveAssignment"] = (200, kind, b"{}")
    row = Assignment.objects.get()
    call = market.plan_decision(row, Call.Operation.APPROVE, feedback="", endpoint=site.gateway.endpoint)
    market.settle(call, gateway=site.gateway)
    row.refresh_from_db()
    assert row.approved_at == site.gateway.get_assignment(row.assignment_id).approved_at


@pytest.mark.django_db(transaction=True)
def test_a_sync_that_lost_its_lease_and_the_next_one_do_not_wait_for_each_other(
    in_parallel: Callable[..., list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One mirrors the work of a HIT in the order of the marketplace, the other decides on it in that of our keys."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one lock")
    questionnaire = make_published()
    works = [submitted(questionnaire) for _ in range(2)]
    hit = HIT.objects.select_related("hit_type").get()
    now = datetime(2026, 1, 1, tzinfo=UTC)
    records = [
        AssignmentRecord(
            assignment_id=one.assignment_id,
            worker_id=one.worker.worker_id,
            hit_id=hit.hit_id,
            status="Submitted",
            accepted_at=now,
            submitted_at=now,
            auto_approval_at=now,
            approved_at=None,
            rejected_at=None,
            feedback="",
            answer_xml="<a/>",
        )
        for one in reversed(works)
    ]
    written, locked = threading.Event(), threading.Event()
    lock = decisions.lock

    def meet(name: str) -> None:
        if name == "sync.mirroring":
            written.set()
            locked.wait(5)

    def lock_and_meet(assignment: Assignment) -> Assignment:
        row = lock(assignment)
        locked.set()
        written.wait(5)
        return row

    monkeypatch.setattr(mirror, "reach", meet)
    monkeypatch.setattr(decisions, "lock", lock_and_meet)
    results = in_parallel(
        lambda: mirror.mirror_assignments(hit, records),
        lambda: decisions.record_decisions(works, batch=questionnaire.batch),
    )
    assert [one for one in results if isinstance(one, Exception)] == []
    assert Decision.objects.count() == 2


@pytest.fixture
def reopened(site: Site, opened: Questionnaire) -> Questionnaire:
    """A HIT that had ended, as had all of its account; since opened again by hand, where one worker came to it."""
    hit = opened.hit
    assert hit is not None
    yesterday = timezone.now() - timedelta(days=1)
    marketplace.HIT.objects.update(expires_at=yesterday)
    for _ in range(3):
        Listing.objects.update(began_at=None)
        HIT.objects.update(synced_at=timezone.now() - timedelta(seconds=30))
        sync.sweep()
    ended = HIT.objects.get(pk=hit.pk)
    assert (ended.status, ended.expires_at) == ("Reviewable", site.gateway.get_hit(hit.hit_id).expires_at)
    site.wire.calls.clear()
    sync.sweep()
    assert site.wire.calls == {}  # nothing is open, so nothing is asked
    site.gateway.expire_at(hit.hit_id, when=timezone.now() + timedelta(days=1))
    work(site, opened)
    for _ in range(3):
        sync.sync_moved()
        sync.sweep()
    assert Assignment.objects.get().status == "Approved"
    return opened


def test_a_hit_that_is_opened_again_by_hand_is_known_to_be_open(site: Site, reopened: Questionnaire) -> None:
    """Once all HITs of an account have ended it is not listed any more: only who asks about the HIT learns of it."""
    known, shown = HIT.objects.get(), site.gateway.get_hit(HIT.objects.get().hit_id)
    assert (known.status, known.expires_at) == (shown.status, shown.expires_at)


def test_a_hit_that_is_opened_again_by_hand_is_expired_with_its_batch(
    site: Site, reopened: Questionnaire
) -> None:
    """Else people go on working on it, and are paid."""
    stopping.stop(Batch.objects.get())
    for _ in range(2):
        sync.sweep()
    assert site.gateway.get_hit(HIT.objects.get().hit_id).expires_at <= timezone.now()


def test_the_places_of_a_hit_that_is_opened_again_by_hand_are_in_the_budget(
    site: Site, reopened: Questionnaire
) -> None:
    """All three can be handed in; what is committed is what they cost."""
    batch = Batch.objects.get()
    assert budget.money(batch).committed == price(batch.reward, max_assignments=3, n=3)


def test_where_the_marketplace_can_not_be_listed_a_hit_is_asked_about(
    site: Site, opened: Questionnaire
) -> None:
    """ListHITs may be refused to a key, or throttled, for as long as it takes."""
    hit = opened.hit
    assert hit is not None
    site.wire.block.add("ListHITs")
    Listing.objects.update(listed_at=timezone.now() - timedelta(hours=1))
    site.gateway.extend(hit.hit_id, n=2, token="by-hand")
    for _ in range(2):
        work(site, opened)
        sync.sync_moved()
        sync.sweep()
    assert HIT.objects.get(pk=hit.pk).max_assignments == 5
