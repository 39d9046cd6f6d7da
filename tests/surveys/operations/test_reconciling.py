"""After a restore nothing is sent until a person has compared our books with the marketplace's."""

import getpass
import io
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotators.crowds.mturk.gateway import Gateway, HITRecord
from annotators.crowds.mturk.leases import lease
from annotators.models import HIT, Assignment, Call, Hold
from annotators.outbox import holds, market
from marketplace import models as marketplace
from marketplace.money import audit
from surveys import sync
from surveys.models import Batch, Questionnaire, create_token
from surveys.operations import reconciling
from surveys.publishing import questionnaires
from tests.factories import make_draft, make_hit, make_hit_type, make_survey
from tests.link_people import make_batch
from tests.market_site import Site
from tests.market_study import again, max_assignments, open_study, statuses, sync_study, work
from tests.surveys.operations.restored_alone import publish, restore_alone

pytestmark = pytest.mark.django_db(transaction=True)
LISTING = 2  # calls: MTurk names a next page until that is empty


def kinds() -> list[str]:
    return sorted(row["kind"] for row in reconciling.compare())


def reconcile(*options: str) -> str:
    out = io.StringIO()
    call_command("reconcile", *options, stdout=out)
    return out.getvalue()


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


def n_listings(site: Site, *, while_publishing: int) -> int:
    """Publish new batches of two HITs, and return how often that read the whole account."""
    site.wire.calls.clear()
    for _ in range(while_publishing):
        publish(make_draft(make_survey(n_items=10)), site)
    assert site.wire.calls["CreateHITWithHITType"] == 2 * while_publishing
    return site.wire.calls["ListHITs"] // LISTING


def test_after_a_restore_publishing_does_not_read_the_account_again(
    twice: Batch, site: Site, eager: None
) -> None:
    reconcile("--adopt", "--release")
    assert n_listings(site, while_publishing=3) == 0


def test_an_account_that_nobody_compared_is_read_once_for_all_that_is_published(
    twice: Batch, site: Site, eager: None
) -> None:
    reconcile("--release", "--uncompared")
    assert (n_listings(site, while_publishing=3), n_listings(site, while_publishing=1)) == (1, 0)
    marketplace.Token.objects.all().delete()
    site.wire.calls.clear()
    assert publish(twice, site).status == "open"
    assert (site.wire.calls["ListHITs"], site.wire.calls["CreateHITWithHITType"]) == (0, 0)


def test_what_was_listed_at_once_is_read_again_when_tokens_are_forgotten(
    twice: Batch, site: Site, eager: None
) -> None:
    """A HIT made in the minute before the restore may not be listed a minute after it."""
    marketplace.HIT.objects.update(annotation="not listed yet")
    reconcile("--release")
    for n, questionnaire in enumerate(questionnaires.keys(twice)):
        of_hit = marketplace.HIT.objects.order_by("pk")[n : n + 1]
        marketplace.HIT.objects.filter(pk__in=list(of_hit.values_list("pk", flat=True))).update(
            annotation=create_token(questionnaire)
        )
    marketplace.Token.objects.all().delete()
    age_hold(timedelta(hours=24))
    site.wire.calls.clear()
    assert publish(twice, site).status == "open"
    assert (marketplace.HIT.objects.count(), site.wire.calls["ListHITs"]) == (2, LISTING)
    assert n_listings(site, while_publishing=2) == 0


@pytest.fixture
def only_books_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the sync list no HITs, so that each list is a comparison's."""
    monkeypatch.setattr(sync.listing, "due", lambda *, now: [])


@pytest.mark.usefixtures("only_books_are_read")
def test_what_was_planned_before_the_backup_does_not_read_the_account_for_each_hit(
    site: Site, archive: Callable[[], Path], eager: None
) -> None:
    draft = make_draft(make_survey(n_items=10))
    holds.begin("A backup was restored.")
    publish(draft, site)
    holds.release(by="ada")
    assert list(Call.objects.values_list("state", "attempts")) == [("planned", 0)] * 2
    Call.objects.update(created_at=timezone.now() - timedelta(days=2))
    restore_alone(archive(), is_held=True)
    site.wire.calls.clear()
    sync.sweep()
    assert site.wire.calls["ListHITs"] == 1  # the comparison's own, of an account without a HIT
    reconciling.release(by="ada")
    sync.sweep()
    assert (site.wire.calls["ListHITs"], site.wire.calls["CreateHITWithHITType"]) == (1, 2)
    assert Batch.objects.get().status == "open"


def age_hold(age: timedelta) -> None:
    """Let the restore, and what was read after it, lie back."""
    hold = Hold.objects.get()
    read_at = datetime.fromisoformat(hold.listings["embedded"]["read_at"]) - age
    hold.listings["embedded"]["read_at"] = read_at.isoformat()
    Hold.objects.update(began_at=hold.began_at - age, listings=hold.listings)


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
    now, other = timezone.now(), make_hit(hit_type=hit.hit_type)
    for hours in (1, 2, 3):
        for one in (hit, other):
            market.move_expiration(one, when=now + timedelta(hours=hours), gateway=site.gateway)
    waiting = Call.objects.filter(operation=Call.Operation.EXPIRE).order_by("pk")
    assert list(waiting.values_list("hit", flat=True)) == [hit.pk, other.pk]
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


@pytest.mark.parametrize("is_known", [True, False])
def test_an_account_that_is_gone_or_taken_from_the_settings_does_not_hide_the_others(
    site: Site, settings: Any, archive: Callable[[], Path], is_known: bool
) -> None:
    open_study(site)
    make_hit_type(endpoint="production")
    gone = {
        "production": {
            "endpoint_url": "http://127.0.0.1:9",
            "aws_access_key_id": "a",
            "aws_secret_access_key": "b",
        }
    }
    settings.MTURK_ENDPOINTS = {**settings.MTURK_ENDPOINTS, **(gone if is_known else {})}
    if not is_known:
        del settings.MTURK_ENDPOINTS["production"]
    restore_alone(archive(), is_held=True)
    HIT.objects.update(max_assignments=8)
    assert [(row["kind"], row["endpoint"]) for row in reconciling.compare()] == [
        ("size", "embedded"),
        ("unread", "production"),
    ]
    assert Hold.objects.get().compared_at is None


def test_a_draft_that_cannot_be_worked_out_is_named_and_the_others_are_compared(
    twice: Batch, site: Site
) -> None:
    broken = make_draft(make_survey(n_items=1))
    type(broken.survey).objects.filter(pk=broken.survey_id).update(definition_key="gone")
    rows = reconciling.compare()
    assert [(row["kind"], row.get("batch")) for row in rows] == [
        ("unknown", twice.pk),
        ("unknown", twice.pk),
        ("unread", broken.pk),
    ]


@pytest.mark.usefixtures("only_books_are_read")
def test_a_sweep_compares_again_after_a_quarter_of_an_hour_and_not_before(
    site: Site, archive: Callable[[], Path], eager: None
) -> None:
    open_study(site)
    restore_alone(archive(), is_held=True)
    site.wire.block.add("ListHITs")

    def n_listings() -> int:
        site.wire.calls.clear()
        sync.sweep()
        return min(site.wire.calls["ListHITs"], 1)  # botocore repeats what is not answered

    assert [n_listings(), n_listings(), n_listings()] == [1, 0, 0]
    Hold.objects.update(tried_at=timezone.now() - timedelta(minutes=14))
    assert n_listings() == 0
    Hold.objects.update(tried_at=timezone.now() - timedelta(minutes=16))
    assert [n_listings(), n_listings()] == [1, 0]
    site.wire.heal()
    Hold.objects.update(tried_at=timezone.now() - timedelta(minutes=16))
    assert [n_listings(), n_listings()] == [1, 0]
    assert Hold.objects.get().compared_at is not None


def test_of_many_sweeps_that_waited_for_a_worker_one_compares(
    site: Site, archive: Callable[[], Path]
) -> None:
    open_study(site)
    restore_alone(archive(), is_held=True)
    site.wire.calls.clear()
    for _ in range(3):
        sync.compare_if_due()
    assert site.wire.calls["ListHITs"] == LISTING


def test_one_process_compares_at_a_time(site: Site, archive: Callable[[], Path]) -> None:
    open_study(site)
    restore_alone(archive(), is_held=True)
    hold = holds.current()
    assert hold is not None
    with lease(hold):
        site.wire.calls.clear()
        with pytest.raises(reconciling.BeingCompared):
            reconciling.compare()
        sync.compare_books()
        sync.compare_if_due()
        assert site.wire.calls["ListHITs"] == 0
    assert kinds() == []


def test_who_compared_for_an_earlier_restore_writes_nothing(
    site: Site, archive: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_study(site)
    restore_alone(archive(), is_held=True)
    listed = Gateway.list_hits

    def restored_meanwhile(gateway: Gateway) -> list[HITRecord]:
        records = listed(gateway)
        holds.begin("A backup was restored.")
        return records

    monkeypatch.setattr(Gateway, "list_hits", restored_meanwhile)
    with pytest.raises(reconciling.BeingCompared):
        reconciling.compare()
    hold = Hold.objects.get()
    assert (hold.compared_at, hold.tried_at, hold.books) == (None, None, {})


def test_what_publishing_makes_of_a_draft_is_worked_out_once_a_comparison(
    twice: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys, asked = questionnaires.keys, []

    def counted(draft: Batch) -> Any:
        asked.append(draft.pk)
        return keys(draft)

    monkeypatch.setattr(questionnaires, "keys", counted)
    assert (kinds(), asked) == (["unknown", "unknown"], [twice.pk])


def test_adopting_a_batch_lists_the_account_once(twice: Batch, site: Site) -> None:
    row = reconciling.compare()[0]
    site.wire.calls.clear()
    reconciling.adopt(row["endpoint"], row["hit_id"], by=None)
    read = {name: n for name, n in site.wire.calls.items() if name != "CreateHITType"}
    assert (HIT.objects.count(), read) == (2, {"ListHITs": LISTING})
    assert reconciling.compare() == []


def test_a_hit_of_somebody_else_on_the_same_account_is_not_shown_and_not_expired(
    twice: Batch, site: Site
) -> None:
    theirs = marketplace.HIT.objects.order_by("pk")[0]
    for annotation in ("create:no-key-of-ours", "somebody-else", ""):
        marketplace.HIT.objects.filter(pk=theirs.pk).update(annotation=annotation)
        assert kinds() == ["unknown"]
        with pytest.raises(reconciling.CannotSettle, match="not made by Assent"):
            reconciling.expire("embedded", theirs.hit_id, by="ada")
    assert marketplace.HIT.objects.get(pk=theirs.pk).expires_at > timezone.now()


def test_sending_goes_on_at_once_where_somebody_at_the_server_says_so(
    site: Site, archive: Callable[[], Path]
) -> None:
    open_study(site)
    restore_alone(archive(), is_held=True)
    site.wire.calls.clear()
    assert reconcile("--release", "--uncompared").splitlines() == ["sending: not held"]
    assert (site.wire.calls["ListHITs"], holds.current()) == (0, None)


def test_a_hit_that_is_known_here_is_not_expired_as_unknown(site: Site) -> None:
    questionnaire = open_study(site)
    hit = again(questionnaire).hit
    assert hit is not None
    with pytest.raises(reconciling.CannotSettle):
        reconciling.expire("embedded", hit.hit_id, by="ada")


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
