"""Somebody deletes their account at the embedded marketplace, and our tables follow within a day."""

import io
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotators.crowds.mturk.gateway import NotReady, Refused, Unreachable
from annotators.models import HIT, Assignment, Worker
from marketplace import clock
from marketplace import models as marketplace
from marketplace.engine import assignments, forgetting
from surveys import sync
from surveys.models import Batch, Questionnaire, QuizAttempt
from surveys.operations import accounts
from tests.market_site import Site
from tests.market_study import open_study, statuses, sync_study, work
from tests.surveys.operations.purge_study import a_year_ago, cells_with

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study(site: Site) -> Questionnaire:
    """A study with one worker's paid work."""
    study = open_study(site, assignments_per_hit=3)
    work(site, study)
    sync_study(site, study)
    assert statuses(study) == ["Approved"]
    return study


def delete_account() -> str:
    account = marketplace.Worker.objects.get(worker_id=Worker.objects.get().worker_id)
    worker_id = account.worker_id
    assert forgetting.erase(account, now=clock.now()) == []
    return worker_id


def test_the_same_work_is_not_taken_for_somebody_elses(site: Site, study: Questionnaire) -> None:
    before = Assignment.objects.get()
    delete_account()
    sync_study(site, study)
    after = Assignment.objects.get()
    assert (after.pk, after.worker_id, after.status) == (before.pk, before.worker_id, "Approved")
    assert list(Worker.objects.values_list("pk", flat=True)) == [before.worker_id]


def test_who_is_known_here_by_the_new_id_does_not_stop_the_sync(site: Site, study: Questionnaire) -> None:
    """A quiz that was opened in the name of an erased account is kept, and the work is found by its AssignmentId."""
    delete_account()
    renamed = Worker.objects.create(source="embedded", worker_id=marketplace.Worker.objects.get().worker_id)
    attempt = {"number": 1, "answers": {}, "n_right": 0, "is_passed": False}
    QuizAttempt.objects.create(batch=study.batch, worker=renamed, **attempt)
    before = Assignment.objects.get()
    sync_study(site, study)
    after = Assignment.objects.get()
    assert (after.pk, after.worker_id, after.status) == (before.pk, before.worker_id, "Approved")


def test_our_tables_forget_them_by_the_next_day(study: Questionnaire) -> None:
    worker_id = delete_account()
    assert cells_with(worker_id) != []
    sync.purge_workers()
    assert cells_with(worker_id) == []
    worker = Worker.objects.get()
    assert (worker.worker_id.startswith("purged:"), worker.purged_at is None) == (True, False)
    assert accounts.forget_closed() == 0


def test_who_waits_for_pay_on_a_hit_that_is_gone_is_forgotten_too(study: Questionnaire) -> None:
    Assignment.objects.update(status="Submitted")
    delete_account()
    assert accounts.forget_closed() == 0
    HIT.objects.update(gone_at=timezone.now())
    assert accounts.forget_closed() == 1


def test_who_has_an_account_is_not_forgotten(study: Questionnaire) -> None:
    worker_id = Worker.objects.get().worker_id
    sync.purge_workers()
    assert Worker.objects.get().worker_id == worker_id


def test_an_id_that_was_only_claimed_forgets_nobody(site: Site, study: Questionnaire) -> None:
    """A page that was opened in the name of a deleted account is no work of theirs."""
    worker = Worker.objects.create(source="embedded", worker_id="AVICTIM12345")
    Assignment.objects.create(
        hit=study.hit, worker=worker, assignment_id=Assignment.objects.get().assignment_id
    )
    delete_from = Worker.objects.exclude(pk=worker.pk).get().worker_id
    forgetting.erase(marketplace.Worker.objects.get(worker_id=delete_from), now=clock.now())
    assert accounts.forget_closed() == 1
    assert Worker.objects.get(pk=worker.pk).worker_id == "AVICTIM12345"


def test_work_given_back_by_a_deleted_account_is_not_taken_for_who_did_it_then(site: Site) -> None:
    """A returned AssignmentId goes to the next worker: it is theirs, whatever becomes of who had it before."""
    study = open_study(site)
    assert study.hit is not None
    given_back = site.accept(study.hit)
    assignments.give_back(given_back, now=clock.now())
    work(site, study)
    sync_study(site, study)
    done = Assignment.objects.get()
    worker_id = done.worker.worker_id
    assert (done.assignment_id, done.status) == (given_back.assignment_id, "Approved")
    assert forgetting.erase(given_back.worker, now=clock.now()) == []
    assert accounts.forget_closed() == 0
    assert Worker.objects.get().worker_id == worker_id


def test_a_purge_reaches_the_account_once_nobody_needs_the_id(study: Questionnaire) -> None:
    worker_id, today = Worker.objects.get().worker_id, timezone.localdate().isoformat()
    a_year_ago()
    long_ago = timezone.now() - timedelta(days=400)
    marketplace.Worker.objects.update(created_at=long_ago)
    marketplace.Assignment.objects.update(accepted_at=long_ago, submitted_at=long_ago, approved_at=long_ago)

    def run() -> str:
        out = io.StringIO()
        call_command("purge_workers", "--before", today, stdout=out)
        return out.getvalue()

    assert run().splitlines()[:2] == ["purged: 0", "kept: 1"]  # its batch is open
    assert marketplace.Worker.objects.filter(worker_id=worker_id).exists()
    Batch.objects.update(status="complete")
    assert run() == "purged: 1\nkept: 0\naccounts erased: 1\n"
    assert not marketplace.Worker.objects.filter(worker_id=worker_id).exists()
    assert run() == "purged: 0\nkept: 0\n"
    assert accounts.purge(timezone.now()).n_erased == 0


def test_the_marketplace_is_asked_over_http_a_hundred_at_a_time(
    site: Site, study: Questionnaire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounts, "PAGE", 1)
    for _ in range(2):
        work(site, study)
    sync_study(site, study)
    closing, *others = Worker.objects.order_by("pk")
    forgetting.erase(marketplace.Worker.objects.get(worker_id=closing.worker_id), now=clock.now())
    site.wire.calls.clear()
    assert accounts.forget_closed() == 1
    assert site.wire.calls == {"ListErasedWork": 3}
    assert [Worker.objects.get(pk=worker.pk).purged_at for worker in others] == [None, None]


def test_a_marketplace_that_does_not_answer_is_asked_again_the_next_day(
    site: Site, study: Questionnaire, capsys: pytest.CaptureFixture[str], settings: Any
) -> None:
    worker_id = delete_account()
    settings.KEEP_WORKER_IDS_DAYS = 100
    site.wire.block |= {"ListErasedWork", "EraseIdleAccounts"}
    sync.purge_workers()
    assert Worker.objects.get().worker_id == worker_id
    a_year_ago()
    Batch.objects.update(status="complete")
    call_command("purge_workers", "--before", timezone.localdate().isoformat())
    out, problem = capsys.readouterr()
    assert out == "purged: 1\nkept: 0\n"
    assert "no account was erased there" in problem
    site.wire.heal()
    sync.purge_workers()


def test_a_throttled_question_is_asked_again(
    site: Site, study: Questionnaire, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the first hundred of many would be asked about every day, and nobody after them."""
    waits: list[float] = []
    monkeypatch.setattr("annotators.crowds.mturk.gateway.time.sleep", waits.append)
    settings.MARKETPLACE_RATE_LIMITS = {"ListErasedWork": 0.001}
    assert site.gateway.erased_work(["3A"]) == []
    with pytest.raises(NotReady):
        site.gateway.erased_work(["3A"])
    assert waits == [1, 2, 4]
    monkeypatch.setattr(
        "annotators.crowds.mturk.gateway.time.sleep", lambda _: settings.MARKETPLACE_RATE_LIMITS.clear()
    )
    assert site.gateway.erased_work(["3A"]) == []


def test_work_under_the_keys_of_an_earlier_requester_hides_nobody(site: Site, study: Questionnaire) -> None:
    """A requester is told about their own HITs only."""
    account = marketplace.Worker.objects.get(worker_id=Worker.objects.get().worker_id)
    later = open_study(site)
    work(site, later, worker=account)
    sync_study(site, later)
    assert study.hit is not None
    other = marketplace.Requester.objects.create(name="Before")
    marketplace.HIT.objects.filter(hit_id=study.hit.hit_id).update(requester=other)
    assert forgetting.erase(account, now=clock.now()) == []
    assert accounts.forget_closed() == 1


def test_half_an_answer_is_none(site: Site, study: Questionnaire) -> None:
    delete_account()
    site.wire.cut.add("ListErasedWork")
    with pytest.raises(Unreachable):
        accounts.forget_closed()
    assert Worker.objects.get().purged_at is None


def test_a_refusal_is_said_as_the_marketplace_says_it(site: Site, study: Questionnaire) -> None:
    with pytest.raises(Refused, match="not valid for the parameter AssignmentIds"):
        site.gateway.erased_work(["no id"])
