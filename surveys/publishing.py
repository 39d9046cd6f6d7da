"""2: a batch becomes questionnaires, and questionnaires become HITs."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from statistics import median

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from annotators import ledger, market, mirror
from annotators.fees import fee_rate, price
from annotators.gateway import Gateway
from annotators.models import HIT, Assignment, Call
from surveys.models import Batch, Item, Questionnaire, QuestionnaireItem
from surveys.policies import PolicyError, read_policy


class CannotPublish(Exception):
    """The batch can't be published; the message says why."""


@dataclass(frozen=True, slots=True)
class Quote:
    """What a batch will cost in dollars, and what it pays an hour. `minutes` is the time one assignment takes."""

    n_items: int
    n_hits: int
    n_assignments: int
    reward: Decimal
    reward_total: Decimal
    fee_rate: Decimal
    fee_total: Decimal
    total: Decimal
    expected_rejections: Decimal
    replacement_total: Decimal
    worst_case_total: Decimal
    minutes: Decimal
    hourly_wage: Decimal
    is_piloted: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a batch stands, in questionnaires and assignments."""

    status: str
    error: str
    n_questionnaires: int
    n_published: int
    n_wanted: int
    n_open: int
    n_submitted: int
    n_approved: int
    n_rejected: int
    n_flagged: int
    n_replaced: int

    @property
    def n_kept(self) -> int:
        return self.n_submitted + self.n_approved


def quote(batch: Batch, *, rejection_rate: Decimal = Decimal("0.10")) -> Quote:
    """Price a batch as if it were published now.

    A rejected assignment is not paid for, so its replacement costs nothing extra in the end; but the money is
    held until then. `replacement_total` is that additional hold, `worst_case_total` the cost if every
    assignment were rejected, replaced once, and paid after all because its rejection was overturned.
    """
    n_items = batch.survey.items.count()
    n_hits = -(-n_items // batch.items_per_hit)
    n, per_hit = n_hits * batch.assignments_per_hit, batch.assignments_per_hit
    each = price(batch.reward, max_assignments=per_hit)
    rejections = n * rejection_rate if batch.review_policy.get("kind") == "minimum_correct" else Decimal(0)
    minutes, is_piloted = _minutes(batch)
    return Quote(
        n_items=n_items,
        n_hits=n_hits,
        n_assignments=n,
        reward=batch.reward,
        reward_total=n * batch.reward,
        fee_rate=fee_rate(max_assignments=per_hit),
        fee_total=n * (each - batch.reward),
        total=n * each,
        expected_rejections=rejections,
        replacement_total=(rejections * each).quantize(Decimal("0.01")),
        worst_case_total=n * each * (2 if rejections else 1),
        minutes=minutes,
        hourly_wage=(batch.reward * 60 / minutes).quantize(Decimal("0.01")),
        is_piloted=is_piloted,
    )


def problems(batch: Batch) -> list[str]:
    """Return the sentences that say why this batch can't be published; empty if it can."""
    return list(_problems(batch))


def warnings(batch: Batch) -> list[str]:
    """Return the sentences about what a researcher may not expect, although it can be published."""
    return list(_warnings(batch))


def start_publishing(batch: Batch) -> bool:
    """Freeze the definition and write the questionnaires. False if that happened before.

    Raises CannotPublish with all problems. Nothing is sent to the marketplace yet.
    """
    if batch.status != Batch.Status.DRAFT:
        return False
    if found := problems(batch):
        raise CannotPublish(" ".join(found))
    with transaction.atomic():
        draft = Batch.objects.filter(pk=batch.pk, status=Batch.Status.DRAFT)
        snapshot = batch.survey.definition.to_snapshot()
        if not draft.update(status=Batch.Status.PUBLISHING, snapshot=snapshot, published_at=timezone.now()):
            return False
        _write_questionnaires(batch)
    batch.refresh_from_db()
    return True


def register_hit_type(batch: Batch, *, gateway: Gateway) -> None:
    """Register the batch's HITType with the marketplace. Equal terms are one HITType, so a repeat is harmless."""
    terms = market.HITTypeTerms(
        title=batch.title,
        description=batch.description,
        keywords=batch.keywords,
        reward=batch.reward,
        assignment_duration=batch.assignment_duration,
        auto_approval_delay=batch.auto_approval_delay,
    )
    batch.hit_type = market.offer_hit_type(terms, gateway=gateway)
    batch.save(update_fields=["hit_type"])


def publish_questionnaire(questionnaire: Questionnaire, *, gateway: Gateway) -> Call:
    """Create the questionnaire's HIT, once; run again it finds the HIT it made. Returns the ledger's call."""
    batch = questionnaire.batch
    if batch.hit_type is None:
        raise CannotPublish(f"{batch} has no HITType yet.")
    call = market.offer_hit(
        batch.hit_type,
        token=_create_token(questionnaire.pk),
        url=settings.APP_URL + questionnaire.get_absolute_url(),
        lifetime=batch.lifetime,
        max_assignments=questionnaire.target_assignments,
        gateway=gateway,
    )
    if call.hit:
        Questionnaire.objects.filter(pk=questionnaire.pk, hit=None).update(hit=call.hit)
    elif call.state == Call.State.REFUSED:
        Batch.objects.filter(pk=batch.pk).update(error=call.error)
    return call


def to_publish(batch: Batch) -> list[uuid.UUID]:
    """Return the questionnaires that wait for their HIT.

    In a stopped batch only those whose HIT may exist already, unknown to us: it has to be found to be expired.
    """
    waiting = _waiting(batch)
    if batch.status == Batch.Status.STOPPED:
        sent = Call.objects.filter(token__in=waiting, state=Call.State.SENT)
        return [waiting[token] for token in sent.values_list("token", flat=True)]
    return list(waiting.values())


def finish_publishing(batch: Batch) -> bool:
    """Open the batch if every questionnaire has its HIT."""
    if batch.questionnaires.filter(hit=None).exists():
        return False
    publishing = Batch.objects.filter(pk=batch.pk, status=Batch.Status.PUBLISHING)
    return publishing.update(status=Batch.Status.OPEN, error="") == 1


def retry_refused(batch: Batch) -> int:
    """Plan the refused CreateHIT calls of a batch again, for example after its account was topped up."""
    refused = Call.objects.filter(token__in=_waiting(batch), state=Call.State.REFUSED)
    Batch.objects.filter(pk=batch.pk).update(error="")
    return sum(ledger.plan_again(call) for call in refused)


def stop(batch: Batch) -> bool:
    """Take no more workers: status first, so that a HIT that is still being created is expired too."""
    running = Batch.objects.filter(pk=batch.pk, status__in=[Batch.Status.PUBLISHING, Batch.Status.OPEN])
    return running.update(status=Batch.Status.STOPPED) == 1


def hits_to_expire() -> QuerySet[HIT]:
    """Return the HITs of stopped batches that still take workers, by what the marketplace said last."""
    stopped = Q(questionnaire__batch__status=Batch.Status.STOPPED)
    return HIT.objects.filter(stopped, expires_at__gt=timezone.now())


def expire(hit: HIT, *, gateway: Gateway) -> None:
    """Expire a HIT that still takes workers; nothing happens to one that has expired."""
    if hit.expires_at > timezone.now():
        market.move_expiration(hit, when=timezone.now(), gateway=gateway)
        mirror.mirror_hit(hit, gateway.get_hit(hit.hit_id))


def progress(batch: Batch) -> Progress:
    """Count a batch's questionnaires and assignments in three queries."""
    status = Assignment.Status
    questionnaires = batch.questionnaires.aggregate(n=Count("pk"), published=Count("hit"))
    of_batch = Assignment.objects.filter(hit__questionnaire__batch=batch)
    counts = of_batch.aggregate(
        open=Count("pk", filter=Q(status=status.ACCEPTED)),
        submitted=Count("pk", filter=Q(status=status.SUBMITTED)),
        approved=Count("pk", filter=Q(status=status.APPROVED)),
        rejected=Count("pk", filter=Q(status=status.REJECTED)),
        flagged=Count("pk", filter=Q(status=status.SUBMITTED, decision__verdict="flag")),
        replaced=Count("pk", filter=Q(replacement__opened_at__isnull=False)),
    )
    n_wanted = sum(batch.questionnaires.filter(sibling_of=None).values_list("target_assignments", flat=True))
    return Progress(
        status=batch.status,
        error=batch.error,
        n_questionnaires=questionnaires["n"],
        n_published=questionnaires["published"],
        n_wanted=n_wanted,
        **{f"n_{key}": value for key, value in counts.items()},
    )


def _create_token(pk: uuid.UUID) -> str:
    return f"create:{pk}"


def _waiting(batch: Batch) -> dict[str, uuid.UUID]:
    """Return {token of its CreateHIT call: questionnaire} for those without a HIT, in the order of the batch."""
    waiting = batch.questionnaires.filter(hit=None).order_by("position")
    return {_create_token(pk): pk for pk in waiting.values_list("pk", flat=True)}


def _problems(batch: Batch) -> Iterator[str]:
    endpoint = settings.MTURK_ENDPOINTS[batch.endpoint]
    if not batch.survey.items.exists():
        yield "The survey has no items yet."
    missing = batch.survey.items.filter(pictures__file="").distinct().count()
    if missing and endpoint["is_paying"]:
        yield f"{missing} items still wait for their pictures; paid HITs need all of them."
    if batch.auto_approval_delay < timedelta(seconds=2 * settings.SYNC_EVERY_SECONDS):
        yield "The auto-approval delay leaves no time to review: it must be at least two sync intervals."
    if batch.endpoint != "embedded" and not settings.APP_URL.startswith("https://"):
        yield "MTurk shows HITs from https addresses only; ASSENT_APP_URL is not one."
    try:
        read_policy(batch.review_policy, items_per_hit=batch.items_per_hit)
    except PolicyError as error:
        yield str(error)
    ungraded = batch.survey.items.filter(gold="").count()
    if ungraded and batch.review_policy.get("kind") != "never":
        yield f"{ungraded} items have no gold answer, which the review policy needs."


def _warnings(batch: Batch) -> Iterator[str]:
    left_over = batch.survey.items.count() % batch.items_per_hit
    if left_over and batch.review_policy.get("kind") != "never":
        yield (
            f"The items don't fill the last HIT: it shows {left_over} of {batch.items_per_hit}. "
            "The review rule can't judge it, so a person decides about each of its assignments."
        )


def _groups(batch: Batch) -> Iterator[Sequence[Item]]:
    """Yield the items of each HIT in the order of import, so that the rows of a batch CSV stay together."""
    items = list(batch.survey.items.order_by("position"))
    for start in range(0, len(items), batch.items_per_hit):
        yield items[start : start + batch.items_per_hit]


def _write_questionnaires(batch: Batch) -> None:
    groups = list(_groups(batch))
    questionnaires = Questionnaire.objects.bulk_create(
        Questionnaire(batch=batch, position=position, target_assignments=batch.assignments_per_hit)
        for position, _ in enumerate(groups, 1)
    )
    QuestionnaireItem.objects.bulk_create(
        QuestionnaireItem(questionnaire=questionnaire, item=item, position=position)
        for questionnaire, group in zip(questionnaires, groups, strict=True)
        for position, item in enumerate(group, 1)
    )


def _minutes(batch: Batch) -> tuple[Decimal, bool]:
    """Return the median minutes of the survey's earlier assignments, else what the researcher assumed."""
    earlier = Assignment.objects.filter(
        hit__questionnaire__batch__survey=batch.survey, submitted_at__isnull=False
    )
    seconds = [a.work_seconds for a in earlier.only("accepted_at", "submitted_at") if a.work_seconds]
    if not seconds:
        return batch.assumed_minutes, False
    return (Decimal(median(seconds)) / 60).quantize(Decimal("0.01")), True
