"""Tokens of people: made once, known by their hash, counted while they are used."""

import secrets
from datetime import datetime, timedelta
from hashlib import sha256

from django.contrib.auth.models import User
from django.utils import timezone

from surveys.answering.throttling import Throttle
from surveys.models import ApiToken

PREFIX = "assent_"  # so that scanners of repositories and logs know one by its looks
SHOWN = 12  # letters by which a token's owner knows it again
USED_EVERY = timedelta(minutes=1)  # more often its last use is not written down
A_MINUTE = Throttle("api:token", limit=600, seconds=60)


def bearer(header: str) -> str:
    """Return the token in an Authorization header, "" if there is none."""
    kind, _, token = header.partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""


def make(user: User, *, name: str, expires_at: datetime | None, is_read_only: bool) -> tuple[ApiToken, str]:
    """Return a new token's row, and the token itself, which nobody can show again."""
    token = f"{PREFIX}{secrets.token_urlsafe(32)}"
    row = ApiToken.objects.create(
        user=user,
        name=name,
        token_hash=_hash_of(token),
        start=token[:SHOWN],
        expires_at=expires_at,
        is_read_only=is_read_only,
    )
    return row, token


def find(token: str) -> ApiToken | None:
    """Return the row of a token that opens something now."""
    row = ApiToken.objects.select_related("user").filter(token_hash=_hash_of(token)).first()
    return row if row and row.is_good(timezone.now()) else None


def note_use(row: ApiToken) -> None:
    now = timezone.now()
    if row.last_used_at is None or row.last_used_at < now - USED_EVERY:
        ApiToken.objects.filter(pk=row.pk).update(last_used_at=now)


def revoke(user: User, pk: int) -> bool:
    """Close one of somebody's own tokens; False if there is none open of that number."""
    return ApiToken.objects.filter(user=user, pk=pk, revoked_at=None).update(revoked_at=timezone.now()) == 1


def _hash_of(token: str) -> str:
    return sha256(token.encode(errors="replace")).hexdigest()
