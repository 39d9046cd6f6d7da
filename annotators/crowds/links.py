"""People who come by a link: their addresses and codes, a panel's parameters, and work no marketplace knows of."""

import re
import secrets
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Literal

from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core import signing
from django.db.models import QuerySet
from django.utils import timezone

from annotators.models import HIT, Assignment, Channel, Endpoint, HITType
from annotators.outbox.market import HITTypeTerms

SALT = "annotators.crowds.links"
CODE_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # nothing that reads like something else
CODE_LENGTH = 10  # 49 bits
# A code is random, unlike a password: what slows a dictionary down would only slow down a hundred invitations.
CODE_ITERATIONS = 10_000
WORKER_ID_MAX = 64
PANEL_VALUE = re.compile(r"[A-Za-z0-9_-]{1,64}")
Status = Assignment.Status
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
        raise BadLink("This address is not complete. Please copy it again from where you got it.") from error


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
        raise BadLink("Your panel did not say who you are. Please start again from its page.")
    return PanelPerson(worker_id, _parameter(params, names.study), _parameter(params, names.session))


def own_hit_type(terms: HITTypeTerms, *, name: str) -> HITType:
    """Return the HITType called `name` for work without a marketplace; safe to repeat."""
    hit_type, _ = HITType.objects.get_or_create(
        endpoint=Endpoint.LINK, hit_type_id=name, defaults=asdict(terms)
    )
    return hit_type


def own_hit(hit_type: HITType, *, name: str, lifetime: timedelta, max_assignments: int) -> HIT:
    """Return the HIT called `name` for work without a marketplace; safe to repeat."""
    now = timezone.now()
    hit, _ = HIT.objects.get_or_create(
        hit_type=hit_type,
        hit_id=name,
        defaults={
            "max_assignments": max_assignments,
            "created_at": now,
            "expires_at": now + lifetime,
        },
    )
    return hit


def new_assignment_id() -> str:
    """Return an AssignmentId no marketplace gives: theirs are in capitals and digits, ours begins with L."""
    return f"L{uuid.uuid4().hex}"


def submit(assignment: Assignment) -> bool:
    """Hand in what is saved, by our own clock. False if it was before, or is not ours to say."""
    ours = _ours(assignment, Status.ACCEPTED).filter(saved_at__isnull=False)
    return _moved(ours, assignment, status=Status.SUBMITTED, submitted_at=timezone.now())


def approve(assignment: Assignment, *, feedback: str) -> bool:
    """Approve submitted link work here, where no marketplace has to hear of it. False if it is decided already."""
    ours = _ours(assignment, Status.SUBMITTED)
    return _moved(ours, assignment, status=Status.APPROVED, approved_at=timezone.now(), feedback=feedback)


def reject(assignment: Assignment, *, feedback: str) -> bool:
    """Reject submitted link work here. False if it is decided already."""
    ours = _ours(assignment, Status.SUBMITTED)
    return _moved(ours, assignment, status=Status.REJECTED, rejected_at=timezone.now(), feedback=feedback)


def overturn(assignment: Assignment, *, feedback: str) -> bool:
    """Approve rejected link work after all. False if it is not rejected."""
    ours = _ours(assignment, Status.REJECTED)
    return _moved(ours, assignment, status=Status.APPROVED, approved_at=timezone.now(), feedback=feedback)


def _signer() -> signing.Signer:
    return signing.Signer(salt=SALT, sep=".")


def _plain(code: str) -> str:
    return "".join(code.split()).replace("-", "").lower()


def _parameter(params: Mapping[str, str], name: str) -> str:
    value = params.get(name, "").strip() if name else ""
    if value and not PANEL_VALUE.fullmatch(value):
        raise BadLink(f"The address says something about {name} that is no id. Please start again.")
    return value


def _ours(assignment: Assignment, status: str) -> QuerySet[Assignment]:
    by_link = Assignment.objects.exclude(channel=Channel.MARKETPLACE)
    return by_link.filter(pk=assignment.pk, status=status)


def _moved(rows: QuerySet[Assignment], assignment: Assignment, **changes: object) -> bool:
    is_first = rows.update(**changes) == 1
    assignment.refresh_from_db()
    return is_first
