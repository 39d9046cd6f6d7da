"""Who is posting, without cookies: third-party frames get none, so a signed, expiring token is in the form."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core import signing
from django.utils.crypto import salted_hmac

from annotators.models import Assignment
from statements import Hole, Statement, Together
from surveys.answering.consents import has_consent
from surveys.answering.contents import OUTPUTS, contents_of, with_contents
from surveys.answering.presentation import RESPONSES, with_responses
from surveys.models import Questionnaire, Response
from surveys.operations import log_context

SALT = "surveys.hit"
# After the deadline the marketplace takes nothing more; the slack is for clocks that differ.
SLACK = timedelta(hours=1)


class TokenError(Exception):
    """The token is not one of ours, or not for this questionnaire."""


class TokenExpired(TokenError):
    """It was ours, but its time is over."""


class TokenOutdated(TokenExpired):
    """The page was opened with an AssignmentId that is no longer the worker's."""


@dataclass(frozen=True, slots=True)
class Bearer:
    """Whose token it is, and the marketplace's address the frame was opened with ("" if it gave none)."""

    assignment: Assignment
    submit_to: str
    assignment_id: str = ""


def issue(assignment: Assignment, *, submit_to: str) -> str:
    claims = {
        "a": assignment.pk,
        "i": assignment.assignment_id,
        "n": assignment.nonce.hex,
        "s": submit_to,
    }
    return signing.dumps(claims, salt=SALT, compress=True)


def kept_under(assignment: Assignment) -> str:
    """Return the name under which a browser keeps what has not arrived: it tells nobody whose, and is nobody else's."""
    return salted_hmac(SALT, f"{assignment.pk}:{assignment.nonce.hex}", algorithm="sha256").hexdigest()


def read(
    token: str,
    *,
    questionnaire: Questionnaire,
    issued_to: Assignment | None = None,
    is_late_ok: bool = False,
) -> Bearer:
    """Return the bearer. Raises TokenExpired, unless late is as good as in time, or TokenError.

    `issued_to`: what `author` returned a moment ago.
    """
    in_time = questionnaire.batch.assignment_duration + SLACK
    bearer = _bearer(token, max_age=None if is_late_ok else in_time, known=issued_to)
    if questionnaire.hit is None or bearer.assignment.hit_id != questionnaire.hit_id:
        raise TokenError
    bearer.assignment.hit = questionnaire.hit
    if not is_late_ok and bearer.assignment_id != bearer.assignment.assignment_id:
        raise TokenOutdated
    return bearer


AUTHOR = Statement(
    lambda: (
        Assignment.objects.select_related("worker", "hit__questionnaire__batch__survey")
        .annotate(has_consent=has_consent("hit__questionnaire__batch__survey"))
        .filter(pk=Hole("pk", Assignment._meta.pk), nonce=Hole("nonce", Assignment._meta.get_field("nonce")))
    )
)
AUTHOR_AND_WORK = Together(AUTHOR, RESPONSES)
RESPONSE = Statement(
    lambda: with_contents(
        Response.objects.select_related("assignment__hit__questionnaire__batch"), OUTPUTS
    ).filter(
        assignment=Hole("pk", Assignment._meta.pk),
        assignment__nonce=Hole("nonce", Assignment._meta.get_field("nonce")),
        assignment__hit__questionnaire=Hole("questionnaire", Questionnaire._meta.pk),
        position=Hole("position", Response._meta.get_field("position")),
    )
)


def response(token: str, *, questionnaire: uuid.UUID, position: int) -> Response | None:
    """Return what an author has at a position, in one query with all that a draft needs; None where there is none.

    Raises TokenError.
    """
    claims = _claims(token, max_age=None)
    page = {"pk": claims["a"], "nonce": claims["n"], "questionnaire": questionnaire}
    for found in contents_of(RESPONSE, OUTPUTS, **page, position=position):
        found.batch = found.assignment.hit.questionnaire.batch
        log_context.bind(assignment=found.assignment_id)
        return found
    return None


def author(token: str, *, is_submitting: bool = False) -> Assignment:
    """Return the assignment that a page was issued for, however long ago. Raises TokenError.

    What is submitted is written into its responses: they are read with it.
    """
    claims = _claims(token, max_age=None)
    page = {"pk": claims["a"], "nonce": claims["n"]}
    work = AUTHOR_AND_WORK
    found = with_responses(work, **page, assignment=claims["a"]) if is_submitting else AUTHOR.first(**page)
    if found is None:
        raise TokenError
    log_context.bind(assignment=found.pk, hit=found.hit.hit_id)
    return found


def _bearer(token: str, *, max_age: timedelta | None, known: Assignment | None = None) -> Bearer:
    claims = _claims(token, max_age=max_age)
    assignment = known or AUTHOR.first(pk=claims["a"], nonce=claims["n"])
    if assignment is None:
        raise TokenError
    log_context.bind(assignment=assignment.pk)
    return Bearer(assignment, claims["s"], claims["i"])


def _claims(token: str, *, max_age: timedelta | None) -> dict[str, Any]:
    try:
        claims: dict[str, Any] = signing.loads(token, salt=SALT, max_age=max_age)
    except signing.SignatureExpired as error:
        raise TokenExpired from error
    except signing.BadSignature as error:
        raise TokenError from error
    return claims
