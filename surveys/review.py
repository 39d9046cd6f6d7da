"""4: decide about submitted assignments, carry the decision out, and replace what was rejected.

Every step asks the database what is still to be done and can be run again at any time. A decision is ours; that
the marketplace carried it out is a fact only the marketplace can tell (`Assignment.status`).
"""

import dataclasses
from datetime import timedelta

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Count, DateTimeField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotators import market
from annotators.gateway import Gateway
from annotators.models import HIT, Assignment, Call
from surveys.models import Batch, Decision, Questionnaire, QuestionnaireItem, Replacement
from surveys.policies import APPROVE, FLAG, REJECT, Verdict, read_policy

OVERTURN_WITHIN = timedelta(days=30)  # MTurk: OverrideRejection only within 30 days of submission
LARGEST_GROWING_HIT = 9  # MTurk: a HIT created with fewer than 10 assignments can't be extended to 10
LISTING_LAG = timedelta(hours=1)  # how long after its deadline we still look for a submission
Status = Assignment.Status


AUTO_APPROVED = "The marketplace approved it before we decided."


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
    """Tell the marketplace what was decided, if it does not know yet. None if there is nothing to tell."""
    decision = assignment.decision
    if assignment.status == Status.SUBMITTED and decision.verdict == APPROVE:
        return market.approve(assignment, feedback=decision.reason, gateway=gateway)
    if assignment.status == Status.SUBMITTED and decision.verdict == REJECT:
        return market.reject(assignment, feedback=decision.reason, gateway=gateway)
    if assignment.status == Status.REJECTED and decision.overturned_at:
        return market.overturn(assignment, feedback=decision.reason, gateway=gateway)
    return None


def replace(rejected: Assignment, *, questionnaire: Questionnaire, gateway: Gateway) -> Replacement:
    """Open one more assignment for a rejected one, exactly once: on a HIT with room, or on a sibling HIT.

    A sibling shows the same items on a HIT of its own; the caller publishes it like any other questionnaire.
    """
    replacement = _planned_replacement(rejected, questionnaire)
    target = replacement.questionnaire
    if replacement.opened_at or target.hit is None:
        return replacement
    if replacement.opened_by == Replacement.OpenedBy.EXTEND:
        call = market.extend(target.hit, token=f"replace:{rejected.pk}", gateway=gateway)
        if call.state != Call.State.DONE:
            return replacement
        market.mirror_hit(target.hit, gateway.get_hit(target.hit.hit_id))
        _keep_open(target, gateway=gateway)
    Replacement.objects.filter(pk=replacement.pk, opened_at=None).update(opened_at=timezone.now())
    return replacement


def approve(assignment: Assignment, *, by: AbstractBaseUser, reason: str = "") -> Decision:
    """Record that a person approves; the next sync tells the marketplace."""
    return _by_person(assignment, APPROVE, by=by, reason=reason)


def reject(assignment: Assignment, *, by: AbstractBaseUser, reason: str) -> Decision:
    """Record that a person rejects, with the sentence the worker reads. CannotDecide without one."""
    if not reason.strip():
        raise CannotDecide("A rejection needs a reason: the worker reads it.")
    return _by_person(assignment, REJECT, by=by, reason=reason.strip())


def overturn(assignment: Assignment, *, by: AbstractBaseUser, reason: str) -> Decision:
    """Record that a rejection is taken back and the worker paid after all; its replacement stays."""
    if assignment.status != Status.REJECTED:
        raise CannotDecide("Only a rejected assignment can be overturned.")
    submitted_at = assignment.submitted_at or timezone.now()
    if timezone.now() > submitted_at + OVERTURN_WITHIN:
        raise CannotDecide("MTurk lets a rejection be overturned within 30 days of submission only.")
    changes = {"overturned_at": timezone.now(), "decided_by": by, "verdict": APPROVE, "reason": reason}
    Decision.objects.filter(assignment=assignment, overturned_at=None).update(**changes)
    return Decision.objects.get(assignment=assignment)


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
    is_running = Q(
        questionnaire__batch__status__in=[Batch.Status.PUBLISHING, Batch.Status.OPEN, Batch.Status.STOPPED]
    )
    return seen.filter(Q(synced_at=None) | Q(synced_at__lte=now - every)).filter(
        (is_running & (can_fill | waiting | Exists(_unreplaced().filter(hit=OuterRef("pk")))))
        | Exists(_overturned().filter(hit=OuterRef("pk")))
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
    return Assignment.objects.filter(status=Status.REJECTED, decision__overturned_at__isnull=False)


def _by_person(assignment: Assignment, verdict: str, *, by: AbstractBaseUser, reason: str) -> Decision:
    if assignment.status != Status.SUBMITTED:
        raise CannotDecide(f"This assignment is {assignment.status} already.")
    if Call.objects.filter(assignment=assignment).exclude(state=Call.State.REFUSED).exists():
        raise CannotDecide("The marketplace is being told an earlier decision about this assignment.")
    changes = {"verdict": verdict, "reason": reason, "decided_by": by, "decided_at": timezone.now()}
    decision, _ = Decision.objects.update_or_create(assignment=assignment, defaults=changes)
    return decision


@transaction.atomic
def _planned_replacement(rejected: Assignment, questionnaire: Questionnaire) -> Replacement:
    root = questionnaire.sibling_of or questionnaire
    Questionnaire.objects.select_for_update().get(pk=root.pk)
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
    last = (
        Questionnaire.objects.filter(batch=root.batch)
        .order_by("-position")
        .values_list("position", flat=True)[0]
    )
    sibling = Questionnaire.objects.create(
        batch=root.batch, position=last + 1, target_assignments=1, sibling_of=root
    )
    QuestionnaireItem.objects.bulk_create(
        QuestionnaireItem(questionnaire=sibling, item_id=slot.item_id, position=slot.position)
        for slot in root.slots.all()
    )
    return sibling


def _keep_open(questionnaire: Questionnaire, *, gateway: Gateway) -> None:
    """Extending an expired HIT reopens nothing: where it is about to expire, its expiration moves too."""
    hit, batch = questionnaire.hit, questionnaire.batch
    if hit and hit.expires_at < timezone.now() + batch.assignment_duration:
        market.move_expiration(hit, when=timezone.now() + batch.lifetime, gateway=gateway)


def _is_filled(batch: Batch) -> bool:
    assignments = Assignment.objects.filter(hit__questionnaire__batch=batch)
    if assignments.filter(status=Status.SUBMITTED).exists():
        return False
    root = Coalesce("hit__questionnaire__sibling_of", "hit__questionnaire")
    approved = assignments.filter(status=Status.APPROVED).annotate(root=root).values("root")
    kept = dict(approved.annotate(n=Count("pk")).order_by().values_list("root", "n"))
    targets = batch.questionnaires.filter(sibling_of=None).values_list("pk", "target_assignments")
    return all(kept.get(pk, 0) >= target for pk, target in targets)
