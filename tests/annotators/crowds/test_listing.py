"""Which HITs have moved, by the list of the marketplace: what it says is compared with what we know."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotators.crowds.mturk import listing, mirror
from annotators.crowds.mturk.gateway import HITRecord, NotReady
from annotators.models import HIT, Listing
from tests.factories import make_assignment, make_hit
from tests.market_site import Site, site, wire
from tests.market_study import open_study, work

__all__ = ["site", "wire"]
pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


class Pages:
    """A gateway that lists these HITs, so many to a page; what `meanwhile` does happens before each answer."""

    def __init__(self, *records: HITRecord, size: int = 100, meanwhile: Any = None) -> None:
        self.records, self.size, self.meanwhile = records, size, meanwhile

    def listed_hits(self) -> Iterator[list[HITRecord]]:
        for start in range(0, len(self.records), self.size):
            if self.meanwhile:
                self.meanwhile()
            yield list(self.records[start : start + self.size])


def record_of(hit: HIT, **changes: Any) -> HITRecord:
    """A HIT as it is listed while nobody has taken it."""
    untouched = HITRecord(
        hit_id=hit.hit_id,
        status=hit.status,
        max_assignments=hit.max_assignments,
        created_at=hit.created_at,
        expires_at=hit.expires_at,
        requester_annotation="",
        n_available=hit.max_assignments,
    )
    return replace(untouched, **changes)


def moved(*records: HITRecord, **values: Any) -> list[HIT]:
    """The HITs that have moved by a list that says this, read anew."""
    HIT.objects.update(moved_at=None)
    Listing.objects.all().delete()
    listing.take("embedded", gateway=Pages(*records, **values))  # type: ignore[arg-type]
    return list(HIT.objects.exclude(moved_at=None).order_by("pk"))


def hit_with(*statuses: str, **values: Any) -> HIT:
    """A HIT for three, an hour old, with these assignments."""
    ago = timezone.now() - 60 * MINUTE
    hit = make_hit(**{"max_assignments": 3, "created_at": ago, "synced_at": ago, **values})
    for status in statuses:
        make_assignment(hit, status=status)
    return hit


@pytest.mark.parametrize("n_pending", [0, 1, 3])
def test_what_is_only_worked_on_has_not_moved(n_pending: int) -> None:
    hit = hit_with()
    assert moved(record_of(hit, n_available=3 - n_pending, n_pending=n_pending)) == []


def test_a_clock_that_was_set_back_hides_nothing() -> None:
    hit = hit_with(synced_at=timezone.now() + 60 * MINUTE)
    assert moved(record_of(hit, n_available=2)) == [hit]


@pytest.mark.parametrize("n_pending", [0, 1, 2])
def test_one_of_three_handed_in_has_moved_the_hit_once(n_pending: int) -> None:
    """The HIT is not reviewable yet: no list of reviewable HITs would name it."""
    hit = hit_with()
    listed = record_of(hit, n_available=2 - n_pending, n_pending=n_pending)
    assert (moved(listed), moved(listed)) == ([hit], [])


def test_what_we_have_and_have_decided_has_not_moved() -> None:
    hit = hit_with("Submitted", "Approved")
    assert moved(record_of(hit, n_available=1, n_completed=1)) == []
    assert moved(record_of(hit, n_available=1, n_completed=2)) == [hit]  # approved by itself


@pytest.mark.parametrize(
    "changes",
    [
        {"max_assignments": 4, "n_available": 4},
        {"expires_at": datetime(2030, 1, 1, tzinfo=timezone.get_default_timezone())},
    ],
)
def test_what_somebody_changed_there_has_moved(changes: dict[str, Any]) -> None:
    hit = hit_with()
    assert moved(record_of(hit, **changes)) == [hit]


def test_an_expired_hit_has_moved_once() -> None:
    """What nobody took of it is not available any more: how many were submitted is not known from the list."""
    hit = hit_with("Approved", expires_at=timezone.now() - MINUTE)
    listed = record_of(hit, status="Reviewable", n_available=0, n_completed=1)
    assert (moved(listed), moved(listed)) == ([hit], [])


@pytest.mark.parametrize(("n_pending", "is_told"), [(0, True), (1, False)])
def test_the_end_of_a_hit_is_told_when_nobody_works_on_it_any_more(n_pending: int, is_told: bool) -> None:
    """One hour to work, one hour until the marketplace lists it."""
    hit = hit_with("Approved", expires_at=timezone.now() - 121 * MINUTE, synced_at=None)
    listed = record_of(hit, n_available=0, n_completed=1, n_pending=n_pending)
    assert moved(listed) == [hit]
    assert HIT.objects.get().synced_at is None  # to be fetched first
    assert moved(listed) == []
    assert (HIT.objects.get().synced_at is not None) == is_told


def test_the_end_is_not_told_before_what_was_handed_in_last_must_be_listed() -> None:
    hit = hit_with("Approved", expires_at=timezone.now() - 119 * MINUTE, synced_at=None)
    listed = record_of(hit, n_available=0, n_completed=1)
    assert (moved(listed), moved(listed)) == ([hit], [])
    assert HIT.objects.get().synced_at is None


def test_a_status_is_written_down_and_needs_no_look() -> None:
    hit = hit_with()
    assert moved(record_of(hit, status="Unassignable", n_available=0, n_pending=3)) == []
    assert HIT.objects.get().status == "Unassignable"


def test_claims_are_asked_about_by_the_list() -> None:
    """Nobody handed anything in: what is only claimed can be cleared away once its time is over."""
    first, claimed, other = hit_with(), hit_with("Accepted"), hit_with()
    before = timezone.now()
    assert moved(record_of(first), record_of(claimed), record_of(other)) == []
    assert HIT.objects.get(pk=claimed.pk).synced_at >= before  # type: ignore[operator]
    assert HIT.objects.get(pk=other.pk).synced_at == other.synced_at


def test_an_account_that_lists_some_of_ours_is_no_strange_one() -> None:
    """Two HITs are not found, and nobody touches the others: those that are missing are believed to be gone."""
    long_ago = timezone.now() - 61 * MINUTE
    here = [hit_with(synced_at=long_ago - MINUTE) for _ in range(2)]
    missing = [hit_with(missing_since=long_ago) for _ in range(2)]
    assert mirror.is_account_strange(missing[0])
    moved(*[record_of(hit) for hit in here])
    assert not mirror.is_account_strange(missing[0])


def test_a_page_that_is_older_than_what_we_know_says_nothing() -> None:
    hit = hit_with()
    look = lambda: HIT.objects.update(synced_at=timezone.now(), status="Unassignable")  # noqa: E731
    assert moved(record_of(hit, n_available=2), meanwhile=look) == []
    assert HIT.objects.get().status == "Unassignable"


def test_what_is_open_and_not_listed_is_asked_about_and_what_is_new_is_not() -> None:
    absent = hit_with()
    hit_with(created_at=timezone.now())
    hit_with("Approved", status="Reviewable", max_assignments=1)
    hit_with(gone_at=timezone.now())
    assert moved() == [absent]


def test_hits_of_others_and_of_another_account_are_let_be() -> None:
    hit = hit_with()
    assert moved(record_of(hit), replace(record_of(hit, n_available=0), hit_id="3OTHER")) == []


def test_a_page_costs_as_many_queries_as_another_however_many_hits_it_has(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    hits = [hit_with() for _ in range(6)]
    records = [record_of(hit) for hit in hits]
    moved()
    Listing.objects.update(began_at=None)
    with django_assert_num_queries(6) as few:
        listing.take("embedded", gateway=Pages(*records[:2], size=2))  # type: ignore[arg-type]
    Listing.objects.update(began_at=None)
    with django_assert_num_queries(len(few)):
        listing.take("embedded", gateway=Pages(*records, size=6))  # type: ignore[arg-type]


def test_two_tasks_do_not_list_at_once(settings: Any) -> None:
    settings.SYNC_EVERY_SECONDS = 60
    hit = hit_with()
    Listing.objects.create(endpoint="embedded", began_at=timezone.now())
    assert listing.take("embedded", gateway=Pages(record_of(hit, n_available=2))) == 0  # type: ignore[arg-type]
    assert (HIT.objects.get().moved_at, Listing.objects.get().listed_at) == (None, None)
    Listing.objects.update(began_at=timezone.now() - MINUTE)  # its task was killed
    assert listing.take("embedded", gateway=Pages(record_of(hit, n_available=2))) == 1  # type: ignore[arg-type]


def test_a_list_that_broke_off_does_not_count() -> None:
    hit = hit_with()

    def break_off() -> None:
        if Listing.objects.get().n_pages == 0:
            raise NotReady("Rate exceeded")

    with pytest.raises(NotReady):
        moved(record_of(hit), meanwhile=break_off)
    kept = Listing.objects.get()
    assert (kept.listed_at, HIT.objects.get().moved_at) == (None, None)


@pytest.mark.parametrize(
    ("n_pages", "ago", "is_due"),
    [(1, 29, False), (1, 31, True), (20, 29, False), (20, 31, True), (100, 269, False), (100, 271, True)],
)
def test_a_long_list_is_read_less_often(settings: Any, n_pages: int, ago: int, is_due: bool) -> None:
    settings.SYNC_EVERY_SECONDS = 60
    hit_with()
    now = timezone.now()
    Listing.objects.create(endpoint="embedded", began_at=now - timedelta(seconds=ago), n_pages=n_pages)
    assert listing.due(now=now) == (["embedded"] if is_due else [])


def test_a_list_read_before_the_clock_was_set_back_is_read_again() -> None:
    hit_with()
    Listing.objects.create(endpoint="embedded", began_at=timezone.now() + 60 * MINUTE)
    assert listing.due(now=timezone.now()) == ["embedded"]


def test_where_nothing_is_open_nothing_is_listed() -> None:
    full = hit_with("Approved", "Approved", "Rejected", status="Reviewable")
    hit_with(
        "Approved", status="Reviewable", expires_at=timezone.now() - 121 * MINUTE, synced_at=timezone.now()
    )
    hit_with(gone_at=timezone.now())
    assert listing.due(now=timezone.now()) == []
    full.assignments.filter(status="Rejected").update(status="Submitted", rejected_at=None)
    assert listing.due(now=timezone.now()) == ["embedded"]


def test_the_embedded_marketplace_counts_as_we_read_it(site: Site) -> None:
    questionnaire = open_study(site, assignments_per_hit=3)
    hit = questionnaire.hit
    assert hit is not None
    expected = [
        (lambda: None, (3, 0, 0, 0)),
        (lambda: site.accept(hit), (2, 1, 0, 0)),
        (lambda: work(site, questionnaire), (1, 1, 0, 1)),
        (lambda: work(site, questionnaire), (0, 1, 0, 2)),
        (
            lambda: site.gateway.approve(site.gateway.list_assignments(hit.hit_id)[0].assignment_id),
            (0, 1, 1, 2),
        ),
    ]
    for step, counts in expected:
        step()
        ((listed,),) = [page for page in site.gateway.listed_hits() if page]
        found = (listed.n_available, listed.n_pending, listed.n_completed, listed.most_handed_in)
        assert found == counts
        assert site.gateway.get_hit(hit.hit_id) == listed
