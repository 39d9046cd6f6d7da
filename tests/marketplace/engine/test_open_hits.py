"""Which HITs are open, and how many of each type, are kept with every change; counting them again gives the same."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from marketplace.accounts import keys
from marketplace.engine import assignments, deadlines, hits
from marketplace.models import HIT, Assignment, HITType, NotificationSetting
from marketplace.money import audit
from tests.marketplace.batches.batches_made import hits as hits_of
from tests.marketplace.batches.batches_made import published

MANY = 3_000


def open_hits(batch):
    """Return the count that is kept, after checking that the audit counts the same."""
    assert audit.report()["is_sound"] is True
    return HITType.objects.get(pk=batch.hit_type_id).open_hits


def test_a_full_hit_closes_and_what_is_given_back_opens_it(requester):
    batch, now = published(requester, max_assignments=1), timezone.now()
    assert open_hits(batch) == 2
    held = assignments.accept(hits_of(batch)[0], worker=keys.create_worker()[0], now=now)
    assert open_hits(batch) == 1
    assignments.give_back(held, now=now)
    assert open_hits(batch) == 2
    held = assignments.accept(hits_of(batch)[0], worker=keys.create_worker()[0], now=now)
    assignments.submit(held, answer="-", now=now)
    held.refresh_from_db()
    assignments.reject(held, now=now, feedback="no")
    assert open_hits(batch) == 1
    hits.extend(held.hit, additional=1, token=None, now=now)
    assert open_hits(batch) == 2


@pytest.mark.parametrize("is_told", [False, True])
def test_the_end_closes_and_a_later_end_opens_again(requester, is_told):
    batch, now = published(requester), timezone.now()
    if is_told:
        NotificationSetting.objects.create(
            hit_type=batch.hit_type, destination="d", transport="SQS", version="-", event_types=["HITExpired"]
        )
    late = now + timedelta(days=2)
    for _ in range(2):
        deadlines.sweep(now=late)
        assert open_hits(batch) == 0
    hit = hits_of(batch)[0]
    hits.move_expiry(hit, expires_at=late + timedelta(days=1), now=late)
    assert open_hits(batch) == 1
    hits.move_expiry(hit, expires_at=late, now=late)
    assert open_hits(batch) == 0
    hits.dispose(hit, now=late)
    assert open_hits(batch) == 0


def test_a_hit_is_counted_with_its_new_type(requester):
    batch, other = published(requester), published(requester, title="Other", reward_cents=50)
    hits.set_type(hits_of(batch)[0], hit_type=other.hit_type, now=timezone.now())
    assert (open_hits(batch), open_hits(other)) == (1, 3)


def test_the_audit_notices_a_wrong_count_and_a_wrong_mark(requester):
    batch = published(requester)
    HITType.objects.count_open(batch.hit_type_id, by=1)
    assert audit.report()["requesters"][0]["problems"] == ["A HIT type's open HITs are miscounted."]
    hits_of(batch)[0].__class__.objects.filter(pk=hits_of(batch)[0].pk).update(is_open=False)
    assert "A HIT is open that is not, or the other way round." in audit.report()["requesters"][0]["problems"]


@pytest.fixture
def crowded(requester):
    """A type with 3,000 HITs, of which 2,900, the oldest, have nothing left; 5,000 rows stand before them."""
    batch, now = published(requester), timezone.now()
    common = {"hit_type": batch.hit_type, "requester": requester, "question": "-", "max_assignments": 1}
    common |= {"held_slots": 0, "created_at": now, "expires_at": now + timedelta(days=1)}
    HIT.objects.bulk_create(
        HIT(hit_id=f"3MANY{n}", is_open=n >= MANY - 100, submitted=int(n < MANY - 100), **common)
        for n in range(MANY)
    )
    HITType.objects.count_open(batch.hit_type_id, by=100)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE marketplace_hit")  # of no other table: what is noted outlives the test
    return batch


def plans(request):
    """Return what the database says of each SELECT of a request about HITs."""
    with CaptureQueriesContext(connection) as captured:
        request()
    words = "EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN "
    asked = [
        row["sql"] for row in captured if '"marketplace_hit' in row["sql"] and "SELECT" in row["sql"][:7]
    ]
    with connection.cursor() as cursor:
        for sql in asked:
            cursor.execute((words + sql).replace("%", "%%"))
            yield "\n".join(str(row[-1]) for row in cursor.fetchall())


@pytest.mark.parametrize("kind", ["list", "preview"])
def test_a_page_reads_no_more_hits_than_it_shows(crowded, kind):
    address = "/" if kind == "list" else f"/projects/{crowded.hit_type.type_id}/tasks"
    client = Client(headers={"host": "localhost"})
    assert client.get(address).status_code == 200
    found = list(plans(lambda: client.get(address)))
    assert found
    for plan in found:
        assert "Seq Scan on marketplace_hit " not in plan
        assert "SCAN marketplace_hit\n" not in f"{plan}\n"
        assert "TEMP B-TREE FOR ORDER BY" not in plan
    index = "marketplace_open_newest" if kind == "list" else "marketplace_open_oldest"
    assert any(index in plan for plan in found)


def test_the_list_says_how_many_are_left_for_whoever_looks(crowded, new_worker):
    browser = new_worker()
    assert '<dd class="available">102</dd>' in browser.client.get("/").content.decode()
    hit = HIT.objects.get(hit_id=f"3MANY{MANY - 1}")
    Assignment.objects.create(
        assignment_id="3MINE",
        hit=hit,
        worker=browser.worker,
        accepted_at=timezone.now(),
        deadline=timezone.now() + timedelta(hours=1),
    )
    HIT.objects.filter(pk=hit.pk).update(max_assignments=2, pending=1)
    assert '<dd class="available">101</dd>' in browser.client.get("/").content.decode()
    assert '<dd class="available">102</dd>' in new_worker().client.get("/").content.decode()


def test_the_oldest_whose_time_is_not_over_comes_next(requester):
    batch, now = published(requester), timezone.now()
    first, second = hits_of(batch)
    HIT.objects.filter(pk=first.pk).update(expires_at=now)
    for kind in (batch.hit_type, batch.hit_type.type_id):
        assert assignments.next_hit(kind, worker=None, now=now) == second
    HIT.objects.filter(pk=second.pk).update(expires_at=now)
    assert assignments.next_hit(batch.hit_type, worker=None, now=now) is None
