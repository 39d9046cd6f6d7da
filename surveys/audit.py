"""Adding to the audit trail. Called in the transaction of what it records."""

import json
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from annotators.models import Assignment, Worker
from annotators.people.pseudonyms import without_id
from statements import insert
from surveys.models import AuditEntry, Batch, Survey

Kind = AuditEntry.Kind
OUTCOMES = {
    "approve": "approved",
    "reject": "rejected",
    "propose": "rejection proposed",
    "flag": "waits for a person",
    "overturn": "rejection overturned",
    "undo": "decision taken back",
    "release": "released",
    "exclude": "left out",
    "include": "used again",
    "upheld": "rejection stays",
    "overturned": "rejection overturned",
    "ok": "may work",
    "watch": "watched",
    "publish": "published",
    "follow": "planned after a pilot",
    "simulate": "simulated people asked for",
    "stop": "stopped",
    "retry": "refused HITs asked for again",
    "change": "changed",
    "raise": "raised",
    "give": "given",
    "purge": "purged",
    "accuracy": "accuracy on the whole test set entered",
    "share": "made",
    "withdraw": "withdrawn",
    "forget": "deleted by themselves",
    "forget_for": "deleted as they asked",
    "again": "deleted again after a restore",
    "own_data": "their data handed out",
    "invite": "invited",
    "revoke": "invitation taken back",
    "join": "joined",
    "role": "role changed",
    "remove": "removed",
    "add": "added",
}


def in_words(outcome: str) -> str:
    """Return an outcome as pages say it."""
    return OUTCOMES.get(outcome, outcome)


def record(
    kind: AuditEntry.Kind,
    outcome: str,
    *,
    survey: Survey | None = None,
    batch: Batch | None = None,
    assignment: Assignment | None = None,
    worker: Worker | None = None,
    by: AbstractBaseUser | AnonymousUser | None = None,
    reason: str = "",
    rule_version: str = "",
    details: dict[str, Any] | None = None,
) -> AuditEntry:
    """Add one entry. What is about an assignment is about its worker and its batch too. `by` None: by rule.

    The worker's id, typed into `reason` or `details`, is written as their pseudonym: nothing here can be purged.
    """
    if assignment:
        worker = worker or assignment.worker
        batch = batch or assignment.hit.questionnaire.batch
    if worker:
        reason = without_id(reason, worker=worker)
        details = json.loads(without_id(json.dumps(details or {}), worker=worker))
    entry = AuditEntry(
        kind=kind,
        outcome=outcome,
        survey=survey,
        batch=batch,
        assignment=assignment,
        worker=worker,
        actor_id=by.pk if by else None,
        reason=reason,
        rule_version=rule_version,
        details=details or {},
    )
    insert([entry])
    return entry
