"""Who may not work opens a HIT in another name and submits it in their own: that passes the door, and no further."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotators.crowds.mturk.leases import lease
from annotators.models import HIT, Assignment, Worker
from surveys import sync
from surveys.answering import claiming
from surveys.answering.collection import task_answers
from surveys.models import AuditEntry, Inclusion, Questionnaire, Response
from surveys.review import second_look
from tests.factories import (
    answer,
    make_assignment,
    make_batch,
    make_hit,
    make_questionnaire,
    make_survey,
    make_worker,
    open_for,
)
from tests.market_site import Site, eager, site, wire
from tests.market_study import open_study, work
from tests.policy_data import policy_of

__all__ = ["eager", "site", "wire"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("eager")]


@pytest.fixture(autouse=True)
def _sync_at_once(settings: Any) -> None:
    settings.SYNC_EVERY_SECONDS = 0


def work_as(site: Site, questionnaire: Questionnaire, *, name: str) -> Assignment:
    """Accept as oneself, open our page as somebody else, submit as oneself. Returns our row of who submitted."""
    accepted = site.accept(questionnaire.hit)
    worker_id = accepted.worker.worker_id
    opened = open_for(questionnaire, worker=name, assignment=accepted.assignment_id)
    answer(opened)
    Worker.objects.get_or_create(source="embedded", worker_id=worker_id)
    Worker.objects.filter(worker_id=worker_id).update(standing="excluded")
    site.submit(accepted, taskAnswers=task_answers(opened), nonce=str(opened.nonce))
    sync.sweep()
    return Assignment.objects.get(worker__worker_id=worker_id)


def test_an_excluded_worker_in_another_name_is_not_used(site: Site) -> None:
    questionnaire = open_study(site)
    slipped = work_as(site, questionnaire, name="INVENTED")
    assert (slipped.status, slipped.inclusion.is_included) == ("Approved", False)
    assert slipped.inclusion.reason == "The worker is excluded, and the HIT was not opened in their name."
    entry = AuditEntry.objects.get(kind="inclusion", assignment=slipped)
    assert (entry.outcome, entry.by_whom, entry.worker) == ("exclude", "the batch's rule", slipped.worker)


def test_who_is_excluded_while_they_work_finishes_and_is_used(site: Site) -> None:
    questionnaire = open_study(site)
    mine = work(site, questionnaire)
    Worker.objects.update(standing="excluded")
    sync.sweep()
    mine.refresh_from_db()
    assert (mine.status, Inclusion.objects.count()) == ("Approved", 0)


def test_who_was_excluded_before_an_upgrade_and_after_they_began_is_used(site: Site) -> None:
    """Handed in, and undecided, where there were no claims: our page was opened in their own name."""
    questionnaire = open_study(site)
    mine = work(site, questionnaire)
    Assignment.objects.update(user_agent="Mozilla/5.0", status="Submitted", submitted_at=timezone.now())
    Response.objects.update(is_claim=False)
    Worker.objects.update(standing="excluded")
    sync.sweep()
    mine.refresh_from_db()
    assert (mine.status, Inclusion.objects.count()) == ("Approved", 0)


def two_hits(**values: Any) -> tuple[Questionnaire, Questionnaire]:
    survey = make_survey(n_items=2)
    batch = make_batch(survey, items_per_hit=1, **values)
    first, second = (make_questionnaire(batch, items=[item], hit=make_hit()) for item in survey.items.all())
    return first, second


def submitted(questionnaire: Questionnaire, worker: Worker, *, minutes: int) -> Assignment:
    """As a sync writes it down about a worker whom our page never saw."""
    at = timezone.now() + timedelta(minutes=minutes)
    return make_assignment(questionnaire.hit, worker=worker, status="Submitted", submitted_at=at)


def test_who_has_had_their_share_is_not_used() -> None:
    first, second = two_hits(review_policy=policy_of({"kind": "worker_cap", "share": 0.1}))  # 10 wanted: 1
    worker = make_worker("AONE")
    for elsewhere in two_hits():
        submitted(elsewhere, worker, minutes=-1)  # another batch is another share
    kept, slipped = submitted(first, worker, minutes=0), submitted(second, worker, minutes=1)
    assert second_look.look(kept) is None
    found = second_look.look(slipped)
    assert (found.is_included, found.reason) == (
        False,
        "The worker had done their share of this batch, which is 1.",
    )
    assert second_look.look(slipped).pk == found.pk
    assert AuditEntry.objects.count() == 1


def test_who_has_seen_the_items_is_not_used() -> None:
    first, _ = two_hits()
    sibling = make_questionnaire(first.batch, items=list(first.items.all()), hit=make_hit(), sibling_of=first)
    mine = open_for(first, worker="AONE")
    Assignment.objects.update(status="Submitted", submitted_at=timezone.now(), accepted_at=None)
    claiming.confirm(first.hit)
    found = second_look.look(submitted(sibling, mine.worker, minutes=1))
    assert (found.is_included, found.reason) == (False, second_look.SEEN)


def test_what_a_stopped_batch_lets_slip_is_not_collected_again() -> None:
    first, _ = two_hits(status="stopped")
    slipped = submitted(first, make_worker("AOUT", standing="excluded"), minutes=0)
    assert second_look.look(slipped).is_replaced is False
    running, _ = two_hits()
    assert second_look.look(submitted(running, slipped.worker, minutes=1)).is_replaced is True


def test_of_two_hits_synced_at_once_the_slower_one_is_looked_at_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both pass the second look while the other is a claim; then one of them is confirmed first."""
    first, _ = two_hits()
    sibling = make_questionnaire(first.batch, items=list(first.items.all()), hit=make_hit(), sibling_of=first)
    ours = open_for(first, worker="AONE")
    Assignment.objects.update(claimed_from="0123456789abcdef")
    theirs = open_for(sibling, worker="AONE")
    for assignment in (ours, theirs):
        answer(assignment)
    Assignment.objects.update(status="Submitted", submitted_at=timezone.now(), accepted_at=None)
    confirm = claiming.confirm

    def overtaken(hit: HIT) -> int:
        confirm(first.hit)
        return confirm(hit)

    monkeypatch.setattr(claiming, "confirm", overtaken)
    monkeypatch.setattr(sync.mirror, "fetch", lambda hit, gateway: [])
    monkeypatch.setattr(sync.decisions, "record_decisions", lambda assignments, batch: [])
    monkeypatch.setattr(sync.delivery, "carry_out", lambda assignment, gateway: None)
    with lease(sibling.hit) as held:
        sync._settle(HIT.objects.get(pk=sibling.hit.pk), held=held)
    found = Inclusion.objects.get(assignment=theirs)
    assert (found.is_included, found.reason) == (False, second_look.SEEN)
    theirs.refresh_from_db()
    assert (theirs.claimed_from, Inclusion.objects.count()) == ("", 1)
