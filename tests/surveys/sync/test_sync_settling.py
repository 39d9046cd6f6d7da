"""The sweep settles what no other step repeats, and opens nothing that is not wanted any more."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotators.models import HIT, Assignment, Call
from annotators.outbox import market
from annotators.outbox.journal import SHOWN_WITHIN, unsettled
from marketplace import models as marketplace
from surveys import sync
from surveys.models import Batch
from surveys.publishing import questionnaires, stopping
from tests.factories import make_draft, make_survey
from tests.market_site import Site, eager, site, wire
from tests.market_study import open_study, sync_study, work

__all__ = ["eager", "site", "wire"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("eager")]


@pytest.fixture(autouse=True)
def _sync_at_once(settings: Any) -> None:
    settings.SYNC_EVERY_SECONDS = 0


def let_time_pass() -> None:
    Call.objects.filter(state__in=["sent", "unknown"]).update(sent_at=timezone.now() - SHOWN_WITHIN)


def states() -> list[tuple[str, str]]:
    return list(Call.objects.order_by("pk").values_list("operation", "state"))


def test_a_decision_on_a_hit_that_is_settled_otherwise(site: Site) -> None:
    """Carried out, its answer lost; the sync learns that from the status and has no reason to repeat the call."""
    questionnaire = open_study(site)
    work(site, questionnaire)
    site.wire.lose.add("ApproveAssignment")
    sync_study(site, questionnaire)
    site.wire.heal()
    sent = site.wire.calls["ApproveAssignment"]
    sync_study(site, questionnaire)
    assert Assignment.objects.get().status == "Approved"
    assert states()[-1] == ("ApproveAssignment", "unknown")
    sync.sweep()
    assert (states()[-1], site.wire.calls["ApproveAssignment"]) == (("ApproveAssignment", "done"), sent)


def test_a_decision_that_never_arrived_is_sent(site: Site) -> None:
    questionnaire = open_study(site)
    work(site, questionnaire)
    site.wire.block.add("ApproveAssignment")
    sync_study(site, questionnaire)
    site.wire.heal()
    sync.settle_calls()
    assert (states()[-1], Assignment.objects.get().status) == (("ApproveAssignment", "done"), "Approved")


def test_a_stopped_batch_gets_no_hit_that_was_never_made(site: Site) -> None:
    batch = make_draft(make_survey(n_items=5))
    questionnaires.start_publishing(batch)
    site.wire.block.add("CreateHITWithHITType")
    sync.publish_batch(batch.pk)
    stopping.stop(batch)
    site.wire.heal()
    sent = site.wire.calls["CreateHITWithHITType"]
    for _ in range(2):
        sync.sweep()
        assert states() == [("CreateHITWithHITType", "unknown")]
        let_time_pass()
        sync.sweep()
        assert (states(), marketplace.HIT.objects.count()) == ([("CreateHITWithHITType", "planned")], 0)
        Call.objects.update(state="unknown", sent_at=timezone.now())
    assert (site.wire.calls["CreateHITWithHITType"], Batch.objects.get().status) == (sent, "stopped")


def test_a_stop_whose_answers_are_lost_ends_with_nothing_open(site: Site) -> None:
    questionnaire = open_study(site)
    stopping.stop(questionnaire.batch)
    site.wire.block.add("UpdateExpirationForHIT")
    sync.expire_batch(questionnaire.batch_id)
    site.wire.heal()
    assert states()[-1] == ("UpdateExpirationForHIT", "unknown")
    sync.sweep()
    sync.sweep()
    assert (list(unsettled()), HIT.objects.get().expires_at <= timezone.now()) == ([], True)
    assert marketplace.HIT.objects.get().expires_at <= timezone.now()


def test_an_old_wish_to_keep_a_hit_open_does_not_undo_a_stop(site: Site) -> None:
    questionnaire = open_study(site)
    assert questionnaire.hit is not None
    site.wire.block.add("UpdateExpirationForHIT")
    market.move_expiration(questionnaire.hit, when=timezone.now() + timedelta(days=5), gateway=site.gateway)
    site.wire.heal()
    stopping.stop(questionnaire.batch)
    sync.expire_batch(questionnaire.batch_id)
    sync.sweep()
    assert [state for operation, state in states() if operation == "UpdateExpirationForHIT"] == [
        "refused",
        "done",
    ]
    assert marketplace.HIT.objects.get().expires_at <= timezone.now()
