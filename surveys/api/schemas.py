"""What all parts of the API say alike: money, texts, and where a page shows the same."""

from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated, Literal

from django.conf import settings
from django.http import HttpRequest
from ninja import Path, Schema
from pydantic import ConfigDict, StringConstraints

from surveys import teams
from surveys.api.security import person
from surveys.models import Batch, Survey

CENT = Decimal("0.01")
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]  # a null byte is none a database keeps
Number = Annotated[int, Path(ge=1, le=2**63 - 1)]
Dollars = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,8}(\.[0-9]{1,2})?$")]


class Money(Schema):
    """An amount as text, so that no cent is lost on the way."""

    amount: Dollars
    currency: Literal["USD"] = "USD"


class Strict(Schema):
    """What is sent: a field that is none of these is a mistake, and said so."""

    model_config = ConfigDict(extra="forbid")


def money(amount: Decimal | None) -> Money | None:
    return None if amount is None else dollars(amount)


def dollars(amount: Decimal) -> Money:
    """Return an amount to the cent; below zero there is none to say."""
    return Money(amount=str(max(amount, Decimal(0)).quantize(CENT, ROUND_HALF_UP)))


def url_of(path: str) -> str:
    return f"{settings.APP_URL}{path}"


def study_for(request: HttpRequest, slug: str) -> Survey:
    """Return a study. Raises Http404 if there is none, or it is hidden from who asks."""
    return teams.study_for(person(request), slug)


def batch_for(request: HttpRequest, pk: int) -> Batch:
    """Return a batch. Raises Http404 if there is none, or its study is hidden from who asks."""
    return teams.batch_for(person(request), pk)
