"""Anybody can claim to be any number of workers. That costs little room, closes no place, and goes away by itself."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client, TestCase
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotators.models import HIT, Assignment, Worker
from surveys.answering import claiming
from surveys.models import AnnotationSlot, Batch, Questionnaire, Response
from surveys.publishing import giving
from surveys.review import due_work
from tests.link_people import make_person, take
from tests.surveys.pages.hit_pages import draft, full_answers, open_page, post, token_of


def flood(questionnaire: Questionnaire, n: int, *, addresses: int = 1) -> None:
    for k in range(n):
        client = Client(enforce_csrf_checks=True, REMOTE_ADDR=f"198.51.100.{k % addresses}")
        with TestCase.captureOnCommitCallbacks(execute=True):
            page = open_page(client, questionnaire, workerId=f"AINVENTED{k}", assignmentId=f"3INVENTED{k}")
        assert page.status_code == 200


def swept() -> int:
    with TestCase.captureOnCommitCallbacks(execute=True):
        return claiming.sweep()


def rows() -> tuple[int, int, int]:
    return Worker.objects.count(), Assignment.objects.count(), Response.objects.count()


@pytest.mark.parametrize(("addresses", "most", "n"), [(1, 10, 13), (24, 20, 26)])
def test_invented_workers_leave_no_more_than_a_hit_can_have(
    questionnaire: Questionnaire, addresses: int, most: int, n: int
) -> None:
    HIT.objects.update(max_assignments=5)
    flood(questionnaire, n, addresses=addresses)
    assert rows() == (most, most, 5 * most)


def test_an_honest_worker_gets_in_and_is_not_pushed_out(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    HIT.objects.update(max_assignments=5)
    flood(questionnaire, 12)
    page = open_page(visitor, questionnaire)
    assert draft(visitor, questionnaire, token=token_of(page), answers={"answer": "rainy"}).status_code == 200
    flood(questionnaire, 12)
    assert post(visitor, questionnaire, full_answers(page)).status_code == 200
    assert Assignment.objects.get(saved_at__isnull=False).worker.worker_id == "A1WORKER"


def test_what_somebody_wrote_outlasts_what_nobody_touched(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    """The worst place to be: at the flood's own address."""
    HIT.objects.update(max_assignments=5)
    honest = Client(enforce_csrf_checks=True, REMOTE_ADDR="198.51.100.0")
    page = open_page(honest, questionnaire)
    draft(honest, questionnaire, token=token_of(page), answers={"answer": "rainy"})
    flood(questionnaire, 12)
    assert post(honest, questionnaire, full_answers(page)).status_code == 200


def test_a_flood_from_many_addresses_pushes_out_nobody_who_began(questionnaire: Questionnaire) -> None:
    """A page from each address: nobody has more than the honest, who are the oldest."""
    HIT.objects.update(max_assignments=1)
    pages = {}
    for name in ("ADRAFTED", "ASAVED"):
        visitor = Client(enforce_csrf_checks=True, REMOTE_ADDR=f"203.0.113.{len(pages)}")
        pages[name] = visitor, open_page(visitor, questionnaire, workerId=name, assignmentId=f"3{name}")
    (drafted, page), (saved, done) = pages["ADRAFTED"], pages["ASAVED"]
    assert draft(drafted, questionnaire, token=token_of(page)).status_code == 200
    assert post(saved, questionnaire, full_answers(done)).status_code == 200
    flood(questionnaire, 14, addresses=14)
    assert Assignment.objects.count() == 12
    assert draft(drafted, questionnaire, token=token_of(page), version=2).json()["saved"] is True
    assert post(drafted, questionnaire, full_answers(page)).status_code == 200
    again = open_page(saved, questionnaire, workerId="ASAVED", assignmentId="3ASAVED")
    assert b"Your answers are saved" in again.content


@pytest.mark.parametrize(
    ("address", "other", "is_same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:198.51.100.7", "198.51.100.7", True),
        ("198.51.100.7", "198.51.100.8", False),
        ("not an address", "nor this", False),
    ],
)
def test_a_network_of_ipv6_counts_as_one_address(address: str, other: str, is_same: bool) -> None:
    assert (claiming.origin(address) == claiming.origin(other)) is is_same


def test_no_other_worker_is_touched_while_the_questionnaire_is_locked(questionnaire: Questionnaire) -> None:
    """Workers are locked before questionnaires: the other way round two visitors could wait for each other."""
    HIT.objects.update(max_assignments=1)
    flood(questionnaire, 6)
    with CaptureQueriesContext(connection) as queries:
        neighbour = Client(REMOTE_ADDR="198.51.100.0")
        open_page(neighbour, questionnaire, workerId="ASEVENTH", assignmentId="3SEVENTH")
    written = [query["sql"] for query in queries if query["sql"].startswith("DELETE")]
    assert [sql for sql in written if "annotators_worker" in sql.partition("WHERE")[0]] == []
    assert Assignment.objects.count() == 6


def mixed(questionnaire: Questionnaire, *, n: int) -> Batch:
    batch = questionnaire.batch
    Batch.objects.filter(pk=batch.pk).update(takes_links=True, status="open")
    batch.refresh_from_db()
    for number in range(1, n + 1):
        AnnotationSlot.objects.create(
            batch=batch, questionnaire=questionnaire, number=number, replicate=number
        )
    return batch


def test_claims_close_no_place_to_an_invited_person_or_to_the_next_worker(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    batch = mixed(questionnaire, n=5)
    flood(questionnaire, 18, addresses=18)
    assert giving.free_slots(batch, worker=make_person()).count() == 5
    assert take(batch, make_person()).annotation_slot.number == 1
    assert open_page(visitor, questionnaire).status_code == 200


def test_a_place_where_work_has_begun_is_held(visitor: Client, questionnaire: Questionnaire) -> None:
    batch = mixed(questionnaire, n=1)
    page = open_page(visitor, questionnaire)
    draft(visitor, questionnaire, token=token_of(page), answers={"answer": "rainy"})
    assert giving.free_slots(batch, worker=make_person()).count() == 0


def test_stale_claims_leave_no_row(questionnaire: Questionnaire) -> None:
    batch = mixed(questionnaire, n=3)
    flood(questionnaire, 8, addresses=8)
    assert claiming.sweep() == 0
    over = batch.assignment_duration + timedelta(hours=2)
    Assignment.objects.update(loaded_at=timezone.now() - over)
    assert claiming.sweep() == 0  # the marketplace has not been asked since
    HIT.objects.update(synced_at=timezone.now())
    n_claims = Assignment.objects.count()
    assert (swept(), swept()) == (n_claims, 0)
    assert rows() == (0, 0, 0)
    free = AnnotationSlot.objects.filter(assignment=None, reopens=None).values_list("number", flat=True)
    assert (sorted(free), AnnotationSlot.objects.count()) == ([1, 2, 3], 3)


def test_what_the_marketplace_named_is_never_swept(visitor: Client, questionnaire: Questionnaire) -> None:
    post(visitor, questionnaire, full_answers(open_page(visitor, questionnaire)))
    old = timezone.now() - timedelta(days=30)
    Assignment.objects.update(status="Submitted", submitted_at=old, loaded_at=old)
    HIT.objects.update(synced_at=timezone.now())
    assert (claiming.sweep(), Assignment.objects.count()) == (0, 1)


def test_what_was_saved_here_stays_for_a_week(visitor: Client, questionnaire: Questionnaire) -> None:
    post(visitor, questionnaire, full_answers(open_page(visitor, questionnaire)))
    HIT.objects.update(synced_at=timezone.now())
    Assignment.objects.update(loaded_at=timezone.now() - timedelta(days=6))
    assert claiming.sweep() == 0
    Assignment.objects.update(loaded_at=timezone.now() - timedelta(days=8))
    assert claiming.sweep() == 1


def test_what_was_saved_here_stays_until_the_marketplace_was_asked(
    visitor: Client, questionnaire: Questionnaire
) -> None:
    """The server was off for long, or a backup was restored: the first sweep comes before the first sync."""
    post(visitor, questionnaire, full_answers(open_page(visitor, questionnaire)))
    loaded = timezone.now() - timedelta(days=30)
    Assignment.objects.update(loaded_at=loaded)
    every = timedelta(minutes=1)
    for synced_at in (None, loaded + timedelta(minutes=1)):
        HIT.objects.update(synced_at=synced_at, expires_at=loaded - timedelta(days=30))
        assert (claiming.sweep(), due_work.due_hits(every=every).count()) == (0, 1)
    HIT.objects.update(synced_at=timezone.now() - timedelta(hours=1))
    assert due_work.due_hits(every=every).count() == 0
    assert claiming.sweep() == 1


def test_what_was_not_saved_goes_unasked_after_a_week(visitor: Client, questionnaire: Questionnaire) -> None:
    open_page(visitor, questionnaire)
    HIT.objects.update(synced_at=None)
    Assignment.objects.update(loaded_at=timezone.now() - timedelta(days=8))
    assert claiming.sweep() == 1
