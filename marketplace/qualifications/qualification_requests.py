"""Workers ask for a qualification, or take its test; a requester, the type itself, or an AnswerKey gives it."""

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.utils.formats import date_format
from django.utils.translation import gettext, gettext_lazy

from marketplace import ids
from marketplace.accounts.sessions import lock_account
from marketplace.models import (
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.qualifications import qualification_types
from marketplace.questions import answer_keys, question_forms
from marketplace.questions.answer_forms import AnswerForm
from marketplace.refusals import Refusal, WorkerRefusal

Status = QualificationRequest.Status
TIME_IS_UP = gettext_lazy("The time for this test is over; what came later does not count.")


def check(kind: QualificationType, *, worker: Worker, now: datetime) -> None:
    """Raise WorkerRefusal when the worker cannot ask for the qualification now."""
    if kind.status != QualificationType.Status.ACTIVE or kind.disposed_at is not None:
        raise WorkerRefusal(gettext("This qualification cannot be requested at present."))
    held = Qualification.objects.filter(
        qualification_type=kind, worker=worker, status=Qualification.Status.GRANTED
    )
    if not kind.is_retakeable and held.exists():
        raise WorkerRefusal(gettext("You have this qualification."))
    last = QualificationRequest.objects.filter(qualification_type=kind, worker=worker).order_by("pk").last()
    if last is not None:
        _check_retry(kind, last=last, now=now)


def _check_retry(kind: QualificationType, *, last: QualificationRequest, now: datetime) -> None:
    """Without a RetryDelayInSeconds a worker asks once (API reference, CreateQualificationType)."""
    if last.status == Status.STARTED and last.deadline is not None and last.deadline > now:
        raise WorkerRefusal(gettext("You are taking the test of this qualification."))
    if last.status == Status.PENDING:
        raise WorkerRefusal(
            gettext("You have requested this qualification; the requester has not answered yet.")
        )
    if kind.retry_seconds is None:
        raise WorkerRefusal(gettext("This qualification can be requested once, and you have done so."))
    again_at = last.submitted_at + timedelta(seconds=kind.retry_seconds)
    if again_at > now:
        words = gettext("You can request this qualification again on %(day)s at %(time)s UTC.")
        day, time = date_format(again_at, "d E Y"), date_format(again_at, "H:i")
        raise WorkerRefusal(words % {"day": day, "time": time})


@transaction.atomic
def submit(kind: QualificationType, *, worker: Worker, now: datetime) -> QualificationRequest:
    """Ask for a qualification without a test; an auto-granted one is given at once. Raises WorkerRefusal."""
    lock_account(worker)
    check(kind, worker=worker, now=now)
    try:
        with transaction.atomic():
            request = QualificationRequest.objects.create(
                request_id=ids.entity_id(),
                qualification_type=kind,
                worker=worker,
                submitted_at=now,
                status=Status.GRANTED if kind.auto_granted else Status.PENDING,
            )
    except IntegrityError as error:
        raise WorkerRefusal(gettext("You have requested this qualification already.")) from error
    if kind.auto_granted:
        value = kind.auto_granted_value
        qualification_types.grant(kind, worker=worker, value=value, notify=False, now=now)
    return request


@transaction.atomic
def accept(request: QualificationRequest, *, value: int, now: datetime) -> None:
    """Give what was asked for. Raises Refusal when the request was answered before."""
    _answer(request, status=Status.GRANTED)
    kind = request.qualification_type
    qualification_types.grant(kind, worker=request.worker, value=value, notify=True, now=now)


@transaction.atomic
def reject(request: QualificationRequest, *, reason: str, now: datetime) -> None:
    """Refuse what was asked for and tell the worker. Raises Refusal when the request was answered before."""
    _answer(request, status=Status.REJECTED)
    kind = request.qualification_type
    subject = f"Your request for “{kind.name}” was not granted"
    qualification_types.tell(kind, worker=request.worker, subject=subject, text=reason, now=now)


def _answer(request: QualificationRequest, *, status: str) -> None:
    pending = QualificationRequest.objects.filter(pk=request.pk, status=Status.PENDING)
    if not pending.update(status=status):
        raise Refusal(
            "InvalidQualificationRequestState",
            "This operation can be called with a status of: Submitted",
        )


def find(request_id: str, *, owner: Requester) -> QualificationRequest:
    """Return a request for one of the owner's types. Raises Refusal QualificationRequestDoesNotExist."""
    rows = QualificationRequest.objects.filter(request_id=request_id, qualification_type__requester=owner)
    request = rows.select_related("qualification_type__requester", "worker").first()
    if request is None:
        raise Refusal(
            "QualificationRequestDoesNotExist", f"QualificationRequest {request_id} does not exist."
        )
    return request


@transaction.atomic
def start_test(kind: QualificationType, *, worker: Worker, now: datetime) -> QualificationRequest:
    """Begin the test; the time runs from now. Raises WorkerRefusal."""
    lock_account(worker)
    check(kind, worker=worker, now=now)
    over = kind.requests.filter(worker=worker, status=Status.STARTED, deadline__lte=now)
    over.update(status=Status.LATE)
    try:
        with transaction.atomic():
            return QualificationRequest.objects.create(
                request_id=ids.entity_id(),
                qualification_type=kind,
                worker=worker,
                status=Status.STARTED,
                submitted_at=now,
                deadline=now + timedelta(seconds=kind.test_seconds or 0),
                test=kind.test,
                answer_key=kind.answer_key,
            )
    except IntegrityError as error:
        raise WorkerRefusal(gettext("You have begun this test already.")) from error


def running_test(kind: QualificationType, *, worker: Worker, now: datetime) -> QualificationRequest | None:
    """Return the worker's test under way, unless its time is over."""
    rows = kind.requests.filter(worker=worker, status=Status.STARTED, deadline__gt=now)
    return rows.select_related("qualification_type__requester", "worker").first()


@transaction.atomic
def hand_in_test(request: QualificationRequest, *, form: AnswerForm, now: datetime) -> int | None:
    """Record valid answers; with a key give the value and return it. Raises WorkerRefusal when it is too late."""
    lock_account(request.worker)
    value = _value(request, form=form)
    status = Status.PENDING if value is None else Status.GRANTED
    under_way = QualificationRequest.objects.filter(pk=request.pk, status=Status.STARTED, deadline__gt=now)
    if not under_way.update(status=status, answer=form.document(), submitted_at=now):
        raise WorkerRefusal(TIME_IS_UP)
    if value is not None:
        kind = request.qualification_type
        qualification_types.grant(kind, worker=request.worker, value=value, notify=False, now=now)
    return value


def _value(request: QualificationRequest, *, form: AnswerForm) -> int | None:
    if not request.answer_key:
        return None
    key = answer_keys.read(request.answer_key, test=question_forms.read(request.test))
    return key.value(form.choices())
