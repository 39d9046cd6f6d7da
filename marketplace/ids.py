"""Identifiers in MTurk's shape: 30 characters from 3 on; a worker's is A and 13 more."""

import hashlib
import hmac
import re
import secrets
import string

PATTERN = re.compile(r"[A-Z0-9]{1,64}")  # EntityId and WorkerId in the service model
ALPHABET = string.ascii_uppercase + string.digits


class EntityConverter:
    """The identifiers in the worker site's addresses."""

    regex = PATTERN.pattern

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


def is_entity_id(text: str) -> bool:
    return PATTERN.fullmatch(text) is not None


def entity_id() -> str:
    """Return a new HITId, HITTypeId, HITGroupId or AssignmentId."""
    return "3" + "".join(secrets.choice(ALPHABET) for _ in range(29))


def worker_id() -> str:
    return "A" + "".join(secrets.choice(ALPHABET) for _ in range(13))


def seeded(*, key: bytes, message: str, length: int) -> str:
    """Return `length` characters that follow from key and message, without bias worth naming (256 bits mod 36)."""
    number = int.from_bytes(hmac.new(key, message.encode(), hashlib.sha256).digest())
    letters = []
    for _ in range(length):
        number, rest = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[rest])
    return "".join(letters)
