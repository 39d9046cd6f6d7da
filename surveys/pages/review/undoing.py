"""Taking back the last decision about many: it stands above the list for a while, in the session of who made it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from annotators.models import Assignment
from surveys import sync
from surveys.enqueue import enqueue
from surveys.pages.access import batch_for, researcher, study_for
from surveys.pages.review.decision_forms import EXCLUDE, HOLD, RELEASE
from surveys.pages.review.listing import of
from surveys.protocols.rules import APPROVE, FLAG, REJECT
from surveys.review import analysis_use, decisions
from surveys.review.by_hand import UNRELEASED, undo
from surveys.review.errors import CannotDecide

KEY = "decided_last"
KEPT = timedelta(minutes=15)
DONE = {"approve": "approved", "reject": "rejected", HOLD: "held", RELEASE: "released", EXCLUDE: "left out"}
VERDICTS = {"approve": APPROVE, "reject": REJECT, HOLD: FLAG}
Status = Assignment.Status


@dataclass(frozen=True, slots=True)
class Undoable:
    """The last decision about many: how many it was about, and how many can still be taken back."""

    verb: str
    n: int
    n_open: int


def remember(request: HttpRequest, *, action: str, decided: Collection[Assignment]) -> None:
    """Keep what was just decided in the session, to be taken back from there."""
    at = timezone.now().isoformat()
    request.session[KEY] = {"action": action, "keys": [one.pk for one in decided], "at": at}


def undoable(request: HttpRequest, of_page: Q) -> Undoable | None:
    """Return what a page about these assignments offers to take back; None where there is nothing."""
    decided = _decided(request)
    mine = Assignment.objects.filter(of_page, _mine(request, decided))
    is_paid = Q(status=Status.APPROVED) if decided.get("action") != EXCLUDE else Q(pk__in=())
    n, n_open = mine.count(), mine.exclude(is_paid).count()
    return Undoable(DONE[decided["action"]], n, n_open) if n_open else None


@require_POST
@researcher("surveys.view_batch", "annotators.change_assignment")
def undo_many(request: HttpRequest, pk: int) -> HttpResponse:
    """Take back the last decision about many, as far as it was about a batch."""
    return _undo(request, of(batch_for(request, pk)))


@require_POST
@researcher("surveys.view_batch", "annotators.change_assignment")
def undo_many_of_study(request: HttpRequest, slug: str) -> HttpResponse:
    """Take back the last decision about many, as far as it was about a study."""
    return _undo(request, of(study_for(request, slug)))


def _undo(request: HttpRequest, of_page: Q) -> HttpResponse:
    decided = _decided(request)
    mine = Assignment.objects.filter(of_page, _mine(request, decided))
    undone, refused = [], []
    for assignment in mine.select_related("worker", "hit__questionnaire__batch__survey"):
        try:
            _take_back(assignment, decided["action"], by=request.user)
        except CannotDecide as error:
            refused.append(f"{assignment.worker}: {error}")
        else:
            undone.append(assignment)
    for hit_pk in {assignment.hit_id for assignment in undone}:
        enqueue(sync.sync_hit, hit_pk)
    request.session.pop(KEY, None)
    _tell(request, n_undone=len(undone), refused=refused)
    back = request.POST.get("next", "")
    return redirect(back if url_has_allowed_host_and_scheme(back, allowed_hosts=None) else "admin:index")


def _mine(request: HttpRequest, decided: dict[str, Any]) -> Q:
    """Choose what still stands as this person has decided it last."""
    keys = Q(pk__in=decided.get("keys", ()))
    if decided.get("action") == EXCLUDE:
        return keys & Q(inclusion__is_included=False, inclusion__decided_by=request.user.pk)
    if decided.get("action") == RELEASE:
        return keys & Q(status=Status.SUBMITTED, decision__decided_by=None)
    verdict = VERDICTS.get(decided.get("action", ""), "")
    return keys & Q(decision__decided_by=request.user.pk, decision__verdict=verdict)


def _take_back(assignment: Assignment, action: str, *, by: Any) -> None:
    if action == EXCLUDE:
        analysis_use.include(assignment, by=by, reason=analysis_use.UNDO_REASON)
    elif action == RELEASE:
        decisions.hold(assignment, by=by, reason=UNRELEASED)
    else:
        undo(assignment, by=by)


def _tell(request: HttpRequest, *, n_undone: int, refused: list[str]) -> None:
    if n_undone:
        messages.success(request, f"{n_undone} taken back: as if you had not decided.")
    if refused:
        messages.error(request, f"{len(refused)} could not be taken back. {' '.join(refused[:3])}")
    if not (n_undone or refused):
        messages.info(request, "There is nothing to take back any more.")


def _decided(request: HttpRequest) -> dict[str, Any]:
    decided: dict[str, Any] = request.session.get(KEY, {})
    is_fresh = decided and timezone.now() - datetime.fromisoformat(decided["at"]) < KEPT
    return decided if is_fresh else {}
