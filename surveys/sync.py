"""Celery tasks: fetch, check again, delegate. Each can be lost, doubled or run late without harm.

No broker is trusted to keep a task: `sweep` finds all due work again in the database.
"""

import logging
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.utils import timezone

from annotators.crowds.base import has_market
from annotators.crowds.mturk import listing, mirror
from annotators.crowds.mturk.gateway import Gateway, HITGone, MarketError, NotReady, Refused
from annotators.crowds.mturk.leases import Lease, lease
from annotators.failpoints import reach
from annotators.models import HIT, Assignment, Call
from annotators.outbox import holds, journal, market
from statements import Change, Hole, Statement
from surveys import notes
from surveys.answering import allocation, answer_copy, claiming, collection
from surveys.models import ApiRequest, Appeal, Batch, Importing, Questionnaire, Survey, Webhook
from surveys.models.api import KEPT
from surveys.operations import accounts, alarms, disk, purging, reconciling
from surveys.operations.backups import recency
from surveys.operations.task_app import app
from surveys.publishing import gone, hits, preconditions, questionnaires, quota, stopping
from surveys.publishing.budget import OverBudget
from surveys.results import kept
from surveys.review import (
    appeal_notes,
    decisions,
    delivery,
    due_work,
    policy_change,
    replacements,
    second_look,
)
from surveys.simulating import asking
from surveys.studies import scoring

FAILURES_IN_A_ROW = 3  # then the marketplace is left alone until the next sweep
PUBLISHED_AT_ONCE = (
    3_000  # HITs of a batch for which a task waits: as many as a worker may create in a minute
)
SIMULATED_SECONDS = 1  # of a turn: so long others wait for it
logger = logging.getLogger(__name__)


@app.task
def sweep() -> None:
    """Find due work in the database: batches to publish, HITs to sync, batches to finish."""
    for batch in Batch.objects.filter(status=Batch.Status.PUBLISHING):
        publish_batch.delay(batch.pk)
    for batch in Batch.objects.filter(status=Batch.Status.OPEN):
        _enqueue_unpublished(batch)
        due_work.finish(batch)
    stopped = Batch.objects.filter(status=Batch.Status.STOPPED)
    for batch in stopped.filter(Exists(Questionnaire.objects.filter(batch=OuterRef("pk"), hit=None))):
        _enqueue_unpublished(batch)
    _enqueue_long_work()
    for batch in policy_change.to_judge_again():
        judge_again.delay(batch.pk)
    reach("sweep.half")
    for pk in set(stopping.hits_to_expire().values_list("questionnaire__batch", flat=True)):
        expire_batch.delay(pk)
    send_alarms.delay()
    if Webhook.objects.exists():
        send_webhooks.delay()
    sweep_claims.delay()
    if (hold := holds.current()) and reconciling.is_due(hold):
        compare_if_due.delay()
    _enqueue(due_work.claim_due(every=timedelta(seconds=settings.SYNC_EVERY_SECONDS / 2)))
    list_marketplaces.delay()
    sync_moved.delay()
    settle_calls.delay()


@app.task
def sync_moved() -> None:
    """Sync the HITs of which something has come in: two indexed queries where nothing has."""
    _enqueue(due_work.claim_moved())


@app.task
def list_marketplaces() -> None:
    """Find what has moved on the marketplaces without our pages knowing."""
    for endpoint in listing.due(now=timezone.now()):
        list_hits.delay(endpoint)


@app.task
def list_hits(endpoint: str) -> None:
    """List a marketplace's HITs, page by page, and sync those that have moved."""
    try:
        n_moved = listing.take(endpoint, gateway=Gateway(endpoint))
    except MarketError as error:
        logger.warning("The HITs of %s are listed with the next sweep: %s", endpoint, error)
        return
    if n_moved:
        sync_moved.delay()


@app.task
def sweep_claims() -> None:
    """Remove the claims that can't be confirmed any more."""
    if n_swept := claiming.sweep():
        logger.info("Removed %d claims that the marketplace has not confirmed.", n_swept)


@app.task
def send_alarms() -> None:
    """Mail researchers what can't wait until they look."""
    alarms.send_due()
    reconciling.remind()
    disk.warn()
    recency.warn()


@app.task
def send_webhooks() -> None:
    """Tell the webhooks of studies what has happened, and try again what has not arrived."""
    # Here, not at the top: it loads Pillow, by what it shares with the fetching of pictures.
    from surveys.operations import webhooks

    webhooks.notice()
    webhooks.send_due()


@app.task
def compare_if_due() -> None:
    """Compare our books with the marketplaces' after a restore, if that is still to be done."""
    reconciling.compare_if_due()


@app.task
def compare_books() -> None:
    """Compare our books with the marketplaces' because a person asked, unless another process is at it."""
    with suppress(reconciling.BeingCompared):
        reconciling.compare()


@app.task
def heartbeat() -> None:
    """Nothing but something to take: config.celery writes down that beat sent it and that a worker took it."""


@app.task
def score_surveys() -> None:
    """Find outputs without a score of today's metrics."""
    for survey in scoring.unscored():
        score_outputs.delay(survey.pk)


@app.task
def forget_api_requests() -> None:
    """Delete what was answered under idempotency keys that have ended."""
    ApiRequest.objects.filter(begun_at__lt=timezone.now() - KEPT).delete()


@app.task
def look_again() -> None:
    """Walk through what the sweep has seen before: texts changed in the database are scored again, old HITs settled."""
    for pk in Survey.objects.values_list("pk", flat=True):
        score_outputs.delay(pk)
    due_work.look_again()


@app.task
def make_report(report_pk: int) -> None:
    """Make a report that a page or the sweep has asked for; whoever comes second does nothing."""
    # Here, not at the top: a worker needs pandas for this alone, and has it with the first report it makes.
    from surveys.results import reports

    if reports.make(report_pk) and kept.brings_pictures(report_pk):
        make_smaller_pictures.delay()


@app.task
def tidy() -> None:
    """Remove what is kept for a time only."""
    # Here, not at the top: it loads pandas and Pillow.
    from surveys.operations import tidying

    tidying.tidy()


@app.task
def purge_workers() -> None:
    """Erase who has deleted their account, and, where a time is set, who did nothing for as long as ids are kept."""
    _with_marketplace(accounts.forget_closed)
    if (days := settings.KEEP_WORKER_IDS_DAYS) > 0:
        before = timezone.now() - timedelta(days=days)
        report = purging.purge(before)
        logger.info("Purged %d workers; %d have to be kept.", report.n_purged, len(report.kept))
        _with_marketplace(lambda: accounts.purge(before).n_erased)


def _with_marketplace(forget: Callable[[], int]) -> None:
    """What the marketplace does not answer today it is asked again tomorrow."""
    try:
        if n_forgotten := forget():
            logger.info("Forgot %d people with their accounts in the marketplace.", n_forgotten)
    except MarketError as error:
        logger.warning("The accounts of the marketplace wait for the next day: %s", error)


@app.task
def score_outputs(survey_pk: int, after: int = 0) -> None:
    """Score one chunk of a survey's outputs, then ask for the next one."""
    survey = Survey.objects.get(pk=survey_pk)
    if last := scoring.score_next(survey, after=after):
        score_outputs.delay(survey_pk, after=last)


@app.task
def import_items(import_pk: int) -> None:
    """Write a large import that somebody has confirmed; whoever comes second does nothing."""
    # Here, not at the top: it loads Pillow.
    from surveys.studies.importing import later

    if later.run(import_pk):
        make_smaller_pictures.delay()


@app.task
def make_smaller_pictures(after: str = "") -> None:
    """Make the smaller copies of some pictures that came in, then ask for the next ones."""
    # Here, not at the top: a worker needs Pillow for this alone.
    from surveys.studies import smaller

    if last := smaller.make_next(after=after):
        make_smaller_pictures.delay(after=last)


@app.task
def publish_batch(batch_pk: int) -> None:
    """Write the questionnaires, register the HITType, publish each HIT in a task of its own; by link, all here."""
    batch = Batch.objects.get(pk=batch_pk)
    if batch.status != Batch.Status.PUBLISHING:
        return
    reach("publish.begun")
    if questionnaires.write(batch):
        return
    reach("publish.written")
    if not batch.has_market:
        hits.publish_here(batch)
        return
    if problem := _begin(batch):
        Batch.objects.filter(pk=batch.pk).update(error=problem)
        return
    _enqueue_unpublished(batch)
    reach("publish.enqueued")
    hits.finish_publishing(batch)


@app.task(rate_limit="50/s")
def publish_questionnaire(questionnaire_pk: str) -> None:
    """Create one HIT; the last one opens the batch."""
    questionnaire = Questionnaire.objects.select_related("batch__hit_type").get(pk=questionnaire_pk)
    batch = questionnaire.batch
    if hits.is_to_publish(questionnaire):
        hits.publish_questionnaire(questionnaire, gateway=Gateway(batch.endpoint))
    reach("publish.linked")
    hits.finish_publishing(batch)
    reach("publish.opened")


@app.task(rate_limit="20/s")
def sync_hit(hit_pk: int) -> None:
    """Fetch one HIT's assignments, recover and grade answers, decide, act, replace. One task a HIT at a time."""
    hit = TO_SYNC.get(pk=hit_pk)
    with lease(hit) as held:
        if held:
            reach("sync.leased")
            try:
                _settle(hit, held=held)
                reach("sync.settled")
            except HITGone:
                gone.note_missing(hit)
            except MarketError as error:
                logger.warning("Sync of HIT %s waits for the next sweep: %s", hit.hit_id, error)
                return
    ENDED(pk=hit_pk)


THIS_HIT = Hole("pk", HIT._meta.pk)
TO_SYNC = Statement(
    lambda: HIT.objects.select_related("hit_type", "questionnaire__batch").filter(pk=THIS_HIT)
)
ENDED = Change(lambda: HIT.objects.filter(pk=THIS_HIT), enqueued_at=None)


@app.task(autoretry_for=(NotReady,), retry_backoff=30, max_retries=5)
def tell_of_appeal(appeal_pk: int) -> None:
    """Write to a worker what has become of their appeal. Where that is lost, the page of the appeal says it."""
    related = ("assignment__worker", "assignment__decision", "assignment__hit__questionnaire__batch")
    appeal = Appeal.objects.select_related(*related).get(pk=appeal_pk)
    if (endpoint := appeal.assignment.worker.source) not in settings.MTURK_ENDPOINTS or holds.current():
        return
    try:
        appeal_notes.tell(appeal, gateway=Gateway(endpoint))
    except NotReady:
        raise
    except MarketError as error:
        logger.warning("The worker reads of appeal %s on its page alone: %s", appeal_pk, error)


@app.task
def sync_batch(batch_pk: int) -> None:
    """Sync a batch's HITs now, because a researcher asked or decided something: also those that were gone."""
    of_batch = HIT.objects.filter(questionnaire__batch=batch_pk)
    mirror.ask_again(of_batch)
    of_batch.update(moved_at=timezone.now())
    _enqueue(due_work.claim(of_batch.order_by("pk")))


@app.task
def simulate(batch_pk: int, turn: int) -> None:
    """Have simulated people work on their batch for a moment, then let other tasks come before the next turn."""
    # Here, not at the top: a worker needs what people know and do for this alone.
    from surveys.simulating import working

    simulation = asking.lease(batch_pk, turn=turn)
    if simulation is None:
        return
    batch = simulation.batch
    if batch.status == Batch.Status.DRAFT:
        questionnaires.start_publishing(batch, by=simulation.asked_by)
    if batch.status == Batch.Status.PUBLISHING:
        hits.publish_here(batch)
    standing = working.go_on(simulation, seconds=SIMULATED_SECONDS, handed_in=sync_hit)
    due_work.finish(batch)
    if standing == working.Standing.GOES_ON:
        simulate.delay(batch_pk, turn + 1)
    if standing == working.Standing.ENDED:
        working.appeal(batch)
        about, text = (
            f"simulated:{batch.pk}:{simulation.n_people}",
            f"Simulated people are done with {batch}.",
        )
        notes.tell(simulation.asked_by_id, about=about, text=text, url=batch.get_absolute_url())


@app.task
def judge_again(batch_pk: int) -> None:
    """Judge again what rules decided before a batch was given another policy, and no person has decided since."""
    policy_change.judge_again(Batch.objects.get(pk=batch_pk))


@app.task
def expire_batch(batch_pk: int) -> None:
    """Expire the open HITs of a batch that is stopped, complete or full. Who has accepted one may still submit it."""
    to_expire = stopping.hits_to_expire().filter(questionnaire__batch=batch_pk)
    n_failures = 0
    for hit in to_expire.select_related("hit_type").order_by("expires_at", "pk"):
        n_failures = 0 if _expire(hit) else n_failures + 1
        if n_failures == FAILURES_IN_A_ROW:
            return


@app.task
def settle_calls() -> None:
    """Find the calls whose outcome is not known, and those nobody else makes: a bonus, a decision on a settled HIT."""
    for pk in journal.to_settle().values_list("pk", flat=True):
        settle_call.delay(pk)


@app.task(rate_limit="20/s")
def settle_call(call_pk: int) -> None:
    """Ask the marketplace what became of one call, and make it if that is still to be done."""
    call = Call.objects.select_related("hit", "assignment__hit__hit_type", "assignment__worker").get(
        pk=call_pk
    )
    market.settle(call, gateway=Gateway(call.endpoint))


def _enqueue_long_work() -> None:
    """Send tasks for what somebody has asked for and need not wait for."""
    for simulation in asking.due():
        simulate.delay(simulation.pk, simulation.turn)
    for pk in kept.due():
        make_report.delay(pk)
    for pk in Importing.objects.filter(ended_at=None).values_list("pk", flat=True):
        import_items.delay(pk)


def _begin(batch: Batch) -> str:
    """Register the HITType, once the account holds enough. Returns what stands in the way, or nothing."""
    if batch.hit_type:
        return ""
    gateway = Gateway(batch.endpoint)
    try:
        if problem := preconditions.balance_problem(batch, gateway=gateway):
            return problem
        hits.register_hit_type(batch, gateway=gateway)
    except MarketError as error:
        return str(error)
    return ""


def _expire(hit: HIT) -> bool:
    """Tell whether the marketplace answered: a HIT it refuses does not keep the others from being expired."""
    try:
        return stopping.expire(hit, gateway=Gateway(hit.endpoint))
    except MarketError as error:
        logger.warning("HIT %s is expired by the next sweep: %s", hit.hit_id, error)
        return isinstance(error, Refused)


def _enqueue(claimed: Sequence[int]) -> None:
    """Enqueue a task for each of these HITs. One that waits too long is dropped."""
    expires = max(1.0, due_work.waits_at_most().total_seconds())
    for pk in claimed:
        sync_hit.apply_async((pk,), expires=expires)


def _enqueue_unpublished(batch: Batch) -> None:
    """The next sweep enqueues them again, and more: what nobody took until then is dropped.

    But one of them waits behind nothing that comes later, and is not dropped: where a worker is so slow that something
    else is always due, no other is ever taken. It is drawn, as the first may have been refused.
    """
    waiting = hits.to_publish(batch)[:PUBLISHED_AT_ONCE]
    ahead = secrets.choice(waiting) if waiting else None
    later: dict[str, Any] = {"expires": max(10, settings.SYNC_EVERY_SECONDS)}
    for pk in waiting:
        publish_questionnaire.apply_async((str(pk),), **({"priority": 0} if pk == ahead else later))


def _settle(hit: HIT, *, held: Lease[HIT]) -> None:
    """Without a marketplace, or of a HIT it does not know, there is nothing to fetch and nobody to tell."""
    is_there = has_market(hit.endpoint) and mirror.is_asked_now(hit)
    gateway = Gateway(hit.endpoint, before_call=held.renew) if is_there else None
    if quota.has_slots(hit.questionnaire.batch):
        for assignment in due_work.unsettled().filter(hit=hit):
            allocation.settle(assignment)
    if gateway:
        _fetch(hit, gateway=gateway)
    elif hit.gone_at is None:
        mirror.mark_synced(hit)
    _decide(hit)
    due_work.reopen(hit)
    to_carry_out = due_work.to_carry_out(hit)
    for assignment in to_carry_out:
        delivery.carry_out(assignment, gateway=gateway)
        reach("sync.carried_out")
    if to_carry_out:
        due_work.reopen(hit)
    if gateway:
        _replace(hit, gateway=gateway)


def _decide(hit: HIT) -> None:
    """Look at who the marketplace has named, believe them, and decide on what they handed in."""
    for assignment in due_work.undecided(hit):
        second_look.look(assignment)
    claiming.confirm(hit)
    to_decide = due_work.undecided(hit)
    # Another HIT with the same items was synced at the same time, and was quicker.
    for assignment in to_decide:
        if assignment.is_claimed:
            second_look.look(assignment)
    if to_decide:
        decisions.record_decisions(to_decide, batch=hit.questionnaire.batch)
        reach("sync.decided")


def _fetch(hit: HIT, *, gateway: Gateway) -> None:
    was_missing = hit.missing_since is not None
    fetched = mirror.fetch(hit, gateway=gateway)
    if was_missing:
        gone.note_found(hit)
    for assignment in fetched:
        _recover(assignment, hit.questionnaire)
        reach("sync.recovered")


def _replace(hit: HIT, *, gateway: Gateway) -> None:
    for assignment in replacements.to_replace(hit):
        try:
            replacement = replacements.replace(assignment, questionnaire=hit.questionnaire, gateway=gateway)
        except OverBudget:
            reach("replace.held_back")
            continue  # the batch's page says so; the next sweep asks again
        if replacement and replacement.questionnaire.hit_id is None:
            reach("replace.sibling_planned")
            publish_questionnaire.delay(str(replacement.questionnaire_id))
            reach("replace.sibling_enqueued")


def _recover(assignment: Assignment, questionnaire: Questionnaire) -> None:
    try:
        collection.recover(assignment, questionnaire=questionnaire)
    except answer_copy.IncompleteAnswers as error:
        logger.warning("Assignment %s waits for a person: %s", assignment.pk, error)
