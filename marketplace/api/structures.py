"""The marketplace's rows as MTurk's structures. Absent members are left out, never null."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from marketplace.api import visibility
from marketplace.models import (
    HIT,
    Assignment,
    Bonus,
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
)
from marketplace.money import ledger
from marketplace.qualifications import requirements


def epoch(moment: datetime | None) -> float | None:
    """Return seconds since 1970 to the millisecond."""
    return round(moment.timestamp(), 3) if moment else None


def _present(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def hits(rows: Iterable[HIT], *, now: datetime) -> list[dict[str, Any]]:
    """HIT structures as their requester sees them now. Reads `row.hit_type`."""
    return [hit(row, now=now) for row in visibility.as_seen(rows, now=now)]


def hit(row: HIT, *, now: datetime) -> dict[str, Any]:
    """A HIT structure. Reads `row.hit_type`."""
    kind = row.hit_type
    status = row.status(now=now)
    return _present(
        {
            "HITId": row.hit_id,
            "HITTypeId": kind.type_id,
            "HITGroupId": kind.group_id,
            "CreationTime": epoch(row.created_at),
            "Title": kind.title,
            "Description": kind.description,
            "Question": row.question,
            "Keywords": kind.keywords or None,
            "HITStatus": status,
            "MaxAssignments": row.max_assignments,
            "Reward": ledger.dollars(kind.reward_cents),
            "AutoApprovalDelayInSeconds": kind.auto_approval_seconds,
            "Expiration": epoch(row.expires_at),
            "AssignmentDurationInSeconds": kind.duration_seconds,
            "RequesterAnnotation": row.annotation or None,
            "QualificationRequirements": kind.requirements,
            "HITReviewStatus": "NotReviewed",
            "NumberOfAssignmentsPending": row.pending,
            "NumberOfAssignmentsAvailable": row.free if status == HIT.Status.ASSIGNABLE else 0,
            "NumberOfAssignmentsCompleted": row.approved + row.rejected,
        }
    )


def assignment(row: Assignment) -> dict[str, Any]:
    """An Assignment structure. Reads `row.hit` and `row.worker`."""
    return _present(
        {
            "AssignmentId": row.assignment_id,
            "WorkerId": row.worker.worker_id,
            "HITId": row.hit.hit_id,
            "AssignmentStatus": row.status,
            "AutoApprovalTime": epoch(row.auto_approval_at),
            "AcceptTime": epoch(row.accepted_at),
            "SubmitTime": epoch(row.submitted_at),
            "ApprovalTime": epoch(row.approved_at),
            "RejectionTime": epoch(row.rejected_at),
            "Answer": row.answer,
            "RequesterFeedback": row.feedback or None,
        }
    )


def bonus(row: Bonus) -> dict[str, Any]:
    """A BonusPayment structure. Reads `row.assignment.worker`."""
    return {
        "WorkerId": row.assignment.worker.worker_id,
        "BonusAmount": ledger.dollars(row.cents),
        "AssignmentId": row.assignment.assignment_id,
        "Reason": row.reason,
        "GrantTime": epoch(row.paid_at),
    }


def qualification_type(row: QualificationType, *, reader: Requester) -> dict[str, Any]:
    """A QualificationType structure; the test and its key are for the owner only."""
    is_owner = row.requester_id == reader.pk
    return _present(
        {
            "QualificationTypeId": row.type_id,
            "CreationTime": epoch(row.created_at),
            "Name": row.name,
            "Description": row.description,
            "Keywords": row.keywords or None,
            "QualificationTypeStatus": row.status,
            "Test": row.test or None if is_owner else None,
            "TestDurationInSeconds": row.test_seconds,
            "AnswerKey": row.answer_key or None if is_owner else None,
            "RetryDelayInSeconds": row.retry_seconds,
            "IsRequestable": True,
            "AutoGranted": row.auto_granted,
            "AutoGrantedValue": row.auto_granted_value if row.auto_granted else None,
        }
    )


def system_qualification_type(type_id: str) -> dict[str, Any]:
    """A QualificationType structure of one that the marketplace itself gives values on."""
    return {
        "QualificationTypeId": type_id,
        "Name": requirements.SYSTEM_NAMES[type_id],
        "QualificationTypeStatus": "Active",
        "IsRequestable": False,
        "AutoGranted": False,
    }


def qualification(row: Qualification) -> dict[str, Any]:
    """A Qualification structure. Reads `row.qualification_type` and `row.worker`."""
    return {
        "QualificationTypeId": row.qualification_type.type_id,
        "WorkerId": row.worker.worker_id,
        "GrantTime": epoch(row.granted_at),
        "IntegerValue": row.value,
        "Status": row.status,
    }


def qualification_request(row: QualificationRequest) -> dict[str, Any]:
    """A QualificationRequest structure. Reads `row.qualification_type` and `row.worker`."""
    return _present(
        {
            "QualificationRequestId": row.request_id,
            "QualificationTypeId": row.qualification_type.type_id,
            "WorkerId": row.worker.worker_id,
            "Test": row.test or None,
            "Answer": row.answer or None,
            "SubmitTime": epoch(row.submitted_at),
        }
    )
