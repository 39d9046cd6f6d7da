"""Personal addresses, access codes, and what a panel adds to an address: who comes by link."""

import re
import secrets
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core import signing
from django.utils.translation import gettext

SALT = "annotators.links"  # part of every signature: another one would make all links void
CODE_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # nothing that reads like something else
CODE_LENGTH = 10  # 49 bits
# A code is random, unlike a password: what slows a dictionary down would only slow down a hundred invitations.
CODE_ITERATIONS = 10_000
WORKER_ID_MAX = 64
PANEL_VALUE = re.compile(r"[A-Za-z0-9_-]{1,64}")
Kind = Literal["invitation", "visit"]


class BadLink(ValueError):
    """The address, or a parameter in it, is not one we gave; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Holder:
    """What an address stands for: the key of an invitation or of a panel visit."""

    kind: Kind
    key: uuid.UUID


@dataclass(frozen=True, slots=True)
class ParameterNames:
    """How a panel calls what it adds to the address. Prolific's names; an empty one is not looked for.

    Source: Prolific, "Setting up your study link": PROLIFIC_PID, STUDY_ID, SESSION_ID.
    """

    worker: str = "PROLIFIC_PID"
    study: str = "STUDY_ID"
    session: str = "SESSION_ID"


@dataclass(frozen=True, slots=True)
class PanelPerson:
    """Who a panel says has come. `worker_id` is the panel's, without the provider."""

    worker_id: str
    study: str
    session: str


def issue(holder: Holder) -> str:
    """Return the signed part of an address. Who may still use it, and until when, is in the database."""
    return _signer().sign(holder.kind[0] + holder.key.hex)


def read(token: str) -> Holder:
    """Return whose address it is. Raises BadLink for anything we have not signed."""
    try:
        text = _signer().unsign(token)
        kind: Kind = {"i": "invitation", "v": "visit"}[text[:1]]  # type: ignore[assignment]
        return Holder(kind, uuid.UUID(text[1:]))
    except (signing.BadSignature, KeyError, ValueError) as error:
        raise BadLink(
            gettext("This address is not complete. Please copy it again from where you got it.")
        ) from error


def new_access_code() -> str:
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


def hashed_code(code: str) -> str:
    """Return the salted hash of an access code, as a password's is stored."""
    hasher = PBKDF2PasswordHasher()
    return hasher.encode(_plain(code), hasher.salt(), iterations=CODE_ITERATIONS)


def is_code(code: str, *, hashed: str) -> bool:
    """Tell whether `code` is the one `hashed` was made from, however it was typed; takes equally long for any."""
    known = hashed or hashed_code(new_access_code())
    return PBKDF2PasswordHasher().verify(_plain(code), known) and bool(hashed)


def read_panel(params: Mapping[str, str], *, names: ParameterNames, provider: str) -> PanelPerson:
    """Read who a panel has sent. Raises BadLink where an id is missing or no id at all.

    A worker without study or session is let through: panels leave them out in previews.
    """
    longest = WORKER_ID_MAX - len(provider) - 1
    worker_id = _parameter(params, names.worker)
    if not worker_id or len(worker_id) > longest:
        raise BadLink(gettext("Your panel did not say who you are. Please start again from its page."))
    return PanelPerson(worker_id, _parameter(params, names.study), _parameter(params, names.session))


def _signer() -> signing.Signer:
    return signing.Signer(salt=SALT, sep=".")


def _plain(code: str) -> str:
    return "".join(code.split()).replace("-", "").lower()


def _parameter(params: Mapping[str, str], name: str) -> str:
    value = params.get(name, "").strip() if name else ""
    if value and not PANEL_VALUE.fullmatch(value):
        raise BadLink(
            gettext("The address says something about %(name)s that is no id. Please start again.")
            % {"name": name}
        )
    return value
