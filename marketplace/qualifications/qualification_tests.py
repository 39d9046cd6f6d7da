"""Workers take the test of a qualification type: started, handed in, marked."""

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from marketplace import ids
from marketplace.models import QualificationRequest, QualificationType, Worker
from marketplace.qualifications import qualification_requests, qualification_types
from marketplace.questions import answer_keys, question_forms
from marketplace.questions.answer_forms import AnswerForm
from marketplace.refusals import WorkerRefusal

Status = QualificationRequest.Status
TIME_IS_UP = "The time for this test is over; what came later does not count."


@transaction.atomic
def start(kind: QualificationType, *, worker: Worker, now: datetime) -> QualificationRequest:
    """Begin the test; the time runs from now. Raises WorkerRefusal."""
    qualification_requests.check(kind, worker=worker, now=now)
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
        raise WorkerRefusal("You have begun this test already.") from error


def running(kind: QualificationType, *, worker: Worker, now: datetime) -> QualificationRequest | None:
    """Return the worker's test under way, unless its time is over."""
    rows = kind.requests.filter(worker=worker, status=Status.STARTED, deadline__gt=now)
    return rows.select_related("qualification_type__requester", "worker").first()


@transaction.atomic
def hand_in(request: QualificationRequest, *, form: AnswerForm, now: datetime) -> int | None:
    """Record valid answers; with a key give the value and return it. Raises WorkerRefusal when it is too late."""
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
