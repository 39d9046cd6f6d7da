"""What a worker is called: a keyed hash of their id, and what an id is called once it is purged.

Plain functions of an id and the site's keys. `pseudonyms` finds workers by these names; a command that only reads files
needs no models.
"""

import hashlib
import hmac
import re
import secrets

from django.conf import settings

PURGED = "purged:"
MARK = "pseudonym:"  # before a pseudonym that stands where an id stood, in a file or in a text
WHOLE = 12  # letters of a pseudonym
NAMED = re.compile(rf"(?:{PURGED}|{MARK})([0-9a-f]{{{WHOLE}}})")


def pseudonym(worker_id: str, *, key: bytes = b"") -> str:
    """Return the first 12 hex digits of HMAC-SHA256(key, worker id). What is a pseudonym already is not hashed again.

    Without a `key` it is the site's.
    """
    if named := NAMED.fullmatch(worker_id):
        return named[1]
    key = key or site_keys()[0]
    return hmac.new(key, worker_id.encode(), hashlib.sha256).hexdigest()[:WHOLE]


def site_keys() -> list[bytes]:
    """Return the key that pseudonyms are made with, then those that earlier ones may have been made with.

    Where none is set, it is derived from the earliest SECRET_KEY that is still named: a new one changes no pseudonym.
    """
    secret_keys = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    own = [settings.PSEUDONYM_KEY] if settings.PSEUDONYM_KEY else []
    named = [*own, *settings.PSEUDONYM_KEY_FALLBACKS, *reversed(secret_keys)]
    return [hmac.digest(key.encode(), b"worker pseudonyms", "sha256") for key in dict.fromkeys(named)]


def purged_names(worker_id: str) -> list[str]:
    """Return what a worker of this id may be called once purged, by the present key first."""
    return [PURGED + pseudonym(worker_id, key=key) for key in site_keys()]


def purged_name(worker_id: str) -> str:
    """Return what a worker of this id is called once it is purged; a purged one stays as it is."""
    return PURGED + pseudonym(worker_id)


def names_of(worker_id: str) -> list[str]:
    """Return what a worker of this id may be called here: by the id, or, once purged, by its pseudonym."""
    return [worker_id, *purged_names(worker_id)]


def untraceable_name() -> str:
    """Return what a worker is called who has deleted what led to them: it follows from no id and no key."""
    return PURGED + secrets.token_hex(WHOLE // 2)
