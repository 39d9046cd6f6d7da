"""What must hold after a load test, read from the database, the marketplace's tables and the processes' logs."""

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from django.db.models import Count, Q
from django.db.models.functions import Coalesce

from annotators.models import HIT, Assignment, Call, Channel
from marketplace import models as marketplace
from surveys.models import AnnotationSlot, Batch, Replacement, Response
from surveys.rehearsal.report import PAYING
from surveys.simulating.people import Answers, Given
from tests.load.records import Draft, Receipt, Records, Sheet

Status = Assignment.Status
BAD_LINE = re.compile(r"\b(ERROR|CRITICAL)\b|Traceback|database is locked|deadlock detected", re.IGNORECASE)

LATE = Q(annotation_slot__reopened_as__isnull=False)


def bad_lines(folder: Path) -> list[str]:
    """Return the lines of the processes' logs that tell of an error, each with its process."""
    return [
        f"{path.stem}: {line}"
        for path in sorted(folder.glob("*.log"))
        for line in path.read_text(errors="replace").splitlines()
        if BAD_LINE.search(line)
    ]


def problems(batches: list[Batch], records: Records) -> list[str]:
    """Return a sentence for each promise that is broken."""
    return [*_batches(batches), *_answers(records), *_drafts(records), *_replaced(batches), *_money(batches)]


def charged() -> Decimal:
    """Return the dollars that our ledger says approved work has cost, fees included."""
    paid = Call.objects.filter(operation__in=PAYING, state=Call.State.DONE)
    return sum(paid.values_list("amount", flat=True), Decimal("0.00"))


def _batches(batches: list[Batch]) -> Iterator[str]:
    for batch in Batch.objects.filter(pk__in=[batch.pk for batch in batches]):
        if batch.status != Batch.Status.COMPLETE or batch.error:
            yield f"{batch} is {batch.status} {batch.error}"
        yield from _places(batch)


def _places(batch: Batch) -> Iterator[str]:
    """Every place is filled, and what is more than that came late, into a place that was given to somebody else."""
    root = Coalesce("hit__questionnaire__sibling_of", "hit__questionnaire")
    approved = Assignment.objects.filter(hit__questionnaire__batch=batch, status=Status.APPROVED)
    in_time, late = approved.filter(~LATE), approved.filter(LATE)
    kept, n_late = (
        Counter(rows.annotate(root=root).values_list("root", flat=True)) for rows in (in_time, late)
    )
    for questionnaire in batch.questionnaires.filter(sibling_of=None):
        n, more = kept[questionnaire.pk], n_late[questionnaire.pk]
        if not n <= questionnaire.target_assignments <= n + more:
            yield f"{questionnaire} wants {questionnaire.target_assignments}, but has {n} and {more} that came late."


def _answers(records: Records) -> Iterator[str]:
    """Every receipt stands for one assignment with these answers, and nothing else was submitted.

    Who returned a HIT and took it again has an opened one beside it, which the marketplace knows nothing of.
    """
    n_submitted = Assignment.objects.exclude(status=Status.ACCEPTED).count()
    if n_submitted != len(records.receipts):
        yield f"{len(records.receipts)} receipts were given, but {n_submitted} assignments are submitted."
    for receipt in records.receipts:
        opened = _responses(receipt, receipt.sheets[0])
        found = [response for response in opened if response.assignment.status != Status.ACCEPTED]
        if len({response.assignment_id for response in found}) != 1:
            yield f"{receipt.worker_id}'s answers are in {len(found)} responses of more than one assignment."
        elif stored(found) not in receipt.sheets:
            yield f"{receipt.worker_id} sent {receipt.sheets}, but stored is {stored(found)}."


def _drafts(records: Records) -> Iterator[str]:
    """What nobody came back to, or came back to without being done, is as it was left."""
    done = {(r.worker_id, r.batch, question) for r in records.receipts for question in r.sheets[0]}
    for draft in records.drafts:
        kept = _responses(draft, draft.sheet)
        for question, sent in draft.sheet.items():
            found = [
                {name: _plain(value) for name, value in response.draft.items()}
                for response in kept
                if response.item.payload["question"] == question
            ]
            is_done = (draft.worker_id, draft.batch, question) in done
            empty: Answers = {
                name: [] for name in sent
            }  # a list without a tick is no answer yet, and no draft keeps it
            if not is_done and not any(sent.items() <= (empty | fields).items() for fields in found):
                yield f"{draft.worker_id}'s draft {sent} is kept as {found}."


def _responses(record: Receipt | Draft, asked: Sheet) -> list[Response]:
    batch = "batch" if isinstance(record.batch, int) else "assignment__hit__questionnaire"
    mine = Response.objects.filter(worker__worker_id=record.worker_id, **{batch: record.batch})
    related = mine.select_related("item", "batch__survey", "assignment").prefetch_related("ratings__output")
    return [response for response in related if response.item.payload["question"] in asked]


def stored(responses: list[Response]) -> Sheet:
    """Return the answers in the database as a page would send them."""
    return {response.item.payload["question"]: _stored(response) for response in responses}


def _stored(response: Response) -> dict[str, Given]:
    found: dict[str, Given] = {"answer": response.answer}
    preference = response.batch.definition.preference.key
    for rating in response.ratings.all():
        key, _, option = rating.criterion.partition(".")
        name = f"{rating.output.code}-{key}" if rating.output and key != preference else key
        if key == preference:
            preferred = rating.output.code if rating.value == "preferred" else ""
            found[name] = found.get(name) or preferred
        elif option:
            found[name] = sorted([*found.get(name, []), *([option] if rating.score else [])])
        else:
            found[name] = rating.value
    found[preference] = found[preference] or "no_preference"
    return found


def _plain(value: Given) -> Given:
    return sorted(value) if isinstance(value, list) else value


def _replaced(batches: list[Batch]) -> Iterator[str]:
    rejected = Assignment.objects.filter(hit__questionnaire__batch__in=batches, status=Status.REJECTED)
    opened = Replacement.objects.filter(opened_at__isnull=False, replaces__in=rejected).count()
    n_on_market = rejected.filter(channel=Channel.MARKETPLACE).count()
    if (opened, Replacement.objects.count()) != (n_on_market, n_on_market):
        yield f"{n_on_market} were rejected on the marketplace, {opened} of {Replacement.objects.count()} replaced."
    reopened = AnnotationSlot.objects.filter(assignment__in=rejected, reopened_as__isnull=False).count()
    if reopened != rejected.count():
        yield f"{rejected.count()} were rejected, but {reopened} places opened again."


def _money(batches: list[Batch]) -> Iterator[str]:
    # The marketplace's clock is an hour ahead here, so that each sweep expires its expired HITs once more.
    expiring = Q(operation=Call.Operation.EXPIRE, state=Call.State.SENT)
    not_done = Call.objects.exclude(state=Call.State.DONE).exclude(expiring)
    unsettled = not_done.values_list("operation", "state", "error")
    if unsettled:
        yield f"Calls without success: {list(unsettled)}."
    twice = (
        Call.objects.exclude(assignment=None)
        .values("assignment", "operation")
        .annotate(n=Count("pk"))
        .filter(n__gt=1)
    )
    if twice:
        yield f"Calls made twice: {list(twice)}."
    yield from _two_sides(
        "assignments",
        Assignment.objects.filter(~Q(status=Status.ACCEPTED), channel=Channel.MARKETPLACE).values_list(
            "assignment_id", "status"
        ),
        marketplace.Assignment.objects.filter(
            status__in=[Status.SUBMITTED, Status.APPROVED, Status.REJECTED]
        ).values_list("assignment_id", "status"),
    )
    yield from _two_sides(
        "HITs",
        HIT.objects.values_list("hit_id", "max_assignments"),
        marketplace.HIT.objects.values_list("hit_id", "max_assignments"),
    )


def _two_sides(what: str, ours: object, theirs: object) -> Iterator[str]:
    only_ours, only_theirs = set(ours) - set(theirs), set(theirs) - set(ours)
    if only_ours or only_theirs:
        yield f"Of {what} only we know {sorted(only_ours)}, only the marketplace knows {sorted(only_theirs)}."
