"""What the list says a HIT takes and brings: measured, and silent while there is little to measure."""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from marketplace.accounts import keys
from marketplace.engine import assignments
from marketplace.models import HIT
from marketplace.site.pace import KEPT, SECONDS_KEPT, Pace, paces


def submitted(hit, minutes):
    """Have one more worker take so many minutes for a HIT."""
    now = timezone.now()
    held = assignments.accept(hit, worker=keys.create_worker()[0], now=now)
    assignments.submit(held, answer="-", now=now + timedelta(minutes=minutes))


@pytest.mark.parametrize(
    ("minutes", "pace"),
    [
        ([4, 50, 6, 5], None),
        ([4, 50, 6, 5, 7], Pace(360, hourly_cents=500)),
        ([0, 0, 0, 0, 0], Pace(1, 180_000)),
    ],
)
def test_the_pace_is_a_median_of_enough_assignments(new_hit, visitor, minutes, pace):
    hit = HIT.objects.get(hit_id=new_hit(MaxAssignments=9, Reward="0.50"))
    for taken in minutes:
        submitted(hit, taken)
    assert paces([hit.hit_type]) == ({hit.hit_type.pk: pace} if pace else {})
    KEPT.clear()
    page = visitor.get("/").content.decode()
    assert ("an hour" in page) is (pace is not None)
    assert ("6 minutes" in page and "$5.00" in page) is (pace == Pace(360, 500))


@pytest.fixture
def visitor(client):
    client.defaults["HTTP_HOST"] = "localhost"
    return client


def test_a_pace_is_measured_once_a_minute(new_hit, monkeypatch, django_assert_num_queries):
    hit = HIT.objects.get(hit_id=new_hit(MaxAssignments=9, Reward="0.50"))
    kind = hit.hit_type
    with django_assert_num_queries(1):
        assert [paces([kind]) for _ in range(2)] == [{}, {}]
    for _ in range(5):
        submitted(hit, 6)
    assert paces([kind]) == {}
    later = time.monotonic() + SECONDS_KEPT
    monkeypatch.setattr("marketplace.site.pace.time.monotonic", lambda: later)
    assert paces([kind]) == {kind.pk: Pace(360, hourly_cents=500)}
