"""Our books beside the marketplace's: what it has and we don't, what we have and it hasn't, sums that differ.

After a restore nothing is sent until a person has looked at this. Reading is all that comparing does.
"""

import logging
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from annotators.crowds.base import by_market, has_market
from annotators.crowds.mturk.gateway import Gateway, HITRecord, MarketError
from annotators.crowds.mturk.leases import TOO_FAR, Lease, LeaseLost, lease
from annotators.crowds.mturk.mirror import SHOWN_FOR, mirror_hit
from annotators.models import HIT, Assignment, Call, HITType, Hold
from annotators.outbox import holds
from surveys.models import Batch, Questionnaire, create_token
from surveys.publishing import hits, questionnaires
from surveys.teams import Person, sees

OURS = (
    create_token(uuid.UUID(int=0)).partition(":")[0] + ":"
)  # what the annotation of a HIT of ours begins with
TRY_EVERY = timedelta(minutes=15)  # an account that can't be read is asked again, by the sweep
logger = logging.getLogger(__name__)
Row = dict[str, Any]


class CannotSettle(Exception):
    """A difference can't be settled that way; the message says why."""


class BeingCompared(CannotSettle):
    """Another process compares at this moment, and what it finds is kept."""


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
    return sorted(filter(has_market, used))


def compare() -> list[Row]:
    """Compare all accounts with our tables, and keep what was found with the hold that stands.

    Each row says `kind`, `endpoint`, `hit_id` and, in words, `text`; a kind of "unread" is an account that did not
    answer, or a draft of which nobody can tell what publishing makes of it. Raises BeingCompared.
    """
    hold = holds.current()
    if hold is None:
        return _differences(lambda: None)
    with lease(hold) as held:
        if held is None:
            raise BeingCompared("The books are being compared by another process right now.")
        try:
            return _compared(held)
        except LeaseLost as error:
            raise BeingCompared(str(error)) from error


def compare_if_due() -> bool:
    """Compare where nobody has since the restore; where an account can't be read, again after TRY_EVERY.

    Of several tasks one does, and the others are told False.
    """
    hold = holds.current()
    if hold is None or not is_due(hold):
        return False
    unchanged = Hold.objects.filter(pk=hold.pk, tried_at=hold.tried_at, compared_at=None, released_at=None)
    if not unchanged.update(tried_at=timezone.now()):
        return False
    with suppress(BeingCompared):
        compare()
    return True


def is_due(hold: Hold) -> bool:
    """Tell whether a hold is to be compared without anybody asking; tried in the future: the clock was set back."""
    now = timezone.now()
    if hold.compared_at or is_being_compared(hold):
        return False
    return hold.tried_at is None or not now - TRY_EVERY < hold.tried_at <= now


def is_being_compared(hold: Hold) -> bool:
    """Tell whether a process reads the accounts at this moment."""
    now = timezone.now()
    return hold.leased_until is not None and now < hold.leased_until < now + TOO_FAR


def _compared(held: Lease[Hold]) -> list[Row]:
    """The hold was read before the lease was taken: what is written goes through the lease."""
    held.mine().update(tried_at=timezone.now())
    rows = _differences(held.renew)
    held.renew()
    now = timezone.now()
    is_whole = not any(row["kind"] == "unread" for row in rows)
    held.mine().update(books={"rows": rows}, tried_at=now, compared_at=now if is_whole else None)
    return rows


def _differences(before_call: Callable[[], None]) -> list[Row]:
    owners = _Owners(before_call)
    rows = [row for endpoint in endpoints() for row in _account(endpoint, owners, before_call)]
    return rows + owners.unread


def release(*, by: str, uncompared: bool = False) -> bool:
    """End the hold in somebody's name. Raises CannotSettle where the books were not compared since it began."""
    hold = holds.current()
    if hold is None:
        return False
    if hold.compared_at is None and not uncompared:
        raise CannotSettle("The books have not been compared since the restore, or not all of them.")
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


class _Owners:
    """Which batch a HIT of ours belongs to: a published one, or the draft that publishing would make it of.

    What publishing makes of the drafts is worked out once, when it is first asked for.
    """

    def __init__(self, before_draft: Callable[[], None] = lambda: None) -> None:
        self._before_draft = before_draft
        self.unread: list[Row] = []

    def of(self, record: HITRecord) -> Batch | None:
        """Return the batch, or None where nothing here is what the HIT was made of."""
        key = _key_of(record)
        if key is None:
            return None
        questionnaire = Questionnaire.objects.filter(pk=key).select_related("batch__survey").first()
        return questionnaire.batch if questionnaire else self._drafts.get(key)

    @cached_property
    def _drafts(self) -> dict[uuid.UUID, Batch]:
        drafts = Batch.objects.filter(status=Batch.Status.DRAFT).select_related("survey")
        return {key: draft for draft in drafts for key in self._keys(draft)}

    def _keys(self, draft: Batch) -> list[uuid.UUID]:
        """One draft that can't be worked out, whatever its file or protocol is like, does not hide the others."""
        self._before_draft()
        try:
            return questionnaires.keys(draft)
        except Exception as error:
            logger.exception("Draft %s can't be read.", draft.pk)
            text = f"The draft {draft.name} can't be read, so a HIT made of it would not be known: {error!r}"
            self.unread.append({**_row("unread", draft.endpoint, "", text), "batch": draft.pk})
            return []


def _account(endpoint: str, owners: _Owners, before_call: Callable[[], None]) -> list[Row]:
    """One account that can't be read, whatever is wrong with it or its settings, does not hide the others."""
    rows: list[Row] = []
    try:
        rows.extend(_of_account(Gateway(endpoint, before_call=before_call), owners))
    except LeaseLost:
        raise
    except MarketError as error:
        rows.append(_row("unread", endpoint, "", f"The account can't be read: {error}"))
    except Exception as error:
        logger.exception("The account on %s can't be read.", endpoint)
        rows.append(_row("unread", endpoint, "", f"The account can't be read: {error!r}"))
    return rows


def _of_account(gateway: Gateway, owners: _Owners) -> Iterator[Row]:
    hold, now = holds.last_restore(), timezone.now()
    there = {record.hit_id: record for record in gateway.list_hits()}
    if hold:
        ours = [record for record in there.values() if _key_of(record)]
        holds.keep_listing(hold, endpoint=gateway.endpoint, records=ours, read_at=now)
    yield from _hits(gateway.endpoint, there, owners)
    for hit in _known(gateway.endpoint):
        if hit.hit_id in there:
            yield from _work(hit, gateway=gateway)


def _hits(endpoint: str, there: dict[str, HITRecord], owners: _Owners) -> Iterator[Row]:
    here = {hit.hit_id: hit for hit in _known(endpoint)}
    for record in there.values():
        if record.hit_id not in here and _key_of(record):
            yield _unknown(endpoint, record, owners)
    horizon = timezone.now() - SHOWN_FOR
    for hit in here.values():
        if hit.hit_id in there:
            yield from _size(hit, there[hit.hit_id])
        elif hit.status != HIT.Status.DISPOSED and hit.created_at > horizon:
            yield _row("missing", endpoint, hit.hit_id, "We have this HIT, and the marketplace has not.")


def _known(endpoint: str) -> list[HIT]:
    return list(HIT.objects.filter(hit_type__endpoint=endpoint).select_related("hit_type").order_by("pk"))


def _unknown(endpoint: str, record: HITRecord, owners: _Owners) -> Row:
    state = "open" if record.expires_at > timezone.now() else "expired"
    batch = owners.of(record)
    text = f"The marketplace has this {state} HIT of {record.max_assignments} assignments, and we have not. "
    if batch:
        text += f"It is one of batch {batch.pk}: adopt it."
    elif owners.unread:
        text += "It may be of a draft that can't be read: look at that first, then expire it."
    else:
        text += "No batch here is what it was made of: expire it."
    row = _row("unknown", endpoint, record.hit_id, text)
    return {**row, "batch": batch.pk if batch else None, "is_open": state == "open"}


def _size(hit: HIT, record: HITRecord) -> Iterator[Row]:
    if hit.max_assignments != record.max_assignments:
        text = f"It has {record.max_assignments} assignments there, and {hit.max_assignments} here."
        yield _row("size", hit.endpoint, hit.hit_id, text)


def _work(hit: HIT, *, gateway: Gateway) -> Iterator[Row]:
    listed = {record.assignment_id: record.status for record in gateway.list_assignments(hit.hit_id)}
    of_market = Assignment.objects.filter(by_market(), hit=hit)
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
    """Return the key that a HIT of ours carries in its annotation, None for a HIT that is not ours."""
    annotation = record.requester_annotation
    if not annotation.startswith(OURS):
        return None
    try:
        return uuid.UUID(annotation.removeprefix(OURS))
    except ValueError:
        return None


def adopt(endpoint: str, hit_id: str, *, by: Person | None) -> Batch:
    """Take a HIT over with all others of its batch, which is published by that if it was a draft.

    Nothing is bought: what the marketplace has is written down, and the account is listed once. `by`: None for who
    sits at the server. Raises CannotSettle, also where `by` may not see the batch, and MarketError.
    """
    gateway = Gateway(endpoint)
    there = {record.requester_annotation: record for record in gateway.list_hits()}
    batch = next((_Owners().of(record) for record in there.values() if record.hit_id == hit_id), None)
    if batch is None or not (by is None or sees(by, batch.survey)):
        raise CannotSettle("No batch or draft here is what this HIT was made of. It can be expired.")
    try:
        questionnaires.start_publishing(batch, by=by)
    except questionnaires.CannotPublish as error:
        raise CannotSettle(str(error)) from error
    batch.refresh_from_db()
    if batch.hit_type is None:
        hits.register_hit_type(batch, gateway=gateway)
    for questionnaire in batch.questionnaires.filter(hit=None).select_related("batch__hit_type"):
        if record := there.get(create_token(questionnaire.pk)):
            hits.take_over(questionnaire, record=record, gateway=gateway)
    hits.finish_publishing(batch)
    batch_pk = batch.pk
    _settle_rows(endpoint, lambda row: row["kind"] == "unknown" and row["batch"] == batch_pk)
    return batch


def expire(endpoint: str, hit_id: str, *, by: str) -> None:
    """Let nobody take a HIT that we do not know any more.

    Raises CannotSettle for one that we know, or that is not ours by its annotation, and MarketError.
    """
    if HIT.objects.filter(hit_id=hit_id, hit_type__endpoint=endpoint).exists():
        raise CannotSettle("This HIT is known here: stop its batch instead.")
    gateway = Gateway(endpoint)
    if _key_of(gateway.get_hit(hit_id)) is None:
        raise CannotSettle("This HIT was not made by Assent: its annotation is somebody else's.")
    gateway.expire_at(hit_id, when=timezone.now())
    logger.info("HIT %s, unknown here, was expired on %s, says %s.", hit_id, endpoint, by)
    _settle_rows(endpoint, lambda row: row["kind"] == "unknown" and row["hit_id"] == hit_id)


def take_size(endpoint: str, hit_id: str) -> None:
    """Let our number of a HIT's assignments be the marketplace's, also where that is smaller. Raises MarketError."""
    hit = HIT.objects.get(hit_id=hit_id, hit_type__endpoint=endpoint)
    record = Gateway(endpoint).get_hit(hit_id)
    HIT.objects.filter(pk=hit.pk, max_assignments=hit.max_assignments).update(
        max_assignments=record.max_assignments
    )
    mirror_hit(hit, record)
    _settle_rows(endpoint, lambda row: row["kind"] == "size" and row["hit_id"] == hit_id)


@transaction.atomic
def _settle_rows(endpoint: str, is_settled: Callable[[Row], bool]) -> None:
    """Take what somebody has settled from the differences that are shown, without reading all accounts again."""
    hold = Hold.objects.select_for_update().filter(released_at=None).first()
    if hold and "rows" in hold.books:
        rows = [row for row in hold.books["rows"] if not (row["endpoint"] == endpoint and is_settled(row))]
        Hold.objects.filter(pk=hold.pk).update(books={**hold.books, "rows": rows})
