"""Who asks: by `Authorization: Bearer`, never by a cookie or an address; and whether they may."""

from http import HTTPStatus
from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest
from ninja.security import HttpBearer

from surveys.answering.throttling import WAIT, NotCounting
from surveys.api import tokens
from surveys.api.problems import Refusal
from surveys.models import ApiToken
from surveys.teams import batch_for, may, study_for

SAFE = {"GET", "HEAD", "OPTIONS"}
LOOKED_UP = "_api_token_row"  # of a request: its token, once it was looked up


class Bearer(HttpBearer):
    """Wants a token whose owner has all `permissions`: those of the page that does the same."""

    def __init__(self, *permissions: str) -> None:
        super().__init__()
        self.permissions = permissions

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        row = token_of(request)
        if row is None:
            return None
        if row.is_read_only and request.method not in SAFE:
            raise Refusal(HTTPStatus.FORBIDDEN, "not-allowed", "This token only reads.")
        address = request.resolver_match.kwargs if request.resolver_match else {}
        if not may(row.user, self.permissions, address=address):
            raise Refusal(
                HTTPStatus.FORBIDDEN, "not-allowed", f"This takes the rights {', '.join(self.permissions)}."
            )
        return row


def token_of(request: HttpRequest) -> ApiToken | None:
    """Return the token a request came with, looked up and counted once. Refusal where it asks too often."""
    if not hasattr(request, LOOKED_UP):
        setattr(request, LOOKED_UP, _look_up(request))
    row: ApiToken | None = getattr(request, LOOKED_UP)
    return row


def person(request: HttpRequest) -> User:
    """Return who asks; for operations behind a Bearer."""
    found: Any = token_of(request)
    user: User = found.user
    return user


def check_sees(request: HttpRequest) -> None:
    """Raise Http404 where what an address is about is hidden from who asks."""
    address = request.resolver_match.kwargs if request.resolver_match else {}
    if "slug" in address:
        study_for(person(request), address["slug"])
    elif "pk" in address:
        batch_for(person(request), address["pk"])


def _look_up(request: HttpRequest) -> ApiToken | None:
    token = tokens.bearer(request.headers.get("Authorization", ""))
    row = tokens.find(token) if token else None
    if row is None:
        return None
    if _asks_too_often(row):
        seconds = str(tokens.A_MINUTE.seconds)
        detail = f"A token may ask {tokens.A_MINUTE.limit} times in {seconds} seconds."
        raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, "too-many", detail, headers={"Retry-After": seconds})
    tokens.A_MINUTE.count(str(row.pk))
    tokens.note_use(row)
    request.user = row.user
    return row


def _asks_too_often(row: ApiToken) -> bool:
    try:
        return tokens.A_MINUTE.is_closed(str(row.pk))
    except NotCounting as error:
        detail = "Nobody can count requests right now, as a part of this site does not answer. Try again in a minute."
        raise Refusal(
            HTTPStatus.SERVICE_UNAVAILABLE, "unavailable", detail, headers={"Retry-After": str(WAIT)}
        ) from error
