from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotators.crowds.mturk import mirror
from annotators.crowds.mturk.gateway import AssignmentRecord, HITRecord, MarketError
from annotators.crowds.mturk.mirror import fetch, mirror_assignment, mirror_assignments, mirror_hit
from annotators.models import HIT, Assignment, Worker
from annotators.outbox import market
from annotators.people.names import purged_name
from tests.annotators.crowds.offers import TERMS, offer
from tests.factories import make_assignment, make_hit, make_worker
from tests.market_site import Site

pytestmark = pytest.mark.django_db
ACCEPTED_AT = datetime(2026, 3, 1, 9, 0, 0, tzinfo=UTC)
SUBMITTED_AT = datetime(2026, 3, 1, 9, 10, 30, tzinfo=UTC)


def record(**changes: Any) -> AssignmentRecord:
    submitted = AssignmentRecord(
        assignment_id="3A",
        worker_id="AWORKER",
        hit_id="3HIT",
        status="Submitted",
        accepted_at=ACCEPTED_AT,
        submitted_at=SUBMITTED_AT,
        auto_approval_at=SUBMITTED_AT + timedelta(days=3),
        approved_at=None,
        rejected_at=None,
        feedback="",
        answer_xml="<x/>",
    )
    return replace(submitted, **changes)


def hit_record(hit: HIT, **changes: Any) -> HITRecord:
    values = {
        "hit_id": hit.hit_id,
        "status": "Reviewable",
        "max_assignments": 6,
        "created_at": hit.created_at,
        "expires_at": SUBMITTED_AT,
        "requester_annotation": "",
    }
    return HITRecord(**{**values, **changes})


def test_a_hit_takes_over_the_marketplaces_facts() -> None:
    hit = make_hit()
    mirror_hit(hit, hit_record(hit))
    for seen in (hit, HIT.objects.get()):
        assert (seen.status, seen.max_assignments, seen.expires_at) == ("Reviewable", 6, SUBMITTED_AT)
        assert seen.synced_at is None  # its assignments are not listed yet


def test_an_older_answer_doesnt_shrink_a_hit() -> None:
    hit = make_hit(max_assignments=7)
    mirror_hit(hit, hit_record(hit, max_assignments=5))
    assert (hit.max_assignments, HIT.objects.get().max_assignments) == (7, 7)


def test_an_older_answer_doesnt_take_back_a_new_expiration(site: Site) -> None:
    call = offer(site, market.offer_hit_type(TERMS, gateway=site.gateway))
    mirrored, wanted = HIT.objects.get(pk=call.hit.pk), timezone.now() + timedelta(days=2)
    older = site.gateway.get_hit(mirrored.hit_id)
    market.move_expiration(HIT.objects.get(), when=wanted, gateway=site.gateway)
    assert HIT.objects.get().expires_at == wanted
    mirror_hit(mirrored, older)
    assert (mirrored.expires_at, HIT.objects.get().expires_at) == (wanted, wanted)


def test_a_submission_we_never_saw_gets_a_row() -> None:
    assignment = mirror_assignment(make_hit(), record())
    assert (assignment.worker.worker_id, assignment.worker.source) == ("AWORKER", "embedded")
    assert (assignment.status, assignment.submitted_at, assignment.saved_at) == (
        "Submitted",
        SUBMITTED_AT,
        None,
    )
    assert assignment.work_seconds == 630


def test_our_row_is_found_by_worker_and_assignment_id() -> None:
    hit, worker = make_hit(), make_worker("AWORKER")
    make_assignment(hit, worker=worker, assignment_id="3OLD", saved_at=timezone.now())
    ours = make_assignment(hit, worker=worker, assignment_id="3NEW", saved_at=timezone.now())
    mirrored = mirror_assignment(hit, record(assignment_id="3NEW"))
    assert (mirrored.pk, mirrored.status, mirrored.saved_at) == (ours.pk, "Submitted", ours.saved_at)


def test_what_was_claimed_under_another_assignment_id_is_left_alone() -> None:
    hit, worker = make_hit(), make_worker("AWORKER")
    claimed = make_assignment(hit, worker=worker, assignment_id="3OLD", saved_at=timezone.now())
    mirrored = mirror_assignment(hit, record(assignment_id="3NEW"))
    assert (mirrored.pk == claimed.pk, mirrored.saved_at) == (False, None)
    claimed.refresh_from_db()
    assert (claimed.assignment_id, claimed.status) == ("3OLD", "Accepted")


def test_once_the_worker_is_known_the_row_is_found_by_worker_alone() -> None:
    hit, worker = make_hit(), make_worker("AWORKER")
    ours = make_assignment(hit, worker=worker, assignment_id="3OLD", status="Submitted")
    mirrored = mirror_assignment(hit, record(assignment_id="3NEW"))
    assert (mirrored.pk, mirrored.assignment_id) == (ours.pk, "3NEW")


def test_a_recycled_assignment_id_goes_to_the_worker_the_marketplace_names() -> None:
    hit = make_hit()
    left = make_assignment(hit, worker=make_worker("AFIRST"), assignment_id="3A")
    mirrored = mirror_assignment(hit, record(worker_id="ASECOND"))
    left.refresh_from_db()
    assert (mirrored.worker.worker_id, mirrored.status) == ("ASECOND", "Submitted")
    assert (left.status, left.assignment_id) == ("Accepted", "3A")


def test_a_false_claim_to_an_assignment_id_doesnt_stop_the_mirror() -> None:
    """A worker opened another HIT's frame with the AssignmentId of this one."""
    worker = make_worker("AWORKER")
    claimed = make_assignment(make_hit(hit_id="3OTHER"), worker=worker, assignment_id="3A")
    mirrored = mirror_assignment(make_hit(), record())
    claimed.refresh_from_db()
    assert (mirrored.assignment_id, mirrored.status) == ("3A", "Submitted")
    assert (claimed.assignment_id, claimed.status) == (f"refuted:{claimed.pk}", "Accepted")


def test_nobody_is_made_up_for_the_new_id_of_an_erased_account(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    hit = make_hit()
    first = mirror_assignment(hit, record())
    with django_assert_num_queries(
        2 + 4
    ) as captured:  # nobody, work and who did it read, and the work written
        assert mirror_assignment(hit, record(worker_id="ADELETED123", feedback="Thank you.")) == first
    tables = [q["sql"].split()[:3] for q in captured.captured_queries if not q["sql"].startswith("SELECT")]
    assert [words for words in tables if '"annotators_worker"' in words] == []


def test_the_same_worker_id_elsewhere_is_another_worker() -> None:
    elsewhere = make_worker("AWORKER", source="production")
    assert mirror_assignment(make_hit(), record()).worker != elsewhere
    assert Worker.objects.count() == 2


def test_a_row_that_says_the_same_is_not_written(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    hit = make_hit()
    first = mirror_assignment(hit, record())
    hit = HIT.objects.select_related("hit_type").get()
    with django_assert_num_queries(2 + 2) as captured:  # two rows read, inside a savepoint
        assert mirror_assignment(hit, record()) == first
    assert [q["sql"][:6] for q in captured.captured_queries if q["sql"][:6] in {"UPDATE", "INSERT"}] == []


def test_only_what_changed_is_written() -> None:
    hit = make_hit()
    mirror_assignment(hit, record())
    Assignment.objects.update(comment="kept", user_agent="kept")
    changed = record(status="Rejected", rejected_at=SUBMITTED_AT, feedback="1 of 5")
    mirrored = mirror_assignment(hit, changed)
    assert (mirrored.status, mirrored.feedback, mirrored.comment) == ("Rejected", "1 of 5", "kept")
    overturned = record(status="Approved", approved_at=SUBMITTED_AT, feedback="Sorry.")
    mirrored = mirror_assignment(hit, overturned)
    assert (mirrored.status, mirrored.rejected_at, mirrored.approved_at) == ("Approved", None, SUBMITTED_AT)


def test_fetch_mirrors_in_the_order_of_submission(site: Site) -> None:
    hit_type = market.offer_hit_type(TERMS, gateway=site.gateway)
    call = market.offer_hit(
        hit_type,
        token="create:1",
        url="http://127.0.0.1/hits/1/",
        lifetime=timedelta(days=1),
        max_assignments=3,
        gateway=site.gateway,
    )
    assert call.hit is not None
    first, second, third = (site.accept(call.hit) for _ in range(3))
    site.submit(second)
    site.pass_time(seconds=60)
    site.submit(first)
    fetched = fetch(call.hit, gateway=site.gateway)
    assert [a.worker.worker_id for a in fetched] == [second.worker.worker_id, first.worker.worker_id]
    assert Assignment.objects.filter(worker__worker_id=third.worker.worker_id).exists() is False
    assert (call.hit.status, call.hit.synced_at is None) == ("Unassignable", False)


def test_a_hit_whose_assignments_cannot_be_listed_is_not_synced(site: Site) -> None:
    hit_type = market.offer_hit_type(TERMS, gateway=site.gateway)
    call = market.offer_hit(
        hit_type,
        token="create:unlisted",
        url="https://lab.example/hits/2",
        lifetime=timedelta(days=1),
        max_assignments=1,
        gateway=site.gateway,
    )
    assert call.hit is not None
    site.wire.block.add("ListAssignmentsForHIT")
    with pytest.raises(MarketError):
        fetch(call.hit, gateway=site.gateway)
    assert HIT.objects.get(pk=call.hit.pk).synced_at is None


def test_submissions_of_a_hit_are_mirrored_as_each_by_itself(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    """Known by a claim, known before, known for something else: rows are read once, and one is written each."""
    hit, other = make_hit(), make_hit(hit_id="3OTHER")
    workers = [make_worker(f"AWORKER{n}") for n in range(3)]
    claim = make_assignment(hit, worker=workers[0], assignment_id="3A0", saved_at=timezone.now())
    make_assignment(hit, worker=workers[0], assignment_id="3OLD")
    known = make_assignment(hit, worker=workers[1], assignment_id="3A1", status="Submitted")
    make_assignment(other, worker=workers[2], assignment_id="3A9")
    submitted = [record(assignment_id=f"3A{n}", worker_id=f"AWORKER{n}") for n in range(2)]
    hit = HIT.objects.select_related("hit_type").get(pk=hit.pk)
    with django_assert_num_queries(2 + 1 + 2):
        mirrored = mirror_assignments(hit, submitted)
    assert [(one.pk, one.status, one.saved_at) for one in mirrored] == [
        (claim.pk, "Submitted", claim.saved_at),
        (known.pk, "Submitted", None),
    ]
    values = list(Assignment.objects.order_by("pk").values())
    with django_assert_num_queries(2 + 1):
        assert mirror_assignments(hit, submitted) == mirrored
    assert list(Assignment.objects.order_by("pk").values()) == values
    (new,) = mirror_assignments(hit, [record(assignment_id="3A2", worker_id="AWORKER2")])
    assert (new.worker, new.hit_id, new.status) == (workers[2], hit.pk, "Submitted")
    assert mirror_assignments(hit, []) == []


def test_one_false_claim_stops_no_other_submission_of_its_hit() -> None:
    workers = [make_worker("AWORKER"), make_worker("ASECOND")]
    claimed = make_assignment(make_hit(hit_id="3OTHER"), worker=workers[0], assignment_id="3A")
    hit = make_hit()
    ours = [
        make_assignment(hit, worker=one, assignment_id=f"3OLD{n}", status="Submitted")
        for n, one in enumerate(workers)
    ]
    submitted = [record(assignment_id="3B", worker_id="ASECOND"), record()]
    mirrored = mirror_assignments(hit, submitted)
    assert [(one.pk, one.assignment_id) for one in mirrored] == [(ours[1].pk, "3B"), (ours[0].pk, "3A")]
    claimed.refresh_from_db()
    assert claimed.assignment_id == f"refuted:{claimed.pk}"


def test_a_claim_that_is_dropped_while_it_is_listed_is_written_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    hit, worker = make_hit(), make_worker("AWORKER")
    make_assignment(hit, worker=worker, assignment_id="3A")
    read = mirror.OF_HIT_ROWS.all

    def read_and_drop(**values: Any) -> list[Assignment]:
        rows = read(**values)
        Assignment.objects.all().delete()
        return rows

    monkeypatch.setattr(mirror.OF_HIT_ROWS, "all", read_and_drop)
    (mirrored,) = mirror_assignments(hit, [record()])
    assert (Assignment.objects.get(), mirrored.status, mirrored.worker) == (mirrored, "Submitted", worker)


def test_what_a_purge_has_erased_does_not_come_back_with_the_others() -> None:
    hit, worker = make_hit(), make_worker("AWORKER")
    ours = make_assignment(hit, worker=worker, assignment_id="3A", status="Submitted")
    for name in ("AWORKER", purged_name("AWORKER")):
        Worker.objects.filter(pk=worker.pk).update(worker_id=name, purged_at=timezone.now())
        approved = record(status="Approved", approved_at=SUBMITTED_AT, feedback="Thanks, AWORKER")
        (mirrored,) = mirror_assignments(hit, [approved])
        ours.refresh_from_db()
        assert (mirrored.pk, ours.status, ours.feedback, ours.answer_xml) == (ours.pk, "Approved", "", "")
