"""Read-only links to results: made of what is kept, frozen, withdrawn.

What is frozen is a report, which knows no worker, and, where its author says so, the outputs people disagree about,
with what is right where they say that too. A reason to skip that the survey type does not list could be somebody's own
words, and is left out.
"""

import hashlib
import json
import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import cattrs
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction
from django.utils import timezone

from surveys import audit
from surveys.models import Batch, Output, SharedResults
from surveys.protocols.definition import UNSEEN, Definition
from surveys.results.chosen import Chosen
from surveys.results.disagreement import by_disagreement, scales_of
from surveys.results.files.report import Report
from surveys.results.statistics.numbers import Selection

MOST_OUTPUTS = 50
TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class Disputed:
    """One output as a link shows it; `gold` is "" unless its author shares what is right."""

    item: str
    question: str
    system: str
    text: str
    n: int
    mean: float
    spread: float
    gold: str = ""


@dataclass(frozen=True, slots=True)
class Frozen:
    """What a link shows."""

    report: Report
    criterion: str = ""
    outputs: tuple[Disputed, ...] = ()


def share(
    batch: Batch,
    report: Report,
    *,
    numbers_at: datetime,
    chosen: Chosen,
    name: str,
    by: AbstractBaseUser | AnonymousUser,
    has_outputs: bool = False,
    has_key: bool = False,
) -> str:
    """Freeze a report that is kept and return the token of a new link to it, which nobody can look up again."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    outputs = _disputed(batch, chosen, has_key=has_key) if has_outputs else ()
    criterion = next(iter(scales_of(batch.definition).values()), "")
    frozen = Frozen(_without_own_words(report, batch.definition), criterion, outputs)
    with transaction.atomic():
        shared = SharedResults.objects.create(
            batch=batch,
            token_hash=_hash(token),
            name=name,
            content=json.dumps(cattrs.unstructure(frozen)),
            choice=chosen.as_query(),
            has_outputs=has_outputs,
            has_key=has_key and has_outputs,
            numbers_at=numbers_at,
            created_by_id=by.pk,
        )
        details = {"link": shared.pk, "outputs": shared.has_outputs, "key": shared.has_key}
        audit.record(audit.Kind.SHARING, "share", batch=batch, by=by, reason=name, details=details)
    return token


def withdraw(shared: SharedResults, *, by: AbstractBaseUser | AnonymousUser) -> bool:
    """Close a link for good; False if it was closed before."""
    with transaction.atomic():
        open_ones = SharedResults.objects.filter(pk=shared.pk, withdrawn_at=None)
        if not open_ones.update(withdrawn_at=timezone.now()):
            return False
        details = {"link": shared.pk}
        audit.record(
            audit.Kind.SHARING, "withdraw", batch=shared.batch, by=by, reason=shared.name, details=details
        )
    return True


def shared_under(token: str) -> SharedResults | None:
    """Return what a token opens; None for one that is unknown or withdrawn, which look alike."""
    found = SharedResults.objects.filter(token_hash=_hash(token), withdrawn_at=None)
    return found.select_related("batch__survey").first()


def frozen_of(shared: SharedResults) -> Frozen | None:
    """Return what a link shows; None where another release has frozen it in another form."""
    try:
        return cattrs.structure(json.loads(shared.content), Frozen)
    except (cattrs.BaseValidationError, KeyError, TypeError, ValueError):
        return None


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _disputed(batch: Batch, chosen: Chosen, *, has_key: bool) -> tuple[Disputed, ...]:
    criterion = next(iter(scales_of(batch.definition)), "")
    rows = list(by_disagreement([batch], chosen, criterion=criterion)[:MOST_OUTPUTS])
    outputs = Output.objects.select_related("item").in_bulk([row["output"] for row in rows])
    return tuple(_of_row(row, outputs[row["output"]], has_key=has_key) for row in rows)


def _of_row(row: dict[str, Any], output: Output, *, has_key: bool) -> Disputed:
    item = output.item
    return Disputed(
        item=item.subject,
        question=str(item.payload.get("question", "")),
        system=output.system,
        text=output.text,
        n=row["n"],
        mean=row["mean"],
        spread=row["spread"],
        gold=item.gold if has_key else "",
    )


def _without_own_words(report: Report, definition: Definition) -> Report:
    listed = {choice.value for choice in definition.skip_reasons} | UNSEEN.keys()
    summary = report.summary
    listed_only = replace(
        summary,
        all=_listed(summary.all, listed),
        kept=_listed(summary.kept, listed),
        filtered=_listed(summary.filtered, listed),
        strata=tuple(_listed(stratum, listed) for stratum in summary.strata),
    )
    return replace(report, summary=listed_only)


def _listed(selection: Selection, listed: set[str]) -> Selection:
    systems = (
        replace(system, reasons=tuple(reason for reason in system.reasons if reason.key in listed))
        for system in selection.systems
    )
    return replace(selection, systems=tuple(systems))
