"""Idempotency tokens: what a requester repeats within 24 hours is refused, not done twice."""

from datetime import datetime, timedelta

from marketplace import refusals
from marketplace.models import HIT, Requester, Token

TOKEN_LIFE = timedelta(hours=24)  # API reference, UniqueRequestToken


def earlier_use(requester: Requester, *, operation: str, token: str, now: datetime) -> Token | None:
    """Return the token's earlier use of the last 24 hours; the locked requester keeps two from passing."""
    Requester.objects.select_for_update(no_key=True).get(pk=requester.pk)
    uses = Token.objects.filter(
        requester=requester, operation=operation, token=token, used_at__gt=now - TOKEN_LIFE
    )
    return uses.select_related("hit").first()


def refuse_used(requester: Requester, *, operation: str, token: str | None, now: datetime) -> None:
    """Raise Refusal when the token was used for the operation before. Without a token nothing is checked."""
    if token and earlier_use(requester, operation=operation, token=token, now=now) is not None:
        raise refusals.token_processed(token)


def remember(hit: HIT, *, operation: str, token: str | None, now: datetime) -> None:
    """Note that the token was used, on this HIT."""
    if token:
        Token.objects.update_or_create(
            requester=hit.requester, operation=operation, token=token, defaults={"hit": hit, "used_at": now}
        )
