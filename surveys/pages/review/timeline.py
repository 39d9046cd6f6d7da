"""The facts about one assignment in the order they happened."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from annotators.models import Assignment, Call, Channel
from surveys import audit
from surveys.models import Replacement


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened, who says so, and details a person may want to read."""

    at: datetime
    what: str
    source: str
    details: str = ""


def timeline(assignment: Assignment) -> list[Event]:
    """Return all that is known about an assignment: our facts, the marketplace's, the audit trail, and our calls."""
    events = [*_work(assignment), *_decided(assignment), *_calls(assignment), *_replaced(assignment)]
    return sorted(events, key=lambda event: event.at)


def _work(assignment: Assignment) -> Iterator[Event]:
    ours = "our page"
    theirs = "marketplace" if assignment.channel == Channel.MARKETPLACE else "this server"
    facts = [
        (assignment.accepted_at, "Accepted", theirs),
        (assignment.loaded_at, "First opened", ours),
        (assignment.saved_at, "Answers complete and saved", ours),
        (assignment.submitted_at, "Submitted", theirs),
        (assignment.approved_at, "Approved", theirs),
        (assignment.rejected_at, "Rejected", theirs),
    ]
    for at, what, source in facts:
        if at:
            yield Event(at, what, source)


def _decided(assignment: Assignment) -> Iterator[Event]:
    for entry in assignment.audit_entries.select_related("actor"):
        outcome = audit.in_words(entry.outcome)
        version = f"Rule {entry.rule_version}." if entry.rule_version else ""
        details = " ".join(part for part in (entry.reason, version) if part)
        yield Event(entry.at, f"{entry.get_kind_display()}: {outcome}", entry.by_whom, details)


def _calls(assignment: Assignment) -> Iterator[Event]:
    for call in Call.objects.filter(assignment=assignment):
        yield Event(
            call.finished_at or call.sent_at or call.created_at,
            f"Call {call.get_operation_display()}: {call.get_state_display()}",
            "ledger",
            call.error,
        )


def _replaced(assignment: Assignment) -> Iterator[Event]:
    for replacement in Replacement.objects.filter(replaces=assignment):
        if replacement.opened_at:
            yield Event(replacement.opened_at, "Replacement opened", "ledger")
        else:
            yield Event(replacement.created_at, "Replacement planned", "ledger")
