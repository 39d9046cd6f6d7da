"""Pages of a list by key, so that a page costs the same at the end of a long list as at its start."""

from typing import Any, TypeVar

from django.core import signing
from django.db.models import Model, QuerySet

from marketplace.api.errors import bad_value

DEFAULT_PAGE = 10
SALT = "marketplace.paging"

Row = TypeVar("Row", bound=Model)


def page(rows: QuerySet[Row], *, body: dict[str, Any], scope: str) -> tuple[list[Row], str | None]:
    """Return one page in the order of creation, and the token of the next, given for every non-empty page."""
    after = _position(body.get("NextToken"), scope=scope)
    size = body.get("MaxResults", DEFAULT_PAGE)
    found = list(rows.filter(pk__gt=after).order_by("pk")[:size])
    token = signing.dumps([scope, found[-1].pk], salt=SALT) if found else None
    return found, token


def _position(token: str | None, *, scope: str) -> int:
    if token is None:
        return 0
    try:
        given_scope, position = signing.loads(token, salt=SALT)
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise bad_value(token, "NextToken") from error
    if given_scope != scope:
        raise bad_value(token, "NextToken")
    return int(position)


def answer(name: str, structures: list[dict[str, Any]], *, token: str | None) -> dict[str, Any]:
    """The output every List operation shares: the structures, their number, and a token if there are any."""
    listing: dict[str, Any] = {"NumResults": len(structures), name: structures}
    return {**listing, "NextToken": token} if token else listing
