"""What is kept about a person: handed out to them, and deleted when they ask.

Answers and ratings stay, as results rest on them, under a name that follows from nothing. What somebody wrote in their
own words could say who they are, and goes: remarks, texts, appeals, drafts, and earlier versions of answers.
"""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotators.models import Assignment, Call, Source, Worker
from annotators.people.names import purged_name, untraceable_name
from surveys import audit
from surveys.models import (
    AnnotationSlot,
    AnswerRevision,
    Appeal,
    Consent,
    MarkedSpan,
    PersonLabel,
    ProblemReport,
    QuizAttempt,
    Rating,
    Response,
)
from surveys.operations import erased, erasing
from surveys.operations.erased import Deed
from surveys.operations.holding import Waiting, in_the_way, waiting
from surveys.protocols import spans

DELETED_TEXT = "(deleted by its author)"
Status = Assignment.Status


@transaction.atomic
def forget(worker: Worker, *, giving_up: bool = False) -> list[Waiting]:
    """Delete what leads to a person; return what has to be settled first, and then nothing was done.

    `giving_up`: they do without the pay that nobody has decided about, and the answer to an appeal, which is withdrawn.
    """
    locked = _locked(worker)
    held = waiting(locked)
    if not all(giving_up and one.can_be_given_up for one in held):
        return held
    _forget(locked, is_untraceable=True)
    given_up = " ".join(
        f"Gave up pay nobody had decided about: ${one.amount:.2f} for {one.n}." for one in held if one.amount
    )
    audit.record(audit.Kind.PURGE, "forget", worker=Worker.objects.get(pk=locked.pk), reason=given_up)
    return []


@transaction.atomic
def forget_for(
    worker: Worker, *, by: AbstractBaseUser | AnonymousUser | None = None, account: str = ""
) -> list[str]:
    """Delete the same for a person who has asked a researcher to; return what is in the way, for that researcher.

    `by` or the operating system's `account` says who did it. A marketplace or a panel will name them again: their name
    follows from their id, so that they are known again and the id is not stored once more.
    """
    locked = _locked(worker)
    if reasons := in_the_way(locked):
        return reasons
    _forget(locked, is_untraceable=locked.source == Source.LINK)
    details = {"account": account} if account else {}
    forgotten = Worker.objects.get(pk=locked.pk)
    audit.record(audit.Kind.PURGE, "forget_for", worker=forgotten, by=by, details=details)
    return []


def _locked(worker: Worker) -> Worker:
    return Worker.objects.select_for_update(of=("self",)).get(pk=worker.pk)


def _forget(locked: Worker, *, is_untraceable: bool) -> None:
    erased.note(locked, Deed.UNTRACEABLE if is_untraceable else Deed.FORGET)
    erase_person(locked, is_untraceable=is_untraceable)


def erase_person(locked: Worker, *, is_untraceable: bool) -> None:
    """Erase who somebody is and what they wrote. To be called in a transaction, when nothing is in its way."""
    _erase_texts(locked)
    let_go = AnnotationSlot.objects.filter(assignment__worker=locked, assignment__status=Status.ACCEPTED)
    let_go.update(leased_until=timezone.now())
    name = untraceable_name() if is_untraceable else purged_name(locked.worker_id)
    erasing.erase(locked, comments=True, name=name)


def _erase_texts(worker: Worker) -> None:
    AnswerRevision.objects.filter(assignment__worker=worker).delete()
    Response.objects.filter(assignment__worker=worker).update(draft={})
    Rating.objects.filter(response__worker=worker, score=None).update(value="")
    _erase_notes(worker)
    ProblemReport.objects.filter(assignment__worker=worker).delete()
    appeals = Appeal.objects.filter(assignment__worker=worker)
    appeals.filter(answered_at=None).update(text="", made_at=None)
    appeals.exclude(text="").update(text=DELETED_TEXT)
    Assignment.objects.filter(worker=worker).update(answer_xml="", claimed_from="")


def _erase_notes(worker: Worker) -> None:
    """Erase what was said of marks in a text; the marks stay."""
    noted = MarkedSpan.objects.filter(rating__response__worker=worker).exclude(note="")
    for rating in Rating.objects.filter(spans__in=noted).distinct():
        Rating.objects.filter(pk=rating.pk).update(value=spans.without_notes(rating.value))
    noted.update(note="")


def own_data(worker: Worker) -> dict[str, Any]:
    """Return all that is kept about a person, as plain values."""
    works = Assignment.objects.filter(worker=worker).select_related("hit__questionnaire__batch", "decision")
    return {
        "person": {
            "id": worker.worker_id,
            "known_since": worker.created_at,
            "standing": worker.standing,
            "called": list(
                PersonLabel.objects.filter(worker=worker).order_by("pk").values_list("text", flat=True)
            ),
        },
        "invitations": list(
            worker.invitations.order_by("pk").values(
                "batch__title", "name", "email", "created_at", "opened_at", "expires_at", "revoked_at"
            )
        ),
        "panel_visits": list(
            worker.panel_visits.order_by("pk").values(
                "panel__batch__title", "panel__provider", "study", "session", "created_at", "completed_at"
            )
        ),
        "agreed_to": list(
            Consent.objects.filter(worker=worker)
            .order_by("pk")
            .values("text__survey__name", "text__version", "text__text", "language", "given_at")
        ),
        "annotations": [_work(row) for row in works.order_by("pk")],
        "tests": list(
            QuizAttempt.objects.filter(worker=worker)
            .order_by("pk")
            .values("batch__title", "number", "answers", "is_passed", "created_at")
        ),
    }


def _work(row: Assignment) -> dict[str, Any]:
    names = ("status", "loaded_at", "saved_at", "submitted_at", "approved_at", "rejected_at")
    decision = getattr(row, "decision", None)
    appeals = Appeal.objects.filter(assignment=row, made_at__isnull=False)
    return {
        "study": row.hit.questionnaire.batch.title,
        **{name: getattr(row, name) for name in names},
        "browser": row.user_agent,
        "your_remark": row.comment,
        "our_feedback": row.feedback,
        "decision": {"verdict": decision.verdict, "reason": decision.reason} if decision else None,
        "appeals": list(appeals.values("text", "made_at", "outcome", "answer", "answered_at")),
        "problems_reported": list(
            ProblemReport.objects.filter(assignment=row)
            .order_by("pk")
            .values("text", "reported_at", "settled_at")
        ),
        "payments": list(_payments(row).values("operation", "amount", "finished_at")),
        "answers": [_answer(response) for response in row.responses.order_by("position")],
        "earlier_versions": list(row.revisions.order_by("pk").values("data", "created_at")),
    }


def _payments(row: Assignment) -> QuerySet[Call]:
    return Call.objects.filter(assignment=row, amount__gt=0, state=Call.State.DONE).order_by("pk")


def _answer(response: Response) -> dict[str, Any]:
    names = ("position", "answer", "is_correct", "skip_reason", "active_seconds", "saved_at", "draft")
    return {
        **{name: getattr(response, name) for name in names},
        "ratings": list(response.ratings.order_by("pk").values("criterion", "value", "output")),
    }
