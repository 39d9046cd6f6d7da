"""4: decide about submitted assignments, carry the decision out, and replace what was rejected.

Every step asks the database what is still to be done and can be run again at any time. A decision is ours; that
the marketplace carried it out is a fact only the marketplace can tell (`Assignment.status`).
"""

import dataclasses
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Count, DateTimeField, Exists, ExpressionWrapper, F, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotators import ledger, market, mirror
from annotators.gateway import Gateway
from annotators.models import HIT, Assignment, Call
from surveys.models import Batch, Decision, Questionnaire, QuestionnaireItem, Replacement
from surveys.policies import APPROVE, FLAG, REJECT, Verdict, read_policy

OVERTURN_WITHIN = timedelta(days=30)  # MTurk: OverrideRejection only within 30 days of submission
LARGEST_GROWING_HIT = 9  # MTurk: a HIT created with fewer than 10 assignments can't be extended to 10
LISTING_LAG = timedelta(hours=1)  # how long after its deadline we still look for a submission
FEEDBACK_MAX = 1024  # API reference: RequesterFeedback in characters
AUTO_APPROVED = "The marketplace approved it before we decided."
REJECTED_ELSEWHERE = "It was rejected on the marketplace, not here."
Status = Assignment.Status


class CannotDecide(Exception):
    """A person asked for a decision that is not possible now; the message says why."""


def decide(assignment: Assignment, *, batch: Batch) -> Verdict:
    """Judge a submitted assignment by the batch's policy. Pure: reads answers, writes nothing."""
    responses = list(assignment.responses.all())
    if assignment.saved_at is None or not responses:
        return Verdict(FLAG, "We have no complete answers for this assignment.")
    policy = read_policy(batch.review_policy, items_per_hit=batch.items_per_hit)
    return policy.decide([response.is_correct for response in responses])


def record_decision(assignment: Assignment, *, batch: Batch) -> Decision:
    """Write down what the policy says, once; a decision that exists is never changed by the rule."""
    verdict = decide(assignment, batch=batch)
    if assignment.status == Status.APPROVED:
        verdict = dataclasses.replace(verdict, verdict=APPROVE, reason=AUTO_APPROVED)
    if assignment.status == Status.REJECTED:
        verdict = dataclasses.replace(
            verdict, verdict=REJECT, reason=assignment.feedback or REJECTED_ELSEWHERE
        )
    decision, _ = Decision.objects.get_or_create(
        assignment=assignment,
        defaults={
            "verdict": verdict.verdict,
            "reason": verdict.reason,
            "n_correct": verdict.n_correct,
            "n_graded": verdict.n_graded,
            "policy": batch.review_policy,
            "decided_at": timezone.now(),
        },
    )
    return decision


def carry_out(assignment: Assignment, *, gateway: Gateway) -> Call | None:
    """Tell the marketplace what is decided by now, if it does not know yet. None if there is nothing to tell."""
    decision = assignment.decision
    decision.refresh_from_db()
    if assignment.status == Status.SUBMITTED and decision.verdict == APPROVE:
        return market.approve(assignment, feedback=decision.reason, gateway=gateway)
    if assignment.status == Status.SUBMITTED and decision.verdict == REJECT:
        return market.reject(assignment, feedback=decision.reason, gateway=gateway)
    if assignment.status == Status.REJECTED and decision.overturned_at:
        return market.overturn(assignment, feedback=decision.overturn_reason, gateway=gateway)
    return None


def replace(rejected: Assignment, *, questionnaire: Questionnaire, gateway: Gateway) -> Replacement:
    """Open one more assignment for a rejected one, exactly once: on a HIT with room, or on a sibling HIT.

    A sibling shows the same items on a HIT of its own; the caller publishes it like any other questionnaire.
    """
    replacement = _planned_replacement(rejected, questionnaire)
    if replacement.opened_at is None and _is_open(replacement, gateway=gateway):
        Replacement.objects.filter(pk=replacement.pk, opened_at=None).update(opened_at=timezone.now())
        replacement.refresh_from_db(fields=["opened_at"])
    return replacement


def approve(assignment: Assignment, *, by: AbstractBaseUser, reason: str = "") -> Decision:
    """Record that a person approves; the next sync tells the marketplace."""
    return _by_person(assignment, APPROVE, by=by, reason=reason)


def reject(assignment: Assignment, *, by: AbstractBaseUser, reason: str) -> Decision:
    """Record that a person rejects, with the sentence the worker reads. CannotDecide without one."""
    _check_reason(reason, what="A rejection")
    return _by_person(assignment, REJECT, by=by, reason=reason.strip())


def overturn(assignment: Assignment, *, by: AbstractBaseUser, reason: str) -> Decision:
    """Record that a rejection is taken back and the worker paid after all; its replacement stays.

    The first person to do so is kept. Raises CannotDecide without a reason, too late, or with nothing to take back.
    """
    _check_reason(reason, what="Overturning a rejection")
    if assignment.status != Status.REJECTED:
        raise CannotDecide("Only a rejected assignment can be overturned.")
    submitted_at = assignment.submitted_at or timezone.now()
    if timezone.now() > submitted_at + OVERTURN_WITHIN:
        raise CannotDecide("MTurk lets a rejection be overturned within 30 days of submission only.")
    standing = Decision.objects.filter(assignment=assignment, overturned_at=None)
    standing.update(overturned_at=timezone.now(), overturned_by=by, overturn_reason=reason.strip())
    decision = Decision.objects.filter(assignment=assignment).first()
    if decision is None:
        raise CannotDecide("It was rejected elsewhere. Fetch the news of this HIT first, then overturn it.")
    _forget_refusal(assignment, Call.Operation.OVERTURN)
    return decision


def to_carry_out(hit: HIT) -> list[Assignment]:
    """Return the assignments of a HIT with a decision that the marketplace has not heard of."""
    submitted = Q(status=Status.SUBMITTED, decision__verdict__in=[APPROVE, REJECT])
    overturned = Q(pk__in=_overturned())
    return list(hit.assignments.filter(submitted | overturned).select_related("decision", "hit__hit_type"))


def to_replace(hit: HIT) -> list[Assignment]:
    """Return the rejected assignments of a HIT whose replacement is not open yet; a stopped batch replaces none."""
    return list(_unreplaced().filter(hit=hit).order_by("rejected_at", "pk"))


def due_hits(*, every: timedelta) -> QuerySet[HIT]:
    """Return the HITs to sync: not seen for `every`, and something about them can still change.

    A HIT is settled when all its assignments are in and decided, or when it expired so long ago that nobody can
    still be working on it. HITStatus alone does not tell: MTurk lists submissions with a lag.
    """
    now = timezone.now()
    last_submission = F("expires_at") + F("hit_type__assignment_duration")
    is_in = ~Q(assignments__status=Status.ACCEPTED)
    seen = HIT.objects.annotate(
        n_in=Count("assignments", filter=is_in, distinct=True),
        last_submission=ExpressionWrapper(last_submission, output_field=DateTimeField()),
    )
    can_fill = Q(n_in__lt=F("max_assignments"), last_submission__gt=now - LISTING_LAG)
    waiting = Exists(Assignment.objects.filter(hit=OuterRef("pk"), status=Status.SUBMITTED))
    return seen.filter(Q(synced_at=None) | Q(synced_at__lte=now - every)).filter(
        can_fill
        | waiting
        | Exists(_unreplaced().filter(hit=OuterRef("pk")))
        | Exists(_overturned().filter(hit=OuterRef("pk"))),
        questionnaire__isnull=False,
    )


def finish(batch: Batch) -> bool:
    """Mark an open batch complete when every questionnaire has the assignments it was to get, all decided."""
    if batch.questionnaires.filter(hit=None).exists() or not _is_filled(batch):
        return False
    return (
        Batch.objects.filter(pk=batch.pk, status=Batch.Status.OPEN).update(status=Batch.Status.COMPLETE) == 1
    )


def _unreplaced() -> QuerySet[Assignment]:
    rejected = Assignment.objects.filter(
        status=Status.REJECTED, hit__questionnaire__batch__status=Batch.Status.OPEN
    )
    return rejected.exclude(replacement__opened_at__isnull=False).exclude(
        decision__overturned_at__isnull=False
    )


def _overturned() -> QuerySet[Assignment]:
    """Return rejected assignments we overturned, unless the marketplace has refused that for good."""
    refused = Call.objects.filter(
        assignment=OuterRef("pk"), operation=Call.Operation.OVERTURN, state=Call.State.REFUSED
    )
    overturned = Assignment.objects.filter(status=Status.REJECTED, decision__overturned_at__isnull=False)
    return overturned.exclude(Exists(refused))


def _check_reason(reason: str, *, what: str) -> None:
    if not reason.strip():
        raise CannotDecide(f"{what} needs a reason: the worker reads it.")
    if len(reason) > FEEDBACK_MAX:
        raise CannotDecide(f"MTurk passes on {FEEDBACK_MAX} characters of a reason; this one is longer.")


def _by_person(assignment: Assignment, verdict: str, *, by: AbstractBaseUser, reason: str) -> Decision:
    if assignment.status != Status.SUBMITTED:
        raise CannotDecide(f"This assignment is {assignment.status} already.")
    if Call.objects.filter(assignment=assignment).exclude(state=Call.State.REFUSED).exists():
        raise CannotDecide("The marketplace is being told an earlier decision about this assignment.")
    changes = {"verdict": verdict, "reason": reason, "decided_by": by, "decided_at": timezone.now()}
    decision, _ = Decision.objects.update_or_create(assignment=assignment, defaults=changes)
    is_approval = verdict == APPROVE
    _forget_refusal(assignment, Call.Operation.APPROVE if is_approval else Call.Operation.REJECT)
    return decision


def _forget_refusal(assignment: Assignment, operation: Call.Operation) -> None:
    """A person asked again: what the marketplace refused is sent once more, with the new words."""
    for call in Call.objects.filter(assignment=assignment, operation=operation):
        ledger.plan_again(call)


def _lock(batch_pk: int) -> None:
    """Let one transaction at a time plan replacements: they share the positions of the batch."""
    Batch.objects.select_for_update(no_key=True).get(pk=batch_pk)


@transaction.atomic
def _planned_replacement(rejected: Assignment, questionnaire: Questionnaire) -> Replacement:
    root = questionnaire.sibling_of or questionnaire
    _lock(root.batch_id)
    found = (
        Replacement.objects.filter(rejected=rejected).select_related("questionnaire__hit__hit_type").first()
    )
    if found:
        return found
    roomy = _roomy(root)
    return Replacement.objects.create(
        rejected=rejected,
        questionnaire=roomy or _sibling(root),
        opened_by=Replacement.OpenedBy.EXTEND if roomy else Replacement.OpenedBy.CREATE,
    )


def _is_open(replacement: Replacement, *, gateway: Gateway) -> bool:
    """Open the slot if that is still to be done. False while it is not certain, or waits for a sibling HIT."""
    target = replacement.questionnaire
    if target.hit is None or replacement.opened_by == Replacement.OpenedBy.CREATE:
        return target.hit is not None
    call = market.extend(target.hit, token=f"replace:{replacement.rejected_id}", gateway=gateway)
    if call.state == Call.State.REFUSED:
        _use_sibling(replacement)
    if call.state != Call.State.DONE:
        return False
    mirror.mirror_hit(target.hit, gateway.get_hit(target.hit.hit_id))
    return _keep_open(target.hit, target.batch, gateway=gateway)


@transaction.atomic
def _use_sibling(replacement: Replacement) -> None:
    """The HIT can't grow after all (MTurk: too old, disposed of): a sibling HIT takes its place."""
    root = replacement.questionnaire.sibling_of or replacement.questionnaire
    _lock(root.batch_id)
    if Replacement.objects.filter(pk=replacement.pk, opened_by=Replacement.OpenedBy.EXTEND).exists():
        Replacement.objects.filter(pk=replacement.pk).update(
            questionnaire=_sibling(root), opened_by=Replacement.OpenedBy.CREATE
        )
    replacement.refresh_from_db()


def _roomy(root: Questionnaire) -> Questionnaire | None:
    """Return a questionnaire of this family whose HIT can take one assignment more."""
    family = Questionnaire.objects.filter(Q(pk=root.pk) | Q(sibling_of=root), hit__isnull=False)
    to_come = Count("replacements", filter=Q(replacements__opened_at=None, replacements__opened_by="extend"))
    for member in family.select_related("hit__hit_type").annotate(to_come=to_come).order_by("position"):
        is_large = member.target_assignments > LARGEST_GROWING_HIT
        if member.hit and (is_large or member.hit.max_assignments + member.to_come < LARGEST_GROWING_HIT):
            return member
    return None


def _sibling(root: Questionnaire) -> Questionnaire:
    last = root.batch.questionnaires.aggregate(position=Max("position"))["position"]
    sibling = Questionnaire.objects.create(
        batch=root.batch, position=last + 1, target_assignments=1, sibling_of=root
    )
    QuestionnaireItem.objects.bulk_create(
        QuestionnaireItem(questionnaire=sibling, item_id=slot.item_id, position=slot.position)
        for slot in root.slots.all()
    )
    return sibling


def _keep_open(hit: HIT, batch: Batch, *, gateway: Gateway) -> bool:
    """Extending an expired HIT reopens nothing: where it is about to expire, its expiration moves too."""
    if hit.expires_at >= timezone.now() + batch.assignment_duration:
        return True
    call = market.move_expiration(hit, when=timezone.now() + batch.lifetime, gateway=gateway)
    return call.state == Call.State.DONE


def _is_filled(batch: Batch) -> bool:
    assignments = Assignment.objects.filter(hit__questionnaire__batch=batch)
    if assignments.filter(status=Status.SUBMITTED).exists():
        return False
    root = Coalesce("hit__questionnaire__sibling_of", "hit__questionnaire")
    approved = assignments.filter(status=Status.APPROVED).annotate(root=root).values("root")
    kept = dict(approved.annotate(n=Count("pk")).order_by().values_list("root", "n"))
    targets = batch.questionnaires.filter(sibling_of=None).values_list("pk", "target_assignments")
    return all(kept.get(pk, 0) >= target for pk, target in targets)
