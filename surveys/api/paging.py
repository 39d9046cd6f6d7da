"""Lists in pages by cursor: what is added meanwhile moves nothing, and nothing is missed or shown twice."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from typing import Annotated, Any, Generic, TypeVar

from django.db.models import Model, QuerySet
from ninja import Field, Query, Schema

from surveys.api.problems import Mistake, invalid

Row = TypeVar("Row", bound=Model)
Out = TypeVar("Out")


class PageOf(Schema, Generic[Out]):
    """One page of a list. `next` is the cursor of the page after it, null on the last."""

    results: list[Out]
    next: str | None


class Paging(Schema):
    """Where a page begins, and how long it is."""

    cursor: str | None = Field(None, max_length=40, description="The `next` of the page before.")
    limit: int = Field(50, ge=1, le=200)


Paged = Annotated[Paging, Query()]


def page(
    rows: "QuerySet[Row]", paging: Paging, *, show: Callable[[Row], Any], newest_first: bool = True
) -> dict[str, Any]:
    """Return the page of `rows` in the order of their keys."""
    if paging.cursor is not None:
        after = _key_of(paging.cursor)
        rows = rows.filter(**{"pk__lt" if newest_first else "pk__gt": after})
    found = list(rows.order_by("-pk" if newest_first else "pk")[: paging.limit + 1])
    shown = found[: paging.limit]
    more = len(found) > paging.limit
    return {"results": [show(row) for row in shown], "next": _cursor(shown[-1].pk) if more else None}


def _cursor(pk: int) -> str:
    return urlsafe_b64encode(str(pk).encode()).decode().rstrip("=")


def _key_of(cursor: str) -> int:
    try:
        text = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
    except ValueError:
        text = ""
    if not (text.isdecimal() and len(text) <= 18):
        raise invalid([Mistake(detail="This is no cursor of ours.", field="cursor")])
    return int(text)
