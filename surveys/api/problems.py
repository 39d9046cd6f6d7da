"""Refusals as RFC 9457 has them: application/problem+json, with the place in a file where one is wrong."""

import json
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from django.forms.utils import ErrorDict
from django.http import HttpResponse
from ninja import Schema
from ninja.errors import ValidationError

from surveys.studies.importing.plan import Problem as RowProblem

CONTENT_TYPE = "application/problem+json"
KINDS = {
    "not-signed-in": "No token that opens anything",
    "not-allowed": "Not allowed",
    "not-found": "Not found",
    "malformed": "The request can't be read",
    "invalid": "Some of it is wrong",
    "rows": "The file can't be imported as it is",
    "refused": "It can't be done now",
    "key-in-use": "The same key is being answered",
    "key-reused": "The key was used for something else",
    "too-many": "Too many requests",
    "unavailable": "It can't be done right now",
    "broken": "Something broke",
    "other": "Refused",
}


class Mistake(Schema):
    """One thing that is wrong: in a field of the request, or at a place in a file.

    `row` counts data rows from 1, `line` the file's lines from 1.
    """

    detail: str
    severity: str = "error"
    field: str | None = None
    row: int | None = None
    line: int | None = None
    column: str | None = None


class Problem(Schema):
    """Why nothing was done (RFC 9457). `type` is `urn:assent:problem:` and a word that stays."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[Mistake] = []


class Refusal(Exception):
    """A request that is answered with a problem."""

    def __init__(
        self,
        status: int,
        kind: str,
        detail: str,
        *,
        errors: Iterable[Mistake] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status, self.kind, self.detail = status, kind, detail
        self.errors, self.headers = list(errors), dict(headers or {})

    def response(self) -> HttpResponse:
        problem = Problem(
            type=f"urn:assent:problem:{self.kind}",
            title=KINDS[self.kind],
            status=self.status,
            detail=self.detail,
            errors=self.errors,
        )
        content = json.dumps(problem.model_dump(exclude_none=True))
        return HttpResponse(content, status=self.status, content_type=CONTENT_TYPE, headers=self.headers)


def refused(detail: str) -> Refusal:
    """Return the refusal of what is understood and can't be done as things stand."""
    return Refusal(HTTPStatus.CONFLICT, "refused", detail)


def not_found() -> Refusal:
    return Refusal(HTTPStatus.NOT_FOUND, "not-found", "There is nothing here, or it is not yours to see.")


def of_rows(problems: Iterable[RowProblem]) -> Refusal:
    """Return the refusal of a file; it says each place."""
    mistakes = [mistake_of(problem) for problem in problems]
    n = len(mistakes)
    detail = (
        f"{n} thing{'s' if n != 1 else ''} to look at; nothing was written. {mistakes[0].detail if n else ''}"
    )
    return Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "rows", detail.strip(), errors=mistakes)


def mistake_of(problem: RowProblem) -> Mistake:
    return Mistake(
        detail=problem.message,
        severity=str(problem.severity),
        row=problem.row,
        line=problem.line,
        column=problem.column or None,
    )


def of_form(errors: ErrorDict, *, names: Mapping[str, str] | None = None) -> Refusal:
    """Return what a page would show beside the fields of its form. `names`: {a field: what the API calls it}."""
    names = names or {}
    mistakes = [
        Mistake(detail=str(text), field=None if field == "__all__" else names.get(field, field))
        for field, texts in errors.items()
        for text in texts
    ]
    return invalid(mistakes)


def of_validation(error: ValidationError) -> Refusal:
    """Return what is wrong with a request that is none of the document's; a body that is no JSON is malformed."""
    return invalid([_mistake(one) for one in error.errors])


def invalid(mistakes: list[Mistake]) -> Refusal:
    first = mistakes[0]
    detail = f"{first.field}: {first.detail}" if first.field else first.detail
    return Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, "invalid", detail, errors=mistakes)


def _mistake(error: dict[str, Any]) -> Mistake:
    kind, *place = map(str, error["loc"])
    named = place[1:] if kind == "body" else place  # a body's first part is what we call all of it
    return Mistake(detail=str(error["msg"]), field=".".join(named) or None)
