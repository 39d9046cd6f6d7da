"""Publishing thousands of HITs: as many tasks at once as a worker takes in a minute, none of which reads all others."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from surveys import sync
from surveys.models import Batch, Questionnaire
from surveys.publishing import hits, questionnaires
from tests.factories import make_batch, make_draft, make_hit, make_questionnaire, make_survey
from tests.market_site import Site, eager, site, wire

__all__ = ["eager", "site", "wire"]
pytestmark = pytest.mark.django_db
N_HITS = 4


def waiting(*, n: int = N_HITS, **values: Any) -> Batch:
    """A batch of so many questionnaires that wait for their HITs."""
    batch = make_batch(make_survey(n_items=n), **{"status": "publishing", **values})
    for item in batch.survey.items.all():
        make_questionnaire(batch, items=[item])
    return batch


def test_no_more_tasks_wait_than_a_worker_takes_in_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    batch, enqueued = waiting(), []
    monkeypatch.setattr(sync, "PUBLISHED_AT_ONCE", N_HITS - 1)
    monkeypatch.setattr(sync.publish_questionnaire, "apply_async", lambda args, **_: enqueued.append(args[0]))
    sync._enqueue_unpublished(batch)
    first = batch.questionnaires.order_by("position").values_list("pk", flat=True)[: N_HITS - 1]
    assert enqueued == [str(pk) for pk in first]


def test_one_waits_behind_nothing_that_comes_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has a lower priority is never taken from a worker that always has something else to do.

    Each has its turn sooner or later: one that was refused waits too, and does nothing.
    """
    batch, sent = waiting(), list[dict[str, Any]]()
    monkeypatch.setattr(
        sync.publish_questionnaire, "apply_async", lambda args, **options: sent.append(options)
    )
    router, name = sync.publish_questionnaire.app.amqp.router, sync.publish_questionnaire.name
    have_been_ahead = set()
    for _ in range(100):
        sent.clear()
        sync._enqueue_unpublished(batch)
        priorities = [router.route(dict(options), name)["priority"] for options in sent]
        assert sorted(priorities) == [0, *[9] * (N_HITS - 1)]
        assert ["expires" in options for options in sent] == [priority == 9 for priority in priorities]
        have_been_ahead.add(priorities.index(0))
    assert have_been_ahead == set(range(N_HITS))


def test_where_none_waits_none_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync.publish_questionnaire, "apply_async", lambda *_, **__: pytest.fail("One was."))
    sync._enqueue_unpublished(waiting(n=0))


def test_what_did_not_fit_is_published_by_the_next_sweep(
    site: Site, eager: None, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.SYNC_EVERY_SECONDS = 0
    monkeypatch.setattr(sync, "PUBLISHED_AT_ONCE", N_HITS - 1)
    batch = make_draft(make_survey(n_items=5 * N_HITS))
    questionnaires.start_publishing(batch)
    sync.publish_batch(batch.pk)
    assert batch.questionnaires.filter(hit=None).count() == 1
    sync.sweep()
    assert (Batch.objects.get().status, site.wire.calls["CreateHITWithHITType"]) == ("open", N_HITS)


@pytest.mark.parametrize("status", ["publishing", "stopped"])
def test_whether_one_is_to_be_published_is_told_as_for_all(status: str) -> None:
    batch = waiting(status=status)
    linked = batch.questionnaires.order_by("position")[0]
    Questionnaire.objects.filter(pk=linked.pk).update(hit=make_hit())
    each = Questionnaire.objects.filter(batch=batch).select_related("batch").order_by("position")
    assert [one.pk for one in each if hits.is_to_publish(one)] == hits.to_publish(batch)


def test_a_task_reads_its_own_questionnaire_alone() -> None:
    """The others are only asked whether there is one; all of them were read, by each of ten thousand tasks."""
    batch = waiting()
    one = batch.questionnaires.select_related("batch").order_by("position")[0]
    with CaptureQueriesContext(
        connection,
    ) as asked:
        hits.is_to_publish(one)
        hits.finish_publishing(batch)
    assert [("LIMIT 1" in query["sql"]) for query in asked.captured_queries] == [True]
