"""What the batch's policy says about a submitted assignment. Reads answers, writes nothing."""

import dataclasses

from annotators.models import Assignment, Worker
from surveys.models import Batch
from surveys.protocols.policy import Policy
from surveys.protocols.policy_reading import read_policy
from surveys.protocols.rules import APPROVE, FLAG, Evidence, Flag, Verdict
from surveys.review.evidence import evidence_of_batch, evidence_of_worker

WATCHED = Flag("watched", "This worker is watched: a person looks at all their work.", is_hit=False)
INCOMPLETE = Verdict(FLAG, "We have no complete answers for this assignment.")


def decide(assignment: Assignment, *, batch: Batch) -> Verdict:
    """Judge a submitted assignment by the batch's policy. Pure: reads answers, writes nothing.

    What would be approved of a watched worker waits for a person.
    """
    said = _by_rules(assignment, batch=batch)
    return _watched(said) if assignment.worker.standing == Worker.Standing.WATCH else said


def decide_all(batch: Batch, *, policy: Policy) -> dict[int, Verdict]:
    """Judge all assignments of a batch that were handed in by some policy: {assignment: verdict}, in that order."""
    of_watched = Assignment.objects.filter(
        hit__questionnaire__batch=batch, worker__standing=Worker.Standing.WATCH
    )
    watched = set(of_watched.values_list("pk", flat=True))
    found = {}
    for pk, evidence in evidence_of_batch(batch, kinds=policy.kinds).items():
        said = policy.judge(evidence) if evidence.is_saved and evidence.is_correct else INCOMPLETE
        found[pk] = _watched(said) if pk in watched else said
    return found


def _watched(said: Verdict) -> Verdict:
    if said.verdict != APPROVE:
        return said
    return dataclasses.replace(said, verdict=FLAG, flags=(*said.flags, WATCHED))


def _by_rules(assignment: Assignment, *, batch: Batch) -> Verdict:
    responses = list(assignment.responses.all())
    if assignment.saved_at is None or not responses:
        return INCOMPLETE
    policy = read_policy(batch.review_policy, items_per_hit=batch.items_per_hit)
    alone = Evidence(is_correct=tuple(response.is_correct for response in responses))
    if policy.kinds <= {"minimum_correct"}:
        return policy.judge(alone)
    found = evidence_of_worker(batch, worker=assignment.worker_id, kinds=policy.kinds)
    return policy.judge(found.get(assignment.pk, alone))
