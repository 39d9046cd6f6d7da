"""Invitations: links with which people become workers."""

import secrets
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext

from marketplace.accounts import keys
from marketplace.models import Invitation, Worker
from marketplace.refusals import WorkerRefusal

PURPOSE = "marketplace.invitation"
TOKEN_BYTES = 18  # 144 bits: a link cannot be guessed, and a plain digest is safe to keep


def create(*, number: int, most_uses: int, days: int, note: str, now: datetime) -> list[str]:
    """Make invitations. Returns their tokens, which are shown now or never."""
    tokens = [secrets.token_urlsafe(TOKEN_BYTES) for _ in range(number)]
    ends = now + timedelta(days=days)
    Invitation.objects.bulk_create(
        Invitation(
            digest=keys.digests(PURPOSE, token)[0],
            note=note,
            most_uses=most_uses,
            created_at=now,
            expires_at=ends,
        )
        for token in tokens
    )
    return tokens


def find(token: str, *, now: datetime) -> Invitation | None:
    """Return the invitation of a link while it can be used."""
    usable = Invitation.objects.filter(is_active=True, expires_at__gt=now, used__lt=F("most_uses"))
    return usable.filter(digest__in=keys.digests(PURPOSE, token)).first()


@transaction.atomic
def take(token: str, *, now: datetime) -> tuple[Worker, str]:
    """Use an invitation once. Returns the new worker and the access code. Raises WorkerRefusal."""
    invitation = find(token, now=now)
    usable = (
        Invitation.objects.filter(pk=invitation.pk, is_active=True, used__lt=F("most_uses"))
        if invitation
        else None
    )
    if usable is None or not usable.update(used=F("used") + 1):
        raise WorkerRefusal(gettext("This invitation was used up, withdrawn, or has expired."))
    return keys.create_worker()
