"""Our books beside the marketplace's: what it has and we don't, what we have and it hasn't, sums that differ.

After a restore nothing is sent until a person has looked at this. Reading is all that comparing does.
"""

import logging
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.mail import EmailMessage
from django.urls import reverse
from django.utils import timezone

from annotators.crowds.mturk.gateway import Gateway, HITRecord, MarketError
from annotators.crowds.mturk.mirror import mirror_hit
from annotators.models import HIT, Assignment, Call, Channel, Endpoint, HITType, Hold
from annotators.outbox import holds
from surveys.models import Batch, Questionnaire, create_token
from surveys.publishing import hits, questionnaires

OURS = (
    create_token(uuid.UUID(int=0)).partition(":")[0] + ":"
)  # what the annotation of a HIT of ours begins with
logger = logging.getLogger(__name__)
Row = dict[str, Any]


class CannotSettle(Exception):
    """A difference can't be settled that way; the message says why."""


def hold_after_restore() -> None:
    """Hold sending, where anything could be sent: with people by link alone there are no books but ours."""
    if endpoints():
        holds.begin("A backup was restored.")


def endpoints() -> list[str]:
    """Return the marketplaces that HITs of ours are on, or drafts are meant for."""
    used = {
        *HITType.objects.values_list("endpoint", flat=True),
        *Batch.objects.values_list("endpoint", flat=True),
    }
    return sorted(used - {Endpoint.LINK.value})


def compare() -> list[Row]:
    """Compare all accounts with our tables, and keep what was found with the hold that stands.

    Each row says `kind`, `endpoint`, `hit_id` and, in words, `text`; a kind of "unread" is an account without answer.
    """
    found = [row for endpoint in endpoints() for row in _of_account(endpoint)]
    if not any(row["kind"] == "unread" for row in found):
        Hold.objects.filter(released_at=None).update(compared_at=timezone.now())
    Hold.objects.filter(released_at=None).update(books={"rows": found})
    return found


def release(*, by: str, uncompared: bool = False) -> bool:
    """End the hold in somebody's name. Raises CannotSettle where the books were not compared since it began."""
    hold = holds.current()
    if hold is None:
        return False
    if hold.compared_at is None and not uncompared:
        raise CannotSettle("The books have not been compared since the restore.")
    logger.info("Sending goes on after a restore, says %s.", by)
    return holds.release(by=by) > 0


def remind() -> int:
    """Mail once that sending is held; who is named in the settings for alarms is told."""
    mine = Hold.objects.filter(released_at=None, mailed_at=None)
    if not settings.ALARM_RECIPIENTS or not mine.update(mailed_at=timezone.now()):
        return 0
    body = f"{holds.HELD}\n\n{settings.APP_URL}{reverse('books')}\n"
    try:
        return EmailMessage("[Assent] Sending is held", body, to=settings.ALARM_RECIPIENTS).send()
    except (OSError, ValueError):
        Hold.objects.filter(released_at=None).update(mailed_at=None)
        return 0


def _of_account(endpoint: str) -> Iterator[Row]:
    try:
        gateway = Gateway(endpoint)
        there = {record.hit_id: record for record in gateway.list_hits()}
        yield from _hits(endpoint, there)
        for hit in _known(endpoint):
            if hit.hit_id in there:
                yield from _work(hit, gateway=gateway)
    except MarketError as error:
        yield _row("unread", endpoint, "", f"The account can't be read: {error}")


def _hits(endpoint: str, there: dict[str, HITRecord]) -> Iterator[Row]:
    here = {hit.hit_id: hit for hit in _known(endpoint)}
    for record in there.values():
        if record.hit_id not in here and record.requester_annotation.startswith(OURS):
            yield _unknown(endpoint, record)
    horizon = timezone.now() - holds.SHOWN_FOR
    for hit in here.values():
        if hit.hit_id in there:
            yield from _size(hit, there[hit.hit_id])
        elif hit.status != HIT.Status.DISPOSED and hit.created_at > horizon:
            yield _row("missing", endpoint, hit.hit_id, "We have this HIT, and the marketplace has not.")


def _known(endpoint: str) -> list[HIT]:
    return list(HIT.objects.filter(hit_type__endpoint=endpoint).select_related("hit_type").order_by("pk"))


def _unknown(endpoint: str, record: HITRecord) -> Row:
    state = "open" if record.expires_at > timezone.now() else "expired"
    batch = _batch_of(record)
    text = f"The marketplace has this {state} HIT of {record.max_assignments} assignments, and we have not. "
    text += (
        f"It is one of batch {batch.pk}: adopt it."
        if batch
        else "No batch here is what it was made of: expire it."
    )
    row = _row("unknown", endpoint, record.hit_id, text)
    return {**row, "batch": batch.pk if batch else None, "is_open": state == "open"}


def _size(hit: HIT, record: HITRecord) -> Iterator[Row]:
    if hit.max_assignments != record.max_assignments:
        text = f"It has {record.max_assignments} assignments there, and {hit.max_assignments} here."
        yield _row("size", hit.endpoint, hit.hit_id, text)


def _work(hit: HIT, *, gateway: Gateway) -> Iterator[Row]:
    listed = {record.assignment_id: record.status for record in gateway.list_assignments(hit.hit_id)}
    of_market = Assignment.objects.filter(hit=hit, channel=Channel.MARKETPLACE)
    ours = of_market.exclude(status=Assignment.Status.ACCEPTED)
    here = dict(ours.values_list("assignment_id", "status"))
    n_new = len(listed.keys() - here.keys())
    n_gone = len(here.keys() - listed.keys())
    n_other = sum(listed[key] != here[key] for key in listed.keys() & here.keys())
    if n_new or n_other:
        text = f"{n_new} assignments there are new to us, {n_other} have another status; the next sync fetches them."
        yield _row("work", hit.endpoint, hit.hit_id, text)
    if n_gone:
        yield _row("gone", hit.endpoint, hit.hit_id, f"{n_gone} assignments handed in here are not there.")
    yield from _bonuses(hit, gateway=gateway)


def _bonuses(hit: HIT, *, gateway: Gateway) -> Iterator[Row]:
    there = sum((bonus.amount for bonus in gateway.list_bonuses_of_hit(hit.hit_id)), Decimal("0.00"))
    done = Call.objects.filter(assignment__hit=hit, operation=Call.Operation.BONUS, state=Call.State.DONE)
    here = sum(
        (Decimal(given["amount"]) for given in done.values_list("arguments", flat=True)), Decimal("0.00")
    )
    if there != here:
        text = f"Bonuses of ${there:.2f} were paid there; our ledger has ${here:.2f}."
        yield _row("bonuses", hit.endpoint, hit.hit_id, text)


def _row(kind: str, endpoint: str, hit_id: str, text: str) -> Row:
    return {"kind": kind, "endpoint": endpoint, "hit_id": hit_id, "text": text}


def _key_of(record: HITRecord) -> uuid.UUID | None:
    try:
        return uuid.UUID(record.requester_annotation.removeprefix(OURS))
    except ValueError:
        return None


def _batch_of(record: HITRecord) -> Batch | None:
    """Return the batch a HIT belongs to: a published one, or the draft that publishing would make it of."""
    key = _key_of(record)
    questionnaire = Questionnaire.objects.filter(pk=key).select_related("batch").first() if key else None
    if questionnaire:
        return questionnaire.batch
    drafts = Batch.objects.filter(status=Batch.Status.DRAFT).select_related("survey")
    return next((draft for draft in drafts if key in questionnaires.keys(draft)), None)


def adopt(endpoint: str, hit_id: str, *, by: AbstractBaseUser | AnonymousUser | None) -> Batch:
    """Take a HIT over with all others of its batch, which is published by that if it was a draft.

    Nothing is bought: what the marketplace has is written down. Raises CannotSettle, MarketError.
    """
    gateway = Gateway(endpoint)
    batch = _batch_of(gateway.get_hit(hit_id))
    if batch is None:
        raise CannotSettle("No batch or draft here is what this HIT was made of. It can be expired.")
    try:
        questionnaires.start_publishing(batch, by=by)
    except questionnaires.CannotPublish as error:
        raise CannotSettle(str(error)) from error
    batch.refresh_from_db()
    if batch.hit_type is None:
        hits.register_hit_type(batch, gateway=gateway)
    there = {record.requester_annotation for record in gateway.list_hits()}
    for questionnaire in batch.questionnaires.filter(hit=None).select_related("batch__hit_type"):
        if create_token(questionnaire.pk) in there:
            hits.take_over(questionnaire, gateway=gateway)
    hits.finish_publishing(batch)
    return batch


def expire(endpoint: str, hit_id: str, *, by: str) -> None:
    """Let nobody take a HIT that we do not know any more. Raises CannotSettle for one that we know, MarketError."""
    if HIT.objects.filter(hit_id=hit_id, hit_type__endpoint=endpoint).exists():
        raise CannotSettle("This HIT is known here: stop its batch instead.")
    Gateway(endpoint).expire_at(hit_id, when=timezone.now())
    logger.info("HIT %s, unknown here, was expired on %s, says %s.", hit_id, endpoint, by)


def take_size(endpoint: str, hit_id: str) -> None:
    """Let our number of a HIT's assignments be the marketplace's, also where that is smaller. Raises MarketError."""
    hit = HIT.objects.get(hit_id=hit_id, hit_type__endpoint=endpoint)
    record = Gateway(endpoint).get_hit(hit_id)
    HIT.objects.filter(pk=hit.pk, max_assignments=hit.max_assignments).update(
        max_assignments=record.max_assignments
    )
    mirror_hit(hit, record)
