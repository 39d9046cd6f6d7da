"""Who only claims to be a worker: where the claim came from, and what becomes of it once the marketplace has spoken."""

import hashlib
import hmac
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from annotators.constraints import is_about
from annotators.models import HIT, Assignment
from surveys.models import QuizAttempt, Response


def origin(address: str) -> str:
    """Return what is kept of a visitor's network address: 16 hex digits of a keyed hash, "" where it is not known."""
    key = hmac.digest(settings.SECRET_KEY.encode(), b"origins of claims", "sha256")
    return hmac.new(key, address.encode(), hashlib.sha256).hexdigest()[:16] if address else ""


def confirm(hit: HIT) -> int:
    """Believe the claims to a HIT that the marketplace has confirmed; returns how many. Safe to repeat.

    Whose worker is known to have seen an item in another HIT stays apart: an item counts once for a worker.
    """
    claimed = Response.objects.filter(is_claim=True, assignment__hit=hit)
    known = claimed.exclude(assignment__status=Assignment.Status.ACCEPTED)
    pks = known.order_by().values_list("assignment", flat=True).distinct()
    return sum(_believe(pk) for pk in list(pks))


def _believe(assignment_pk: Any) -> bool:
    try:
        with transaction.atomic():
            Response.objects.filter(assignment=assignment_pk).update(is_claim=False)
            _believe_quiz(Assignment.objects.select_related("hit__questionnaire").get(pk=assignment_pk))
            Assignment.objects.filter(pk=assignment_pk).update(claimed_from="")
    except IntegrityError as error:
        if not is_about(error, Response, "worker_sees_item_once_per_batch"):
            raise
        return False
    return True


def _believe_quiz(assignment: Assignment) -> None:
    """Tries that were made before, and are known to be the worker's, count already."""
    batch = assignment.hit.questionnaire.batch_id
    theirs = QuizAttempt.objects.filter(batch=batch, worker=assignment.worker_id)
    known = theirs.filter(claimed_from="").values_list("number", flat=True)
    theirs.filter(claimed_from=assignment.claimed_from).exclude(number__in=list(known)).update(
        claimed_from=""
    )
