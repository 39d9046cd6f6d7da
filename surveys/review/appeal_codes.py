"""Appeals: the code in the message a rejected worker gets, and what they write to us with it.

Knowing the code is all it takes; nobody signs in. What a researcher answers is in review.appeals.
"""

import re
import secrets

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from annotators.crowds.links.addresses import CODE_ALPHABET
from annotators.models import Assignment
from annotators.outbox.market import FEEDBACK_MAX
from surveys import audit
from surveys.models import Appeal

REASON_MAX = 800  # what of FEEDBACK_MAX a reason may take, so that the sentence about appeals always fits
TEXT_MAX = 4000
GROUPS, GROUP_LENGTH = 4, 5  # 99 bits
CODE = re.compile(rf"[{CODE_ALPHABET}]{{{GROUPS * GROUP_LENGTH}}}")
CUT = gettext_noop(" […] The whole reason is at the address below.")


def with_code(assignment: Assignment, reason: str) -> str:
    """Return the message a rejected worker reads: the reason, then the address, with its code, at which to appeal.

    In the language that is active. The same message however often it is asked for, at most 1,024 characters. A reason
    longer than fits is cut, and says so; the page of the appeal shows it whole.
    """
    there = f"{address()}{_code_of(assignment)}/"
    sentence = " " + gettext("If you think this is wrong, write to us at %(address)s.") % {"address": there}
    cut = gettext(CUT)
    room = FEEDBACK_MAX - len(sentence)
    if len(reason) > room:
        reason = reason[: room - len(cut)].rstrip() + cut
    return reason + sentence


def address() -> str:
    """Return where anybody with a code can appeal."""
    return settings.APP_URL + reverse("appeals")


def read_code(text: str) -> str:
    """Return a code as we write it, however it was typed; empty if it can't be one."""
    plain = re.sub(r"[\s\-–—.]+", "", text).lower()
    return _grouped(plain) if CODE.fullmatch(plain) else ""


def find(code: str) -> Appeal | None:
    """Return the appeal with this code, whatever has become of its rejection; None if there is none."""
    appeals = Appeal.objects.select_related("assignment__hit__questionnaire__batch", "assignment__decision")
    return appeals.filter(code=code).first()


@transaction.atomic
def make(appeal: Appeal, *, text: str) -> bool:
    """Write down what the worker says, once: False if they have said something before, which then stays."""
    made = Appeal.objects.filter(pk=appeal.pk, made_at=None).update(text=text, made_at=timezone.now())
    if made:
        audit.record(audit.Kind.APPEAL, "made", assignment=appeal.assignment)
    return bool(made)


def waiting() -> QuerySet[Appeal]:
    """Return the appeals nobody has answered, neither to the worker nor by overturning; the oldest first."""
    unanswered = Appeal.objects.filter(made_at__isnull=False, answered_at=None)
    return unanswered.exclude(assignment__decision__overturned_at__isnull=False).order_by("made_at", "pk")


def _code_of(assignment: Assignment) -> str:
    appeal, _ = Appeal.objects.get_or_create(assignment=assignment, defaults={"code": _new_code()})
    return appeal.code


def _new_code() -> str:
    return _grouped("".join(secrets.choice(CODE_ALPHABET) for _ in range(GROUPS * GROUP_LENGTH)))


def _grouped(plain: str) -> str:
    return "-".join(plain[n : n + GROUP_LENGTH] for n in range(0, len(plain), GROUP_LENGTH))
