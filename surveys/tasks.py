"""Celery tasks: fetch, check again, delegate. Each can be lost, doubled or run late without harm.

No broker is trusted to keep a task: `sweep` finds all due work again in the database.
"""

import logging
from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.db.models import Exists, OuterRef

from annotators import mirror
from annotators.gateway import Gateway, MarketError
from annotators.models import HIT, Assignment, Endpoint
from surveys import allocating, answer_copy, collecting, publishing, review, scoring
from surveys.models import Batch, Questionnaire, Survey

logger = logging.getLogger(__name__)


@shared_task
def sweep() -> None:
    """Find due work in the database: batches to publish, HITs to sync, batches to finish."""
    for batch in Batch.objects.filter(status=Batch.Status.PUBLISHING):
        publish_batch.delay(batch.pk)
    for batch in Batch.objects.filter(status=Batch.Status.OPEN):
        _enqueue_unpublished(batch)
        review.finish(batch)
    stopped = Batch.objects.filter(status=Batch.Status.STOPPED)
    for batch in stopped.filter(Exists(Questionnaire.objects.filter(batch=OuterRef("pk"), hit=None))):
        _enqueue_unpublished(batch)
    for pk in set(publishing.hits_to_expire().values_list("questionnaire__batch", flat=True)):
        expire_batch.delay(pk)
    for hit in review.due_hits(every=timedelta(seconds=settings.SYNC_EVERY_SECONDS / 2)):
        sync_hit.delay(hit.pk)


@shared_task
def heartbeat() -> None:
    """Nothing but something to take: config.celery writes down that beat sent it and that a worker took it."""


@shared_task
def score_surveys() -> None:
    """Find outputs without a score of today's metrics."""
    for survey in scoring.unscored():
        score_outputs.delay(survey.pk)


@shared_task
def look_again() -> None:
    """Walk through all outputs, so that texts changed in the database are scored again; those scored cost little."""
    for pk in Survey.objects.values_list("pk", flat=True):
        score_outputs.delay(pk)


@shared_task
def score_outputs(survey_pk: int, after: int = 0) -> None:
    """Score one chunk of a survey's outputs, then ask for the next one."""
    survey = Survey.objects.get(pk=survey_pk)
    if last := scoring.score_next(survey, after=after):
        score_outputs.delay(survey_pk, after=last)


@shared_task
def publish_batch(batch_pk: int) -> None:
    """Register the HITType, then publish each questionnaire in a task of its own; without a marketplace, all here."""
    batch = Batch.objects.get(pk=batch_pk)
    if batch.status != Batch.Status.PUBLISHING:
        return
    if batch.endpoint == Endpoint.LINK:
        publishing.publish_here(batch)
        return
    if batch.hit_type is None:
        try:
            publishing.register_hit_type(batch, gateway=Gateway(batch.endpoint))
        except MarketError as error:
            Batch.objects.filter(pk=batch.pk).update(error=str(error))
            return
    _enqueue_unpublished(batch)
    publishing.finish_publishing(batch)


@shared_task(rate_limit="20/s")
def publish_questionnaire(questionnaire_pk: str) -> None:
    """Create one HIT; the last one opens the batch."""
    questionnaire = Questionnaire.objects.select_related("batch__hit_type").get(pk=questionnaire_pk)
    batch = questionnaire.batch
    if questionnaire.pk in publishing.to_publish(batch):
        publishing.publish_questionnaire(questionnaire, gateway=Gateway(batch.endpoint))
    publishing.finish_publishing(batch)


@shared_task(rate_limit="20/s")
def sync_hit(hit_pk: int) -> None:
    """Fetch one HIT's assignments, recover and grade answers, decide, act, replace. One task a HIT at a time."""
    hit = HIT.objects.select_related("hit_type", "questionnaire__batch").get(pk=hit_pk)
    with mirror.lease(hit) as is_ours:
        if is_ours:
            try:
                _settle(hit)
            except MarketError as error:
                logger.warning("Sync of HIT %s waits for the next sweep: %s", hit.hit_id, error)


@shared_task
def sync_batch(batch_pk: int) -> None:
    """Sync a batch's HITs now, because a researcher asked or decided something."""
    for hit in HIT.objects.filter(questionnaire__batch=batch_pk):
        sync_hit.delay(hit.pk)


@shared_task
def expire_batch(batch_pk: int) -> None:
    """Expire the open HITs of a stopped batch. Who has accepted one may still submit it."""
    to_expire = publishing.hits_to_expire().filter(questionnaire__batch=batch_pk)
    for hit in to_expire.select_related("hit_type"):
        try:
            publishing.expire(hit, gateway=Gateway(hit.endpoint))
        except MarketError as error:
            logger.warning("HIT %s is expired by the next sweep: %s", hit.hit_id, error)


def _enqueue_unpublished(batch: Batch) -> None:
    for pk in publishing.to_publish(batch):
        publish_questionnaire.delay(str(pk))


def _settle(hit: HIT) -> None:
    """Without a marketplace there is nothing to fetch, and nobody to tell what is decided."""
    questionnaire = hit.questionnaire
    gateway = None if hit.endpoint == Endpoint.LINK else Gateway(hit.endpoint)
    for assignment in review.unsettled().filter(hit=hit):
        allocating.settle(assignment)
    if gateway:
        for assignment in mirror.fetch(hit, gateway=gateway):
            _recover(assignment, questionnaire)
    else:
        mirror.mark_synced(hit)
    for assignment in hit.assignments.exclude(status=Assignment.Status.ACCEPTED).filter(decision=None):
        review.record_decision(assignment, batch=questionnaire.batch)
    review.reopen(hit)
    for assignment in review.to_carry_out(hit):
        review.carry_out(assignment, gateway=gateway)
    review.reopen(hit)
    if gateway:
        _replace(hit, gateway=gateway)


def _replace(hit: HIT, *, gateway: Gateway) -> None:
    for assignment in review.to_replace(hit):
        replacement = review.replace(assignment, questionnaire=hit.questionnaire, gateway=gateway)
        if replacement.questionnaire.hit_id is None:
            publish_questionnaire.delay(str(replacement.questionnaire_id))


def _recover(assignment: Assignment, questionnaire: Questionnaire) -> None:
    try:
        collecting.recover(assignment, questionnaire=questionnaire)
    except answer_copy.IncompleteAnswers as error:
        logger.warning("Assignment %s waits for a person: %s", assignment.pk, error)
