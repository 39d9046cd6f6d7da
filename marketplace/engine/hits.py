"""What a requester does with a whole HIT: publish, extend, move the expiry, review, give another type, dispose."""

import hashlib
import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction

from marketplace import ids, refusals
from marketplace.models import HIT, HITType, Requester, Token
from marketplace.money import ledger
from marketplace.notifications import events
from marketplace.qualifications import requirements
from marketplace.refusals import Refusal

MOST_ASSIGNMENTS = 1_000_000_000  # API reference, MaxAssignments
EXTENDABLE_SINCE = datetime(2015, 7, 22, tzinfo=UTC)  # API reference, CreateAdditionalAssignmentsForHIT
TEN = 10  # HITs created with fewer than ten assignments stay below ten (API reference)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeValues:
    """The values that make two HIT types one."""

    title: str
    description: str
    keywords: str
    reward_cents: int
    duration_seconds: int
    auto_approval_seconds: int
    requirements: list[dict[str, Any]]

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """What one HIT adds to its type."""

    question: str
    max_assignments: int
    lifetime: timedelta
    annotation: str = ""
    token: str | None = None


@transaction.atomic
def hit_type_for(requester: Requester, *, values: TypeValues, now: datetime) -> HITType:
    """Return the requester's HIT type of these values, made when it is new. Raises Refusal for a requirement."""
    asked = requirements.check(values.requirements)
    new = {**asdict(values), "type_id": ids.entity_id(), "group_id": ids.entity_id(), "created_at": now}
    kind, is_new = HITType.objects.get_or_create(
        requester=requester, fingerprint=values.fingerprint, defaults=new
    )
    if is_new:
        kind.qualification_types.set(asked)
    return kind


def find_hit_type(type_id: str, *, requester: Requester) -> HITType:
    hit_type = HITType.objects.filter(type_id=type_id, requester=requester).first()
    if hit_type is None:
        raise Refusal("HITTypeDoesNotExist", f"HITType {type_id} does not exist.")
    return hit_type


def find_hit(hit_id: str, *, requester: Requester) -> HIT:
    own = HIT.objects.filter(hit_id=hit_id, requester=requester)
    hit = own.select_related("hit_type", "requester").first()
    if hit is None:
        raise refusals.hit_does_not_exist(hit_id)
    return hit


@transaction.atomic
def publish(hit_type: HITType, *, offer: Offer, now: datetime) -> HIT:
    """Put a HIT on offer and hold its money.

    Raises Refusal HitAlreadyExists, InsufficientFunds, or for a qualification type deleted or closed meanwhile.
    """
    requirements.check(hit_type.requirements)
    use = Token.objects.earlier_use(hit_type.requester, operation="CreateHIT", token=offer.token, now=now)
    if use is not None:
        raise Refusal("HitAlreadyExists", f'The HIT with ID "{use.hit.hit_id}" already exists.')
    hit = HIT.objects.create(
        hit_id=ids.entity_id(),
        hit_type=hit_type,
        requester=hit_type.requester,
        question=offer.question,
        annotation=offer.annotation,
        max_assignments=offer.max_assignments,
        held_slots=offer.max_assignments,
        created_at=now,
        expires_at=now + offer.lifetime,
    )
    ledger.hold_new([hit], now=now)
    Token.objects.remember(hit, operation="CreateHIT", token=offer.token, now=now)
    events.record(hit, "HITCreated", at=now)
    return hit


@transaction.atomic
def extend(hit: HIT, *, additional: int, token: str | None, now: datetime) -> None:
    """Add assignments. Raises Refusal for a used token, the ten-assignment rule, or missing money."""
    hit = HIT.objects.locked(hit.pk)
    Token.objects.refuse_used(hit.requester, operation="Extend", token=token, now=now)
    _check_not_disposed(hit)
    _check_extension(hit, additional=additional)
    hit.max_assignments += additional
    hit.is_reviewing = False
    hit.save(update_fields=["max_assignments", "is_reviewing"])
    ledger.settle(hit, now=now)
    Token.objects.remember(hit, operation="Extend", token=token, now=now)
    events.record(hit, "HITExtended", at=now)


def _check_not_disposed(hit: HIT) -> None:
    if hit.disposed_at is not None:
        allowed = "Assignable,Unassignable,Reviewable,Reviewing"
        raise refusals.wrong_hit_state(hit.hit_id, status=HIT.Status.DISPOSED, allowed=allowed)


def _check_extension(hit: HIT, *, additional: int) -> None:
    total = hit.max_assignments + additional
    if hit.created_at < EXTENDABLE_SINCE:
        raise Refusal("HITTooOldForExtension", f"HIT {hit.hit_id} is too old to be extended.")
    if total > MOST_ASSIGNMENTS:
        raise Refusal(
            "InvalidMaximumAssignmentsIncrease", f"A HIT has at most {MOST_ASSIGNMENTS} assignments."
        )
    if hit.max_assignments < TEN <= total:
        raise Refusal(
            "InvalidMaximumAssignmentsIncrease",
            f"HIT {hit.hit_id} was created with fewer than {TEN} assignments "
            f"and cannot be extended to {TEN} or more.",
        )


@transaction.atomic
def move_expiry(hit: HIT, *, expires_at: datetime, now: datetime) -> None:
    """Set a new expiry; a past one expires the HIT at once. The same time twice is refused, as on MTurk."""
    hit = HIT.objects.locked(hit.pk)
    _check_not_disposed(hit)
    token = f"{hit.hit_id}-{int(expires_at.timestamp() * 1000)}"
    Token.objects.refuse_used(hit.requester, operation="MoveExpiry", token=token, now=now)
    is_past, is_longer = expires_at <= now, expires_at > max(hit.expires_at, now)
    hit.expires_at, hit.is_expired = max(expires_at, now), hit.is_expired and is_past
    hit.is_reviewing = hit.is_reviewing and hit.expires_at <= now
    hit.save(update_fields=["expires_at", "is_expired", "is_reviewing"])
    ledger.settle(hit, now=now)
    Token.objects.remember(hit, operation="MoveExpiry", token=token, now=now)
    if is_longer:
        events.record(hit, "HITExtended", at=now)
    if is_past and not hit.is_expired:
        expire(hit, now=now)


def expire(hit: HIT, *, now: datetime) -> None:
    """Act upon an expiry that has come: release what nobody took. The HIT's row must be locked."""
    hit.is_expired = True
    hit.save(update_fields=["is_expired"])
    ledger.settle(hit, now=now)
    is_new = events.reviewable(hit, now=now) if hit.free else []
    events.record(hit, "HITExpired", *is_new, at=hit.expires_at)


@transaction.atomic
def dispose(hit: HIT, *, now: datetime) -> None:
    """Delete a HIT that is reviewable and wholly decided. Raises Refusal InvalidHITState otherwise."""
    hit = HIT.objects.locked(hit.pk)
    status = hit.status(now=now)
    if status not in {HIT.Status.REVIEWABLE, HIT.Status.REVIEWING} or hit.submitted:
        raise refusals.wrong_hit_state(hit.hit_id, status=status, allowed="Reviewing,Reviewable")
    hit.disposed_at = now
    hit.save(update_fields=["disposed_at"])
    ledger.settle(hit, now=now)
    events.record(hit, "HITDisposed", at=now)


@transaction.atomic
def set_reviewing(hit: HIT, *, is_reviewing: bool, now: datetime) -> None:
    """Move a HIT from Reviewable to Reviewing or back. Raises Refusal InvalidHITState from anywhere else."""
    hit = HIT.objects.locked(hit.pk)
    needed = HIT.Status.REVIEWABLE if is_reviewing else HIT.Status.REVIEWING
    status = hit.status(now=now)
    if status != needed:
        raise refusals.wrong_hit_state(hit.hit_id, status=status, allowed=needed)
    hit.is_reviewing = is_reviewing
    hit.save(update_fields=["is_reviewing"])


@transaction.atomic
def set_type(hit: HIT, *, hit_type: HITType, now: datetime) -> None:
    """Give a HIT the properties of another type. Raises Refusal InvalidHITState, InsufficientFunds.

    The reward stays once somebody has accepted the HIT: what was promised is what is paid.
    """
    requirements.check(hit_type.requirements)
    hit = HIT.objects.locked(hit.pk)
    status = hit.status(now=now)
    if status == HIT.Status.DISPOSED or (hit.taken and hit.hit_type.reward_cents != hit_type.reward_cents):
        raise refusals.wrong_hit_state(hit.hit_id, status=status, allowed=HIT.Status.ASSIGNABLE)
    ledger.set_hold(hit, slots=0, now=now)
    ledger.count_open(hit, is_open=False)
    hit.hit_type = hit_type
    hit.save(update_fields=["hit_type"])
    ledger.settle(hit, now=now)
