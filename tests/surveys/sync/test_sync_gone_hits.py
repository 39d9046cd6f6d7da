"""A HIT the marketplace does not know any more is asked about for an hour; then its batch says so, and once a day."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import TestCase
from django.urls import reverse
from django.utils import timezone

from annotators.crowds.mturk.gateway import HITGone
from annotators.models import HIT, Assignment, Call, Channel, Worker
from annotators.outbox import journal
from annotators.people.names import pseudonym
from marketplace import models as marketplace
from surveys import sync
from surveys.answering import claiming
from surveys.models import Alarm, Batch, Questionnaire, Response
from surveys.operations import alarms, purging
from surveys.publishing import gone, stopping
from surveys.review import decisions
from tests.factories import answer, make_assignment, open_for
from tests.market_site import Site, eager, site, wire
from tests.market_study import again, open_study, sync_study, work
from tests.people import client_of
from tests.surveys.operations.purge_study import cells_with

__all__ = ["eager", "site", "wire"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("eager")]
HOST = {"host": "127.0.0.1"}
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _sync_at_once(settings: Any) -> None:
    settings.SYNC_EVERY_SECONDS = 0


def forget(site: Site) -> None:
    """Let the marketplace answer as MTurk does for a HIT that it disposed of long ago."""
    error = {
        "__type": "RequestError",
        "Message": "Hit X does not exist. (1718000000000)",
        "TurkErrorCode": "AWS.MechanicalTurk.HITDoesNotExist",
    }
    kind = {"Content-Type": "application/x-amz-json-1.1"}
    site.wire.replies["GetHIT"] = (400, kind, json.dumps(error).encode())
    site.wire.replies["ListHITs"] = (200, kind, b'{"NumResults": 0, "HITs": []}')
    HIT.objects.update(created_at=timezone.now() - HOUR)


def n_asked(site: Site, *, sweeps: int = 1) -> int:
    site.wire.calls.clear()
    for _ in range(sweeps):
        sync.sweep()
    return site.wire.calls["GetHIT"]


def let_pass(time: timedelta) -> None:
    for hit in HIT.objects.exclude(missing_since=None):
        HIT.objects.filter(pk=hit.pk).update(missing_since=hit.missing_since - time)  # type: ignore[operator]


@pytest.fixture
def claimed(site: Site) -> Questionnaire:
    """Somebody saved all answers ten days ago, and the marketplace was not asked since and has forgotten the HIT."""
    questionnaire = open_study(site)
    answer(open_for(questionnaire, worker="A1SAVED", assignment="3SAVED"))
    ago = timezone.now() - timedelta(days=10)
    Assignment.objects.update(loaded_at=ago, saved_at=ago)
    HIT.objects.update(expires_at=ago, created_at=ago, synced_at=ago)
    forget(site)
    return again(questionnaire)


def end(site: Site) -> None:
    sync.sweep()
    let_pass(HOUR)
    sync.sweep()


def test_it_is_told_from_other_refusals(site: Site) -> None:
    with pytest.raises(HITGone):
        site.gateway.get_hit("3NOSUCHHIT")


def test_it_is_asked_about_for_an_hour_and_then_no_more(claimed: Questionnaire, site: Site) -> None:
    assert [n_asked(site), n_asked(site)] == [1, 1]
    let_pass(timedelta(minutes=58))
    assert (n_asked(site), HIT.objects.get().gone_at) == (1, None)
    let_pass(timedelta(minutes=2))
    assert (n_asked(site), HIT.objects.get().gone_at is None) == (1, False)
    assert n_asked(site, sweeps=3) == 0


def test_what_was_saved_stays_and_is_not_used(claimed: Questionnaire, site: Site) -> None:
    before = list(Response.objects.order_by("pk").values_list("item", "answer", "is_claim"))
    end(site)
    sync.sweep()
    assert claiming.sweep() == 0
    assert list(Response.objects.order_by("pk").values_list("item", "answer", "is_claim")) == before
    assert {is_claim for _, _, is_claim in before} == {True}
    assert Assignment.objects.get().status == "Accepted"


def test_its_batch_says_so_and_is_mailed_about_once(
    claimed: Questionnaire, site: Site, settings: Any
) -> None:
    settings.ALARM_RECIPIENTS = ["lab@example.org"]
    hit = HIT.objects.get()
    end(site)
    assert Batch.objects.get().error == (
        f"There is no HIT {hit.hit_id} any more. It is asked about once a day from now on; saved here and never "
        "confirmed there: 1, which are kept and not used. Fetch now asks at once."
    )
    sync.send_alarms()
    Alarm.objects.update(seen_at=timezone.now() - alarms.STANDING_FOR)
    for _ in range(3):
        sync.sweep()
    assert [message.subject.rpartition(": ")[2] for message in mail.outbox] == ["The batch stands still"]
    page = client_of("Researcher").get(Batch.objects.get().get_absolute_url(), headers=HOST).content.decode()
    assert "gone since" in page


def test_it_is_asked_about_again_by_who_says_so_and_what_was_saved_is_still_there(
    claimed: Questionnaire, site: Site
) -> None:
    end(site)
    site.wire.heal()
    address = reverse("batch_sync", args=[claimed.batch_id])
    with TestCase.captureOnCommitCallbacks(execute=True):
        assert client_of("Assistant").post(address, headers=HOST).status_code == 302
    hit = HIT.objects.get()
    assert (hit.gone_at, hit.missing_since, Assignment.objects.count()) == (None, None, 1)


def a_day_later() -> None:
    for hit in HIT.objects.exclude(gone_at=None):
        HIT.objects.filter(pk=hit.pk).update(gone_at=hit.gone_at - timedelta(days=1))  # type: ignore[operator]


def test_it_is_asked_about_once_a_day_until_nothing_could_be_shown(
    claimed: Questionnaire, site: Site
) -> None:
    end(site)
    for _ in range(2):
        a_day_later()
        assert n_asked(site, sweeps=3) == 1
    HIT.objects.update(created_at=timezone.now() - timedelta(days=120))
    a_day_later()
    assert n_asked(site, sweeps=3) == 0


def test_one_that_answers_again_is_no_longer_gone(site: Site) -> None:
    """Wrong keys for an hour: what came in meanwhile is fetched and decided, and nothing is said any more."""
    questionnaire = open_study(site)
    forget(site)
    end(site)
    work(site, questionnaire)
    site.wire.heal()
    assert n_asked(site) == 0
    a_day_later()
    sync.sweep()
    hit, batch = HIT.objects.get(), Batch.objects.get()
    assert (hit.gone_at, hit.missing_since, batch.error) == (None, None, "")
    assert Assignment.objects.get().status == "Approved"


def test_work_of_who_was_purged_meanwhile_is_still_decided_once_its_hit_answers(site: Site) -> None:
    """Nobody new is made of the id that the marketplace goes on naming, and it does not come back."""
    questionnaire = open_study(site, rejects_automatically=False)
    work(site, questionnaire, n_correct=1)
    sync.sweep()
    worker_id = Worker.objects.get().worker_id
    assert Assignment.objects.get().status == "Submitted"
    forget(site)
    end(site)
    stopping.stop(questionnaire.batch)
    assert purging.purge(timezone.now() + timedelta(days=1)).n_purged == 1
    site.wire.heal()
    a_day_later()
    sync.sweep()
    decisions.approve(Assignment.objects.get(), by=User.objects.create_user("ada"))
    sync.sweep()
    assert Assignment.objects.get().status == "Approved"
    assert [worker.worker_id for worker in Worker.objects.all()] == [f"purged:{pseudonym(worker_id)}"]
    assert cells_with(worker_id) == []


# -- All at once ---------------------------------------------------------------------------------------------------


def test_where_all_hits_are_missing_at_once_none_is_taken_for_gone(site: Site, settings: Any) -> None:
    """The keys of another account stand in the settings: it knows none of ours."""
    settings.ALARM_RECIPIENTS = ["lab@example.org"]
    questionnaires = [open_study(site) for _ in range(3)]
    work(site, questionnaires[0])
    forget(site)
    end(site)
    assert list(HIT.objects.values_list("gone_at", flat=True)) == [None] * 3
    assert set(Batch.objects.values_list("error", flat=True)) == {gone.STRANGE}
    sync.send_alarms()
    Alarm.objects.update(seen_at=timezone.now() - alarms.STANDING_FOR)
    for _ in range(3):
        sync.sweep()
    assert len(mail.outbox) == 3
    site.wire.heal()
    sync.sweep()
    assert set(HIT.objects.values_list("missing_since", "gone_at")) == {(None, None)}
    assert set(Batch.objects.values_list("error", flat=True)) == {""}
    assert [row.status for row in Assignment.objects.all()] == ["Approved"]


def test_one_of_several_that_is_missing_is_gone(site: Site) -> None:
    first, second = open_study(site), open_study(site)
    assert first.hit is not None
    marketplace.HIT.objects.filter(hit_id=first.hit.hit_id).update(hit_id="3FORGOTTEN")
    HIT.objects.update(created_at=timezone.now() - HOUR)  # a new one may not be listed yet
    end(site)
    assert [hit.gone_at is None for hit in HIT.objects.order_by("pk")] == [False, True]
    assert Batch.objects.get(pk=second.batch_id).error == ""


def test_hits_that_are_too_old_to_be_shown_are_gone_together(site: Site) -> None:
    for _ in range(2):
        open_study(site)
    forget(site)
    end(site)
    assert HIT.objects.filter(gone_at=None).count() == 2
    HIT.objects.update(created_at=timezone.now() - timedelta(days=121))
    sync.sweep()
    assert HIT.objects.filter(gone_at=None).count() == 0
    assert [batch.error[:15] for batch in Batch.objects.all()] == ["There is no HIT"] * 2


def test_one_that_is_shown_again_within_the_hour_is_not_gone(site: Site) -> None:
    open_study(site)
    forget(site)
    sync.sweep()
    site.wire.heal()
    sync.sweep()
    let_pass(HOUR)
    assert (HIT.objects.get().missing_since, HIT.objects.get().gone_at, Batch.objects.get().error) == (
        None,
        None,
        "",
    )


def test_nothing_is_bought_or_asked_for_a_hit_that_is_gone(site: Site) -> None:
    """An assignment more may have been bought when the answer was lost: it is not bought again on another HIT."""
    questionnaire = open_study(site, assignments_per_hit=3)
    work(site, questionnaire, n_correct=0)
    site.wire.lose.add("CreateAdditionalAssignmentsForHIT")
    sync_study(site, questionnaire)
    site.wire.heal()
    Call.objects.filter(state__in=["sent", "unknown"]).update(sent_at=timezone.now() - timedelta(days=2))
    forget(site)
    end(site)
    held = site.held()
    site.wire.calls.clear()
    for _ in range(3):
        sync.sweep()
    assert (site.wire.calls["GetHIT"], site.wire.calls["CreateHITWithHITType"], site.held()) == (0, 0, held)
    extension = Call.objects.get(operation=Call.Operation.EXTEND)
    assert (extension.state, extension in journal.unsettled()) == ("unknown", True)


def test_it_is_not_expired_either(site: Site) -> None:
    questionnaire = open_study(site)
    forget(site)
    end(site)
    assert stopping.stop(questionnaire.batch)
    assert stopping.in_flight(Batch.objects.get()).n_unseen == 0
    site.wire.calls.clear()
    sync.sweep()
    assert dict(site.wire.calls) == {}


def test_what_came_by_link_is_still_decided(site: Site) -> None:
    questionnaire = open_study(site, takes_links=True)
    forget(site)
    end(site)
    now = timezone.now()
    made = make_assignment(
        hit=again(questionnaire).hit, channel=Channel.LINK, status="Submitted", submitted_at=now
    )
    site.wire.calls.clear()
    sync.sweep()
    assert (Assignment.objects.get(pk=made.pk).decision.verdict != "", dict(site.wire.calls)) == (True, {})
