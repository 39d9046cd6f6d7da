"""What a request says a HIT is, read into the engine's values."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings

from marketplace.api.errors import bad_document, bad_value, request_error
from marketplace.engine.hits import Offer, TypeValues
from marketplace.qualifications import requirements
from marketplace.questions import answer_keys, documents, hit_questions, question_forms
from marketplace.refusals import Refusal

DEFAULT_AUTO_APPROVAL_SECONDS = 2_592_000  # 30 days when the member is left out (recorded in psiTurk's tests)
HIGHEST_CENTS = 100_000_000


def type_values(body: dict[str, Any]) -> TypeValues:
    """Read the members HITs of a type share. Raises ApiError, Refusal."""
    return TypeValues(
        title=body["Title"],
        description=body["Description"],
        keywords=body.get("Keywords", ""),
        reward_cents=cents(body["Reward"], parameter="Reward"),
        duration_seconds=body["AssignmentDurationInSeconds"],
        auto_approval_seconds=body.get("AutoApprovalDelayInSeconds", DEFAULT_AUTO_APPROVAL_SECONDS),
        requirements=[requirements.complete(given) for given in body.get("QualificationRequirements", [])],
    )


def cents(dollars: str, *, parameter: str) -> int:
    """Read an amount of money. Raises ApiError when no payment can be that high."""
    amount = int(Decimal(dollars) * 100) if len(dollars) <= 12 else HIGHEST_CENTS + 1
    if amount > HIGHEST_CENTS:
        raise bad_value(dollars, parameter)
    return amount


def offer(body: dict[str, Any]) -> Offer:
    """Read what one HIT adds. Raises ApiError, Refusal."""
    _check_source(body)
    _check_policies(body)
    _check_question(body["Question"])
    return Offer(
        question=body["Question"],
        max_assignments=body.get("MaxAssignments", 1),
        lifetime=timedelta(seconds=body["LifetimeInSeconds"]),
        annotation=body.get("RequesterAnnotation", ""),
        token=body.get("UniqueRequestToken"),
    )


def _check_source(body: dict[str, Any]) -> None:
    """One of Question and HITLayoutId, and no layout exists outside MTurk's own web pages."""
    if ("Question" in body) == ("HITLayoutId" in body):
        raise bad_value("", "Question", why="Exactly one of Question and HITLayoutId is needed")
    if "HITLayoutId" in body:
        raise Refusal("HITLayoutDoesNotExist", f"HITLayout {body['HITLayoutId']} does not exist.")


def _check_policies(body: dict[str, Any]) -> None:
    """A policy that nobody acts upon would approve or reject differently from what was asked."""
    for name in ("AssignmentReviewPolicy", "HITReviewPolicy"):
        if name in body:
            raise Refusal("ReviewPolicyNotSupported", f"This marketplace does not act upon {name}.")


def _check_question(document: str) -> None:
    with _documents_refused():
        question = hit_questions.parse(document)
    if isinstance(question, hit_questions.ExternalQuestion):
        _check_url(question.url)


def _check_url(url: str) -> None:
    try:
        hit_questions.check_url(url, allow_http=settings.MARKETPLACE_ALLOW_HTTP_QUESTIONS)
    except documents.BadQuestion as error:
        raise bad_value(url, "ExternalURL", why=str(error)) from error


def check_test(test: str, *, answer_key: str) -> None:
    """Raise ApiError unless the documents of a qualification type, where it has some, are valid together."""
    with _documents_refused():
        form = question_forms.read(test) if test else None
        if form is not None and answer_key:
            answer_keys.read(answer_key, test=form)


@contextmanager
def _documents_refused() -> Iterator[None]:
    try:
        yield
    except documents.BadForm as error:
        raise bad_document(str(error), code=error.code) from error
    except documents.BadQuestion as error:
        raise request_error("XMLParseError", str(error)) from error
