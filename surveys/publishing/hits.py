"""Questionnaires become HITs, on the marketplace or, where there is none, rows of our own."""

import uuid
from collections.abc import Sequence

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction
from django.db.models import Case, Value, When

from annotators.crowds.base import HITTypeTerms
from annotators.crowds.links import work as link_work
from annotators.crowds.mturk.gateway import Gateway, HITRecord
from annotators.failpoints import reach
from annotators.models import Call, HITType
from annotators.outbox import journal, market
from statements import Hole, Statement
from surveys import audit, notes
from surveys.models import Batch, Publishing, Questionnaire, create_token
from surveys.publishing import budget
from surveys.publishing.questionnaires import CannotPublish

AT_ONCE = 200  # HITs of our own that are written together


def register_hit_type(batch: Batch, *, gateway: Gateway) -> None:
    """Register the batch's HITType with the marketplace. Equal terms are one HITType, so a repeat is harmless."""
    batch.hit_type = market.offer_hit_type(_terms(batch), gateway=gateway)
    reach("publish.typed")
    batch.save(update_fields=["hit_type"])


def publish_here(batch: Batch) -> bool:
    """Write the HITs of a batch that goes to no marketplace, and open it. Safe to repeat."""
    batch.hit_type = link_work.own_hit_type(_terms(batch), name=f"LBATCH{batch.pk}")
    batch.save(update_fields=["hit_type"])
    while waiting := list(batch.questionnaires.filter(hit=None).order_by("position")[:AT_ONCE]):
        _publish_here(waiting, batch=batch, hit_type=batch.hit_type)
    return finish_publishing(batch)


@transaction.atomic
def _publish_here(waiting: Sequence[Questionnaire], *, batch: Batch, hit_type: HITType) -> None:
    """Write some HITs, each once under its questionnaire's name, so that a page sees how far it is."""
    places = {f"L{one.pk.hex}": one.target_assignments for one in waiting}
    made = link_work.own_hits(hit_type, places=places, lifetime=batch.lifetime)
    reach("publish.hit_written")
    hit_of = Case(*(When(pk=one.pk, then=Value(made[f"L{one.pk.hex}"])) for one in waiting))
    unlinked = Questionnaire.objects.filter(pk__in=[one.pk for one in waiting], hit=None)
    unlinked.update(hit=hit_of)


def publish_questionnaire(questionnaire: Questionnaire, *, gateway: Gateway) -> Call:
    """Create the questionnaire's HIT, once; run again it finds the HIT it made. Returns the call in the outbox.

    In a stopped batch it is only looked for.
    """
    batch = questionnaire.batch
    if batch.hit_type is None:
        raise CannotPublish(f"{batch} has no HITType yet.")
    if batch.status == Batch.Status.STOPPED:
        call = market.settle(Call.objects.get(token=create_token(questionnaire.pk)), gateway=gateway)
    else:
        call = _offer(questionnaire, batch.hit_type, gateway=gateway)
    if call.hit:
        Questionnaire.objects.filter(pk=questionnaire.pk, hit=None).update(hit=call.hit)
    elif call.state == Call.State.REFUSED:
        Batch.objects.filter(pk=batch.pk).update(error=call.error)
    return call


def take_over(questionnaire: Questionnaire, *, record: HITRecord, gateway: Gateway) -> None:
    """Write down the HIT that the marketplace lists for a questionnaire since before a restore. Nothing is bought."""
    batch = questionnaire.batch
    if batch.hit_type is None:
        raise CannotPublish(f"{batch} has no HITType yet.")
    call = market.take_over(batch.hit_type, record=record, gateway=gateway, **_offered(questionnaire))
    if call.hit:
        Questionnaire.objects.filter(pk=questionnaire.pk, hit=None).update(hit=call.hit)


def _offer(questionnaire: Questionnaire, hit_type: HITType, *, gateway: Gateway) -> Call:
    return market.offer_hit(hit_type, gateway=gateway, **_offered(questionnaire))


def _offered(questionnaire: Questionnaire) -> market.Offer:
    return {
        "token": create_token(questionnaire.pk),
        "url": settings.APP_URL + questionnaire.get_absolute_url(),
        "lifetime": questionnaire.batch.lifetime,
        "max_assignments": questionnaire.target_assignments,
    }


def to_publish(batch: Batch) -> list[uuid.UUID]:
    """Return the questionnaires that wait for their HIT.

    In a stopped batch only those whose HIT may exist already, unknown to us: it has to be found to be expired.
    """
    waiting = _waiting(batch)
    if batch.status == Batch.Status.STOPPED:
        made = Call.objects.filter(token__in=waiting, state__in=budget.MAY_HAVE_MADE_A_HIT)
        return [waiting[token] for token in made.values_list("token", flat=True)]
    return list(waiting.values())


def is_to_publish(questionnaire: Questionnaire) -> bool:
    """Tell whether `to_publish` names a questionnaire that was just read, without reading the others."""
    if questionnaire.hit_id is not None:
        return False
    if questionnaire.batch.status != Batch.Status.STOPPED:
        return True
    made = Call.objects.filter(state__in=budget.MAY_HAVE_MADE_A_HIT)
    return made.filter(token=create_token(questionnaire.pk)).exists()


def finish_publishing(batch: Batch) -> bool:
    """Open the batch if every questionnaire has its HIT, and tell whoever published it."""
    if batch.questionnaires.filter(hit=None).exists():
        return False
    return _finish(batch)


@transaction.atomic
def _finish(batch: Batch) -> bool:
    if Publishing.objects.filter(batch=batch, written_at=None).exists():
        return False
    if batch.questionnaires.filter(hit=None).exists():
        return False
    publishing = Batch.objects.filter(pk=batch.pk, status=Batch.Status.PUBLISHING)
    if not publishing.update(status=Batch.Status.OPEN, error=""):
        return False
    notes.tell_publisher(batch, event="published", words=_n_published)
    return True


def _n_published(asked: Publishing) -> str:
    return f"{asked.n_hits:,} HIT{'' if asked.n_hits == 1 else 's'}."


@transaction.atomic
def retry_refused(batch: Batch, *, by: AbstractBaseUser | AnonymousUser | None = None) -> int:
    """Plan the refused CreateHIT calls of a batch again, for example after its account was topped up."""
    refused = Call.objects.filter(token__in=_waiting(batch), state=Call.State.REFUSED)
    Batch.objects.filter(pk=batch.pk).update(error="")
    if n := sum(journal.plan_again(call) for call in refused):
        audit.record(audit.Kind.PUBLISHING, "retry", batch=batch, by=by, details={"n_hits": n})
    return n


def _terms(batch: Batch) -> HITTypeTerms:
    return HITTypeTerms(
        title=batch.title,
        description=batch.description,
        keywords=batch.keywords,
        reward=batch.reward,
        assignment_duration=batch.assignment_duration,
        auto_approval_delay=batch.auto_approval_delay,
    )


def _waiting(batch: Batch) -> dict[str, uuid.UUID]:
    """Return {token of its CreateHIT call: questionnaire} for those without a HIT, in the order of the batch."""
    return {create_token(pk): pk for (pk,) in WITHOUT_HIT.rows(batch=batch.pk)}


WITHOUT_HIT = Statement(
    lambda: (
        Questionnaire.objects.filter(batch=Hole("batch", Batch._meta.pk), hit=None)
        .order_by("position")
        .values_list("pk")
    )
)
