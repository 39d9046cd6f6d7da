"""After a restore nothing is sent until a person has compared our books with the marketplace's."""

import getpass
import io
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from annotators.models import HIT, Assignment, Call, Hold
from annotators.outbox import holds, market
from marketplace import models as marketplace
from marketplace.money import audit
from surveys import sync
from surveys.models import Batch, Questionnaire
from surveys.operations import reconciling
from surveys.operations.backups.making import backup
from surveys.publishing import hits, questionnaires
from tests.factories import make_draft, make_survey
from tests.link_people import make_batch
from tests.market_site import Site
from tests.market_study import again, max_assignments, open_study, statuses, sync_study, work
from tests.people import client_of
from tests.surveys.operations.restored_alone import restore_alone

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def archive(tmp_path: Path) -> Callable[[], Path]:
    def make() -> Path:
        backup(tmp_path / "all.zip")
        return tmp_path / "all.zip"

    return make


def publish(batch: Batch, site: Site) -> Batch:
    """Publish a draft as its page and the tasks do."""
    questionnaires.start_publishing(batch)
    sync.publish_batch(batch.pk)
    for pk in hits.to_publish(Batch.objects.get(pk=batch.pk)):
        sync.publish_questionnaire(str(pk))
    return Batch.objects.get(pk=batch.pk)


def kinds() -> list[str]:
    return sorted(row["kind"] for row in reconciling.compare())


def reconcile(*options: str) -> str:
    out = io.StringIO()
    call_command("reconcile", *options, stdout=out)
    return out.getvalue()


@pytest.fixture
def twice(site: Site, archive: Callable[[], Path], eager: None) -> Batch:
    """A draft of two HITs that was published after the backup, and is a draft again."""
    draft = make_draft(make_survey(n_items=10), assignments_per_hit=2)
    made = archive()
    publish(draft, site)
    assert marketplace.HIT.objects.count() == 2
    restore_alone(made, is_held=True)
    return Batch.objects.get()


def test_a_batch_published_after_the_backup_is_not_published_twice(twice: Batch, site: Site) -> None:
    held = site.held()
    assert (publish(twice, site).status, marketplace.HIT.objects.count()) == ("publishing", 2)
    assert Call.objects.filter(state="done").count() == 0
    with pytest.raises(reconciling.CannotSettle, match="have not been compared"):
        reconciling.release(by="ada")
    reconcile("--adopt", "--release")
    sync.sweep()
    assert (marketplace.HIT.objects.count(), HIT.objects.count(), site.held()) == (2, 2, held)
    assert Batch.objects.get().status == "open"


def test_its_hits_are_found_by_publishing_though_their_tokens_are_forgotten(twice: Batch, site: Site) -> None:
    marketplace.Token.objects.all().delete()
    assert kinds() == ["unknown", "unknown"]
    assert reconciling.release(by="ada")
    assert publish(twice, site).status == "open"
    assert (marketplace.HIT.objects.count(), HIT.objects.count()) == (2, 2)


def test_a_draft_that_was_changed_since_gets_hits_of_its_own_and_the_others_are_expired(
    twice: Batch, site: Site
) -> None:
    Batch.objects.update(reward=Decimal("0.50"))
    assert [row["batch"] for row in reconciling.compare()] == [None, None]
    out = reconcile("--adopt", "--expire", "--release")
    assert "differences: 2" in out
    assert "sending: not held" in out
    assert marketplace.HIT.objects.filter(expires_at__lte=timezone.now()).count() == 2
    assert publish(Batch.objects.get(), site).status == "open"
    assert marketplace.HIT.objects.count() == 4


def test_work_done_meanwhile_comes_in_once_the_hits_are_adopted(twice: Batch, site: Site) -> None:
    theirs = marketplace.HIT.objects.order_by("pk")[0]
    reconcile("--adopt", "--release")
    questionnaire = Questionnaire.objects.get(hit__hit_id=theirs.hit_id)
    work(site, questionnaire)
    sync_study(site, questionnaire)
    assert (statuses(questionnaire), audit.report()["is_sound"]) == (["Approved"], True)


def test_nothing_is_sent_while_it_is_held(site: Site, archive: Callable[[], Path]) -> None:
    questionnaire = open_study(site, assignments_per_hit=3)
    work(site, questionnaire)
    work(site, questionnaire, n_correct=0)
    restore_alone(archive(), is_held=True)
    sync_study(site, questionnaire)
    sending = ("ApproveAssignment", "RejectAssignment", "CreateAdditionalAssignmentsForHIT", "SendBonus")
    assert [site.wire.calls[operation] for operation in sending] == [0, 0, 0, 0]
    waiting = Call.objects.exclude(state="done")
    assert set(waiting.values_list("state", "error")) == {("planned", holds.HELD)}
    reconciling.compare()
    reconciling.release(by="ada")
    sync_study(site, questionnaire)
    assert (statuses(questionnaire), max_assignments(questionnaire)) == (["Approved", "Rejected"], 4)


def test_a_hit_is_ended_also_while_sending_is_held(site: Site, archive: Callable[[], Path]) -> None:
    """It costs nothing, and whoever stops a batch must not go on paying. What keeps a HIT open waits, in one call."""
    hit = again(open_study(site, assignments_per_hit=3)).hit
    restore_alone(archive(), is_held=True)
    now = timezone.now()
    for hours in (1, 2, 3):
        market.move_expiration(hit, when=now + timedelta(hours=hours), gateway=site.gateway)
    assert Call.objects.filter(operation=Call.Operation.EXPIRE).count() == 1
    assert site.wire.calls["UpdateExpirationForHIT"] == 0
    ended = market.move_expiration(hit, when=now - timedelta(hours=1), gateway=site.gateway)
    assert (ended.state, site.wire.calls["UpdateExpirationForHIT"]) == ("done", 1)
    assert marketplace.HIT.objects.get(hit_id=hit.hit_id).expires_at < timezone.now()


def test_every_difference_is_named(site: Site, archive: Callable[[], Path]) -> None:
    questionnaire = open_study(site, assignments_per_hit=3)
    work(site, questionnaire)
    sync_study(site, questionnaire)
    made = archive()
    assignment = Assignment.objects.get()
    site.gateway.send_bonus(
        assignment.assignment_id,
        worker_id=assignment.worker.worker_id,
        amount=Decimal("0.50"),
        reason="Thanks.",
        token="b",
    )
    work(site, questionnaire)
    restore_alone(made, is_held=True)
    HIT.objects.update(max_assignments=8)
    lost = HIT.objects.create(
        hit_type=HIT.objects.get().hit_type,
        hit_id="3LOST",
        max_assignments=1,
        created_at=timezone.now(),
        expires_at=timezone.now() + timedelta(days=1),
    )
    rows = {row["kind"]: row["text"] for row in reconciling.compare()}
    assert rows == {
        "missing": "We have this HIT, and the marketplace has not.",
        "size": "It has 3 assignments there, and 8 here.",
        "work": "1 assignments there are new to us, 0 have another status; the next sync fetches them.",
        "bonuses": "Bonuses of $0.50 were paid there; our ledger has $0.00.",
    }
    reconcile("--sizes")
    assert HIT.objects.exclude(pk=lost.pk).get().max_assignments == 3


def test_books_that_agree_take_one_confirmation(site: Site, archive: Callable[[], Path]) -> None:
    open_study(site)
    restore_alone(archive(), is_held=True)
    assert reconcile("--release").splitlines() == ["differences: 0", "sending: not held"]
    assert Hold.objects.get().released_by == getpass.getuser()


def test_without_a_marketplace_nothing_is_held(archive: Callable[[], Path]) -> None:
    make_batch()
    restore_alone(archive(), is_held=True)
    assert holds.current() is None


def test_an_account_without_an_answer_is_not_compared(site: Site, archive: Callable[[], Path]) -> None:
    open_study(site)
    restore_alone(archive(), is_held=True)
    site.wire.block.add("ListHITs")
    assert kinds() == ["unread"]
    with pytest.raises(CommandError, match="have not been compared"):
        reconcile("--release")
    assert "sending: not held" in reconcile("--release", "--uncompared")


def test_a_hit_that_is_known_here_is_not_expired_as_unknown(site: Site) -> None:
    questionnaire = open_study(site)
    hit = again(questionnaire).hit
    assert hit is not None
    with pytest.raises(reconciling.CannotSettle):
        reconciling.expire("embedded", hit.hit_id, by="ada")


def test_a_person_looks_adopts_and_lets_it_go_on_by_the_page(twice: Batch, site: Site, settings: Any) -> None:
    client = client_of("Researcher")
    client.defaults["HTTP_HOST"] = "127.0.0.1"
    act = reverse("settle_books")
    client.post(act, {"action": "release"})
    assert holds.current() is not None
    client.post(act, {"action": "compare"})
    page = client.get(reverse("books")).content.decode()
    assert page.count("Adopt</button>") == 2
    row = holds.current().books["rows"][0]  # type: ignore[union-attr]
    client.post(act, {"action": "adopt", "endpoint": row["endpoint"], "hit_id": row["hit_id"]})
    assert "the books agree" in client.get(reverse("books")).content.decode()
    assert "Sending is held" in client.get(twice.get_absolute_url()).content.decode()
    client.post(act, {"action": "release"})
    assert (holds.current(), Hold.objects.get().released_by != "") == (None, True)
    assert (Batch.objects.get().status, marketplace.HIT.objects.count()) == ("open", 2)


def test_who_is_to_be_alarmed_is_mailed_once(site: Site, settings: Any) -> None:
    settings.ALARM_RECIPIENTS = ["lab@example.org"]
    open_study(site)
    reconciling.hold_after_restore()
    sync.send_alarms()
    sync.send_alarms()
    assert [message.subject for message in mail.outbox] == ["[Assent] Sending is held"]


def test_readyz_says_so(client: Any, site: Site) -> None:
    open_study(site)
    assert "sending" not in client.get("/readyz", headers={"host": "127.0.0.1"}).json()
    reconciling.hold_after_restore()
    assert client.get("/readyz", headers={"host": "127.0.0.1"}).json()["sending"] == holds.HELD
