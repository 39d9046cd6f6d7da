"""What the marketplace answers, as records of our own."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any


@dataclass(frozen=True, slots=True)
class HITRecord:
    """A HIT as the marketplace describes it. Times are aware datetimes."""

    hit_id: str
    status: str
    max_assignments: int
    created_at: datetime
    expires_at: datetime
    requester_annotation: str


@dataclass(frozen=True, slots=True)
class AssignmentRecord:
    """A submitted assignment as the marketplace describes it. Times are aware datetimes, None where not reached."""

    assignment_id: str
    worker_id: str
    hit_id: str
    status: str
    accepted_at: datetime
    submitted_at: datetime
    auto_approval_at: datetime | None
    approved_at: datetime | None
    rejected_at: datetime | None
    feedback: str
    answer_xml: str


@dataclass(frozen=True, slots=True)
class BonusRecord:
    """A bonus the marketplace has paid: dollars, and the reason the worker read."""

    amount: Decimal
    reason: str


def hit_record(hit: Any) -> HITRecord:
    """Read a HIT of an answer. KeyError where a field is missing that MTurk always gives."""
    return HITRecord(
        hit_id=hit["HITId"],
        status=hit["HITStatus"],
        max_assignments=hit["MaxAssignments"],
        created_at=hit["CreationTime"],
        expires_at=hit["Expiration"],
        requester_annotation=hit.get("RequesterAnnotation", ""),
    )


def assignment_record(assignment: Any) -> AssignmentRecord:
    """Read an Assignment of an answer. KeyError where a field is missing that MTurk always gives."""
    return AssignmentRecord(
        assignment_id=assignment["AssignmentId"],
        worker_id=assignment["WorkerId"],
        hit_id=assignment["HITId"],
        status=assignment["AssignmentStatus"],
        accepted_at=assignment["AcceptTime"],
        submitted_at=assignment["SubmitTime"],
        auto_approval_at=assignment.get("AutoApprovalTime"),
        approved_at=assignment.get("ApprovalTime"),
        rejected_at=assignment.get("RejectionTime"),
        feedback=assignment.get("RequesterFeedback", ""),
        answer_xml=assignment.get("Answer", ""),
    )


def bonus_record(payment: Any) -> BonusRecord:
    """Read a BonusPayment of an answer."""
    return BonusRecord(Decimal(payment["BonusAmount"]), payment.get("Reason", ""))
