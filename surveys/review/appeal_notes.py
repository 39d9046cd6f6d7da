"""Telling a worker through their marketplace what has become of an appeal: MTurk's NotifyWorkers, which costs nothing.

A rejection can't be told twice, and has no field for more. The page behind the code says the same, so that a message
that is lost takes nothing from anybody.
"""

from django.utils.translation import gettext, override

from annotators.crowds.base import crowd_of
from annotators.crowds.mturk.gateway import Gateway, NotReady
from surveys.models import Appeal
from surveys.review import appeal_codes

TEXT_MAX, SUBJECT_MAX = 4096, 200  # API reference: NotifyWorkers in characters


def tell(appeal: Appeal, *, gateway: Gateway) -> None:
    """Say that an appeal has come, or that the rejection stays: each once. What is taken back, the approval says.

    Raises MarketError where the marketplace was not told, or nobody knows; after NotReady it can be tried again.
    """
    if not crowd_of(appeal.assignment).has_market or not appeal.made_at or _is_taken_back(appeal):
        return
    before, news = appeal.told, appeal.outcome or Appeal.Told.RECEIVED
    if not _noted(appeal, before=["", Appeal.Told.RECEIVED] if appeal.outcome else [""], now=news):
        return
    try:
        _send(appeal, gateway=gateway)
    except NotReady:
        _noted(appeal, before=[news], now=before)
        raise


def _noted(appeal: Appeal, *, before: list[str], now: str) -> bool:
    """Write down what is told of an appeal, unless something else was: of two who tell it at a time, one does."""
    return Appeal.objects.filter(pk=appeal.pk, told__in=before).update(told=now) == 1


def _is_taken_back(appeal: Appeal) -> bool:
    decision = getattr(appeal.assignment, "decision", None)
    return appeal.outcome == Appeal.Outcome.OVERTURNED or bool(decision and decision.overturned_at)


def _send(appeal: Appeal, *, gateway: Gateway) -> None:
    batch = appeal.assignment.hit.questionnaire.batch
    with override(batch.page_language or "en"):
        subject, text = _words(appeal, title=batch.title)
    address = f"\n\n{appeal_codes.address()}{appeal.code}/"
    room = TEXT_MAX - len(address)
    gateway.notify(
        appeal.assignment.worker.worker_id, subject=subject[:SUBJECT_MAX], text=text[:room] + address
    )


def _words(appeal: Appeal, *, title: str) -> tuple[str, str]:
    if appeal.answered_at is None:
        said = gettext("A person reads it. The answer will stand here, and at the address below.")
        return gettext("Your appeal is with us: %(title)s") % {"title": title}, said
    return gettext("Your appeal was answered, the rejection stays: %(title)s") % {
        "title": title
    }, appeal.answer
