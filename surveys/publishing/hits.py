"""Questionnaires become HITs, on the marketplace or, where there is none, rows of our own."""

import uuid

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotators import ledger, links, market, mirror
from annotators.gateway import Gateway
from annotators.models import HIT, Call, Endpoint
from surveys import quota
from surveys.models import Batch, Questionnaire
from surveys.publishing.questionnaires import CannotPublish


def register_hit_type(batch: Batch, *, gateway: Gateway) -> None:
    """Register the batch's HITType with the marketplace. Equal terms are one HITType, so a repeat is harmless."""
    batch.hit_type = market.offer_hit_type(_terms(batch), gateway=gateway)
    batch.save(update_fields=["hit_type"])


def publish_here(batch: Batch) -> bool:
    """Write the HITs of a batch that goes to no marketplace, and open it. Safe to repeat."""
    batch.hit_type = links.own_hit_type(_terms(batch), name=f"LBATCH{batch.pk}")
    batch.save(update_fields=["hit_type"])
    for questionnaire in batch.questionnaires.filter(hit=None):
        hit = links.own_hit(
            batch.hit_type,
            name=f"L{questionnaire.pk.hex}",
            lifetime=batch.lifetime,
            max_assignments=questionnaire.target_assignments,
        )
        Questionnaire.objects.filter(pk=questionnaire.pk, hit=None).update(hit=hit)
    return finish_publishing(batch)


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
    """Return the HITs that still take workers, by what the marketplace said last, and should not.

    Their batch is stopped, or people who came by link have filled the questionnaire.
    """
    on_market = HIT.objects.exclude(hit_type__endpoint=Endpoint.LINK).filter(expires_at__gt=timezone.now())
    stopped = Q(questionnaire__batch__status=Batch.Status.STOPPED)
    return on_market.filter(stopped | Q(questionnaire__in=_full(on_market)))


def _full(hits: QuerySet[HIT]) -> list[uuid.UUID]:
    """Return the questionnaires of these HITs, siblings too, that want no more answers from anybody."""
    running = (Batch.Status.OPEN, Batch.Status.COMPLETE)
    mixed = Batch.objects.filter(takes_links=True, status__in=running)
    full: list[uuid.UUID] = []
    for batch in mixed.filter(questionnaires__hit__in=hits).distinct():
        wanting = {questionnaire.pk for questionnaire in quota.unfilled(batch)}
        families = batch.questionnaires.values_list("pk", "sibling_of")
        full += [pk for pk, root in families if (root or pk) not in wanting]
    return full


def expire(hit: HIT, *, gateway: Gateway) -> None:
    """Expire a HIT that still takes workers; nothing happens to one that has expired."""
    if hit.expires_at > timezone.now():
        market.move_expiration(hit, when=timezone.now(), gateway=gateway)
        mirror.mirror_hit(hit, gateway.get_hit(hit.hit_id))


def _terms(batch: Batch) -> market.HITTypeTerms:
    return market.HITTypeTerms(
        title=batch.title,
        description=batch.description,
        keywords=batch.keywords,
        reward=batch.reward,
        assignment_duration=batch.assignment_duration,
        auto_approval_delay=batch.auto_approval_delay,
    )


def _create_token(pk: uuid.UUID) -> str:
    return f"create:{pk}"


def _waiting(batch: Batch) -> dict[str, uuid.UUID]:
    """Return {token of its CreateHIT call: questionnaire} for those without a HIT, in the order of the batch."""
    waiting = batch.questionnaires.filter(hit=None).order_by("position")
    return {_create_token(pk): pk for pk in waiting.values_list("pk", flat=True)}
