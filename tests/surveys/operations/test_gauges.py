"""/metrics: the numbers, who may read them, and what is said when something does not answer."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from kombu import Connection
from prometheus_client.parser import text_string_to_metric_families

from annotators.models import HIT, Assignment, Call, Listing
from config.celery import app
from surveys import sync
from surveys.models import Batch, Decision, Replacement
from surveys.operations import gauges, health
from tests.factories import make_assignment, make_batch, make_draft, make_hit, make_published, make_survey

APP = {"host": "127.0.0.1"}


def read(**headers: str) -> Any:
    return Client().get("/metrics", headers=APP | headers)


def samples() -> dict[str, float]:
    """Every number by its name and labels."""
    families = text_string_to_metric_families(read().content.decode())
    return {
        sample.name + "".join(f" {value}" for value in sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }


def decided(assignment: Assignment, verdict: str) -> None:
    Decision.objects.create(
        assignment=assignment, verdict=verdict, reason="Because.", decided_at=timezone.now()
    )


def submitted(hit: HIT, *, left: timedelta) -> Assignment:
    return make_assignment(hit, status="Submitted", auto_approval_at=timezone.now() + left)


@pytest.mark.django_db
def test_an_empty_server_has_nothing_to_do() -> None:
    caches["heartbeats"].clear()
    found = samples()
    assert 0 < found.pop("assent_disk_free_ratio") < 1
    assert {name: value for name, value in found.items() if value and name != "assent_queue_depth"} == {
        "assent_up database": 1,
        "assent_up broker": 1,
        "assent_up heartbeats": 1,
        "assent_up disk": 1,
    }
    assert found["assent_hits_open production"] == found["assent_batches draft"] == 0


@pytest.mark.django_db
def test_undecided_work_and_what_is_near_its_deadline() -> None:
    hit = make_published().hit
    soon, late = timedelta(hours=5), timedelta(days=2)
    submitted(hit, left=late)
    submitted(hit, left=soon)
    decided(submitted(hit, left=soon), "flag")
    decided(submitted(hit, left=soon), "propose")
    decided(submitted(hit, left=soon), "reject")
    decided(submitted(hit, left=soon), "approve")
    make_assignment(hit, status="Approved", auto_approval_at=timezone.now() + soon)
    found = samples()
    assert found["assent_assignments_undecided"] == 5
    assert found["assent_assignments_near_auto_approval"] == 4


@pytest.mark.django_db
def test_open_hits_by_endpoint() -> None:
    make_hit()
    make_hit()
    make_hit(expires_at=timezone.now() - timedelta(seconds=1))
    make_hit(status="Reviewable")
    found = samples()
    assert (found["assent_hits_open embedded"], found["assent_hits_open sandbox"]) == (2, 0)


@pytest.mark.django_db
def test_the_lag_is_that_of_the_hit_that_waits_longest() -> None:
    ago = lambda seconds: timezone.now() - timedelta(seconds=seconds)  # noqa: E731
    lag = lambda: samples()["assent_sync_lag_seconds"]  # noqa: E731
    make_published(hit=make_hit(synced_at=ago(7000), created_at=ago(9000)))  # nobody has touched it
    make_published(hit=make_hit(synced_at=None, created_at=ago(9000)))
    assert lag() == 0
    make_published(hit=make_hit(synced_at=ago(6000), moved_at=ago(200)))
    assert 200 <= lag() < 260
    make_published(hit=make_hit(synced_at=ago(900), moved_at=ago(1400)))  # too early: again after as long
    assert 400 <= lag() < 460
    submitted = make_published(hit=make_hit(synced_at=ago(500))).hit
    make_assignment(submitted, status="Submitted")
    assert 500 <= lag() < 560


@pytest.mark.django_db
def test_how_long_ago_the_marketplace_was_asked_what_has_moved() -> None:
    hit = make_published(hit=make_hit()).hit
    assert "assent_listing_age_seconds embedded" not in samples()
    Listing.objects.create(endpoint="embedded", listed_at=timezone.now() - timedelta(seconds=90))
    Listing.objects.create(endpoint="sandbox", listed_at=timezone.now() - timedelta(days=90))
    assert 90 <= samples()["assent_listing_age_seconds embedded"] < 150
    assert "assent_listing_age_seconds sandbox" not in samples()  # nothing is open there
    HIT.objects.filter(pk=hit.pk).update(gone_at=timezone.now())
    assert "assent_listing_age_seconds embedded" not in samples()


@pytest.mark.django_db
def test_calls_without_an_outcome() -> None:
    for number, state in enumerate(["planned", "sent", "sent", "done", "refused", "unknown"]):
        finished = timezone.now() if state in {"done", "refused"} else None
        Call.objects.create(
            token=f"token-{number}",
            operation=Call.Operation.APPROVE,
            endpoint="embedded",
            state=state,
            finished_at=finished,
        )
    Call.objects.filter(token="token-1").update(created_at=timezone.now() - timedelta(hours=1))
    Call.objects.filter(token="token-3").update(created_at=timezone.now() - timedelta(hours=9))
    found = samples()
    states = ("planned", "sent", "unknown")
    assert [found[f"assent_calls_unsettled {state}"] for state in states] == [1, 2, 1]
    assert 3600 <= found["assent_calls_unsettled_oldest_seconds"] < 3660


@pytest.mark.django_db
def test_what_waits_for_its_replacement_where_there_is_a_budget_and_where_there_is_none() -> None:
    limited, free = make_published(budget=Decimal("1.00")), make_published()
    for hit in (limited.hit, limited.hit, free.hit):
        decided(make_assignment(hit, status="Rejected"), "reject")
    planned = make_assignment(free.hit, status="Rejected")
    decided(planned, "reject")
    Replacement.objects.create(replaces=planned, questionnaire=free, opened_by="extend")
    decided(make_assignment(free.hit, status="Approved"), "approve")
    found = samples()
    assert found["assent_replacements_waiting limited"] == 2
    assert found["assent_replacements_waiting none"] == 1


@pytest.mark.django_db
def test_batches_and_those_that_stand_still() -> None:
    survey = make_survey()
    make_draft(survey)
    make_batch(survey)
    make_batch(survey, error="The balance does not cover it.")
    found = samples()
    assert (found["assent_batches draft"], found["assent_batches open"]) == (1, 2)
    assert found["assent_batches_in_error"] == 1


@pytest.mark.django_db
def test_a_task_that_waits_is_counted() -> None:
    before = health.queue_depth()
    sync.heartbeat.delay()
    sync.heartbeat.delay()
    assert samples()["assent_queue_depth"] == before + 2
    with app.connection_for_write() as broker:
        broker.default_channel.queue_purge(app.conf.task_default_queue)
    assert health.queue_depth() == 0


@pytest.mark.django_db
def test_as_many_queries_for_a_large_study_as_for_none() -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert read().status_code == 200
        return len(captured)

    before = queries()
    for _ in range(5):
        hit = make_published().hit
        submitted(hit, left=timedelta(hours=1))
    assert Batch.objects.count() == 5
    assert queries() == before == 11


def test_without_a_database_the_rest_is_still_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object) -> None:
        raise ConnectionError("password=hunter2")

    monkeypatch.setitem(gauges.PARTS, "database", refuse)
    answer = read()
    assert answer.status_code == 200
    assert b"hunter2" not in answer.content
    found = samples()
    assert (found["assent_up database"], found["assent_up broker"]) == (0, 1)
    assert "assent_batches draft" not in found
    assert "assent_queue_depth" in found


@pytest.mark.django_db
def test_without_a_broker_the_rest_is_still_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    nowhere = Connection("redis://:hunter2@127.0.0.1:1/0")
    monkeypatch.setattr(app, "connection_for_read", lambda: nowhere)
    found = samples()
    assert (found["assent_up database"], found["assent_up broker"]) == (1, 0)
    assert "assent_queue_depth" not in found


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("authorization", "status"),
    [
        ("Bearer right-token", 200),
        ("bearer right-token", 200),
        ("Bearer wrong", 401),
        ("Bearer ", 401),
        ("Bearer right-token-and-more", 401),
        ("Basic right-token", 401),
        ("Bearer пароль", 401),
        ("", 401),
    ],
)
def test_a_token_lets_in_whoever_holds_it(settings: Any, authorization: str, status: int) -> None:
    settings.METRICS_TOKEN = "right-token"
    answer = read(authorization=authorization)
    assert answer.status_code == status
    assert (b"assent_up" in answer.content) == (status == 200)


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1"])
def test_without_a_token_this_machine_may_read(address: str) -> None:
    assert Client(REMOTE_ADDR=address).get("/metrics", headers=APP).status_code == 200


@pytest.mark.parametrize("address", ["10.0.0.5", "203.0.113.9", "::2", "", "localhost"])
def test_without_a_token_no_other_machine_may(address: str) -> None:
    answer = Client(REMOTE_ADDR=address).get("/metrics", headers=APP)
    assert (answer.status_code, b"assent" in answer.content) == (403, False)


@pytest.mark.parametrize(
    "header", ["x-forwarded-for", "forwarded", "x-real-ip", "via", "x-forwarded-proto", "cf-connecting-ip"]
)
def test_without_a_token_nobody_may_through_a_proxy_on_this_machine(header: str) -> None:
    assert read(**{header: "127.0.0.1"}).status_code == 403
