"""Publishing is asked for in a moment; the worker writes the HITs, once, and whoever asked is told."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User

from surveys import sync
from surveys.models import AnnotationSlot, AuditEntry, Batch, Note, Publishing, Questionnaire
from surveys.publishing import budget, hits, pilots, pricing, questionnaires, stopping
from tests.factories import make_draft, make_item, make_survey
from tests.policy_data import NEVER

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", is_staff=True)


def link_draft(n_items: int = 3, **values: Any) -> Batch:
    terms = {"endpoint": "link", "items_per_hit": 1, "takes_links": True, "review_policy": NEVER}
    return make_draft(make_survey(n_items=n_items), **(terms | values))


def begun(ada: User, **values: Any) -> Batch:
    batch = link_draft(**values)
    assert questionnaires.begin(batch, by=ada) is True
    return Batch.objects.get(pk=batch.pk)


def test_beginning_writes_no_hit_and_is_done_once(ada: User) -> None:
    batch = begun(ada)
    assert (batch.status, batch.questionnaires.count()) == ("publishing", 0)
    assert questionnaires.begin(Batch.objects.get(), by=ada) is False
    [asked] = Publishing.objects.all()
    assert (asked.asked_by, asked.n_hits, asked.written_at) == (ada, 3, None)


def test_what_is_not_written_yet_is_no_open_batch(ada: User) -> None:
    batch = begun(ada)
    assert hits.finish_publishing(batch) is False
    assert Batch.objects.get().status == "publishing"


def test_the_worker_writes_the_hits_and_tells_whoever_asked(ada: User) -> None:
    batch = begun(ada)
    for _ in range(2):
        sync.publish_batch(batch.pk)
    assert Batch.objects.get().status == "open"
    assert (Questionnaire.objects.count(), AnnotationSlot.objects.count()) == (3, 15)
    [note] = Note.objects.all()
    assert (note.person, note.text, note.url) == (
        ada,
        f"{batch} is published: 3 HITs.",
        batch.get_absolute_url(),
    )
    assert AuditEntry.objects.get(outcome="publish").actor == ada


@pytest.mark.django_db(transaction=True)
def test_two_workers_write_once(ada: User, in_parallel: Callable[..., list[Any]]) -> None:
    batch = begun(ada)
    assert in_parallel(*[lambda: questionnaires.write(Batch.objects.get())] * 4) == [""] * 4
    assert (batch.questionnaires.count(), AuditEntry.objects.count()) == (3, 1)


def test_a_worker_that_dies_while_it_writes_leaves_nothing(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = begun(ada)
    monkeypatch.setattr(questionnaires.quota, "write_slots", lambda batch: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        sync.publish_batch(batch.pk)
    assert Questionnaire.objects.count() == 0
    monkeypatch.undo()
    sync.publish_batch(batch.pk)
    assert (Batch.objects.get().status, Questionnaire.objects.count()) == ("open", 3)


def test_what_would_cost_something_else_is_a_draft_again(ada: User) -> None:
    batch = begun(ada, reward=Decimal("1.00"))
    make_item(batch.survey, position=99)
    for _ in range(2):
        sync.publish_batch(batch.pk)
    batch = Batch.objects.get()
    sentence = (
        "Its study changed in that moment: it takes 4 HITs for $20.00 now, and 3 for $15.00 were confirmed."
    )
    assert (batch.status, batch.snapshot, batch.published_at, batch.error) == ("draft", None, None, sentence)
    assert Note.objects.get().text == f"{batch} was not published. {sentence}"
    assert (Questionnaire.objects.count(), Publishing.objects.count()) == (0, 0)
    assert AuditEntry.objects.get().outcome == "withdraw"
    assert questionnaires.start_publishing(batch, by=ada) is True
    assert (batch.error, batch.questionnaires.count()) == ("", 4)


def test_what_is_stopped_before_it_is_written_stays_empty(ada: User) -> None:
    batch = begun(ada)
    stopping.stop(batch, by=ada)
    sync.publish_batch(batch.pk)
    assert questionnaires.write(batch) == ""
    assert (Batch.objects.get().status, Questionnaire.objects.count()) == ("stopped", 0)


def test_what_was_confirmed_is_committed_until_it_is_written_and_after(ada: User) -> None:
    batch = begun(ada, reward=Decimal("0.50"))
    before = budget.money(batch)
    questionnaires.write(batch)
    assert (before.committed, budget.money(batch).committed) == (Decimal("7.50"), Decimal("7.50"))


def test_a_budget_holds_from_the_moment_it_is_asked(ada: User) -> None:
    batch = link_draft(reward=Decimal("1.00"), budget=Decimal("14.99"))
    with pytest.raises(questionnaires.CannotPublish):
        questionnaires.begin(batch, by=ada)
    assert (Batch.objects.get().status, Publishing.objects.count()) == ("draft", 0)


def test_progress_counts_the_hits_that_are_to_be_written(ada: User) -> None:
    counts = pricing.progress(begun(ada))
    assert (counts.n_questionnaires, counts.n_published, counts.n_wanted) == (3, 0, 15)


def test_nothing_follows_a_pilot_before_its_items_are_drawn(ada: User) -> None:
    pilot = begun(ada, pilot_items=1)
    with pytest.raises(pilots.CannotFollow, match="are being drawn"):
        pilots.plan_rest(pilot, by=ada)
    questionnaires.write(pilot)
    assert pilots.items_of(pilots.plan_rest(pilot, by=ada)).count() == 2
