"""What every working page does, however its author came: the form of an assignment, its drafts, its words."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext, ngettext

from annotators.failpoints import reach
from annotators.models import Assignment, Worker
from statements import Hole, Statement
from surveys.answering.collection import draft_there, given_answers, save_draft
from surveys.answering.presentation import (
    ShownItem,
    opened_response,
    opened_responses,
    shown_definition,
    shown_item,
)
from surveys.models import Batch, Response, is_accepted
from surveys.pages.answering.hit_form import SKIP, DraftForm, HitForm, Progress, draft_from
from surveys.pages.answering.link_page import SeeOther
from surveys.pages.answering.tokens import TokenError
from surveys.protocols import policy
from surveys.publishing.quota import is_borne_out

GAPS = "gaps"  # in an address: show what is missing; its value is the position that was being skipped
DRAFT_STATUS = {"": 200, "unreadable": 400, "expired": 403, "outdated": 409}
# OverflowError: SQLite is asked for no number beyond 64 bits.
UNREADABLE = (ValueError, AttributeError, KeyError, OverflowError, RecursionError, RequestDataTooBig)
AuthorOf = Callable[[str], Assignment]
ResponseOf = Callable[[str, int], Response | None]


def assignment_form(
    assignment: Assignment, *, batch: Batch, data: Any = None, responses: Sequence[Response] = ()
) -> HitForm:
    """Return the form of an opened assignment: as drafted or answered so far, or bound to what was posted.

    `responses`, in the order of the page, where they are known already.
    """
    responses = responses or opened_responses(assignment, batch=batch)
    items = [shown_item(response, is_alone=len(responses) == 1) for response in responses]
    return HitForm(
        data,
        definition=shown_definition(batch),
        items=_as_answered(items, assignment, batch) if assignment.saved_at else items,
        progress={r.position: Progress(r.draft_version, r.active_seconds, r.saved_at) for r in responses},
        takes_reports=True,
    )


def _form_of_one(response: Response) -> HitForm:
    """Return the form of one item: a draft is of one, and needs no other."""
    item = shown_item(response, with_files=False)
    return HitForm(definition=shown_definition(response.batch), items=[item])


def _as_answered(items: list[ShownItem], assignment: Assignment, batch: Batch) -> list[ShownItem]:
    given = {answer.position: answer for answer in given_answers(assignment)}
    comment = {"comment": assignment.comment}
    is_paid = Assignment.objects.filter(is_accepted(), pk=assignment.pk).exists()
    return [
        replace(
            item,
            draft=draft_from(given[item.position], batch.definition) | comment,
            stays_judged=is_paid and not given[item.position].skip_reason,
        )
        for item in items
    ]


def batch_of(assignment: Assignment) -> Batch:
    """Return the batch that an assignment belongs to."""
    return assignment.hit.questionnaire.batch


def answered_in(assignment: Assignment) -> str:
    """Return the language that the questions are read in, "" where their protocol is in one alone."""
    batch = batch_of(assignment)
    return shown_definition(batch).language if batch.definition.translations else ""


def draft_answer(
    request: HttpRequest, *, author: AuthorOf, response: ResponseOf = lambda token, position: None
) -> JsonResponse:
    """Keep one item's draft: 200 saved, 409 a newer one is there or the answers are complete, 400, 403.

    The body is JSON: token, position, version, after, seconds, answers. `author` reads the token or raises TokenError.
    `response` returns in one query what a token's author has at a position; where that is None, `author` is asked.
    With a 409 comes the draft that is there, `version` and `answers`: it may be the page's own, sent on leaving.
    """
    why, there = _save_posted_draft(request, author=author, response=response)
    return JsonResponse({"saved": not why, "why": why} | there, status=DRAFT_STATUS[why])


def _save_posted_draft(
    request: HttpRequest, *, author: AuthorOf, response: ResponseOf
) -> tuple[str, dict[str, Any]]:
    """Return why the draft could not be saved, "" if it was, and the one that is there instead."""
    try:
        posted = DraftForm(json.loads(request.body))
        sent = posted.cleaned_data if posted.is_valid() else {}
        token, position = sent["token"], sent["position"]
        drafted = response(token, position) or _response_at(position, author=author(token))
        form = _form_of_one(drafted)
        item = form.item_at(position)
    except TokenError:
        return "expired", {}
    except UNREADABLE:
        return "unreadable", {}
    reach("draft.received")
    is_saved = save_draft(
        drafted.assignment,
        position=position,
        data=form.draft_of(item, sent["answers"]),
        version=sent["version"],
        active_seconds=sent["seconds"],
        after=sent["after"],
    )
    reach("draft.saved")
    return ("", {}) if is_saved else ("outdated", draft_there(drafted.assignment, position=position))


def _response_at(position: int, *, author: Assignment) -> Response:
    """Return what the author of a page has at a position. Raises KeyError where that is nothing."""
    found = opened_response(author, batch=batch_of(author), position=position)
    if found is None:
        raise KeyError(position)
    return found


def keep_what_was_given(form: HitForm, assignment: Assignment) -> None:
    """Without JavaScript an incomplete submission is the only draft there is."""
    for item in form.items:
        progress = form.progress[item.position]
        form.progress[item.position] = Progress(progress.version + 1, progress.active_seconds)
        save_draft(
            assignment,
            position=item.position,
            data=form.posted_draft(item),
            version=progress.version + 1,
            active_seconds=progress.active_seconds,
        )


def to_gaps(request: HttpRequest, assignment: Assignment) -> HttpResponse | None:
    """Return the way to the page that shows what is missing in what was kept; None where the answer is that page (422).

    A page that answers a post is none that Back or Reload can come back to. A script has kept the page it posted from,
    and answers that were complete before have no draft.
    """
    if request.headers.get("Sec-Fetch-Mode") != "navigate" or assignment.saved_at:
        return None
    query = request.GET.copy()
    query[GAPS] = request.POST.get(SKIP, "")
    return SeeOther(f"{request.path}?{query.urlencode()}")


def with_gaps(request: HttpRequest, form: HitForm) -> HitForm:
    """Return the form with what is missing in its drafts, where the address asks for that."""
    if GAPS not in request.GET:
        return form
    return HitForm(
        form.drafted(skipping=request.GET[GAPS]),
        definition=form.definition,
        items=form.items,
        progress=form.progress,
        takes_reports=form.takes_reports,
    )


def is_first_visit(assignment: Assignment) -> bool:
    """True until this worker has begun to answer, here or in another HIT."""
    known = {"worker": assignment.worker_id, "claimed_from": assignment.claimed_from}
    return not BEGUN.rows(**known, assignment=assignment.pk)


def _begun() -> QuerySet[Response, Any]:
    claimed_from = Hole("claimed_from", Assignment._meta.get_field("claimed_from"))
    theirs = is_borne_out(claimed_from, assignment="assignment__")
    this = Q(assignment=Hole("assignment", Assignment._meta.pk))
    responses = Response.objects.filter(theirs | this, worker=Hole("worker", Worker._meta.pk))
    return responses.exclude(draft_version=0, saved_at=None).order_by().values_list("pk")[:1]


BEGUN = Statement(_begun)


def spoken(minutes: int) -> str:
    """Return a length of time as people say it: 90 is "1 hour 30 minutes"."""
    hours, rest = divmod(minutes, 60)
    parts = [ngettext("%(n)d hour", "%(n)d hours", hours) % {"n": hours}] if hours else []
    parts += [ngettext("%(n)d minute", "%(n)d minutes", rest) % {"n": rest}] if rest else []
    return " ".join(parts) or gettext("less than a minute")


def time_allowed(batch: Batch) -> str:
    """Return how long an assignment of the batch may take, as people say it."""
    return spoken(int(batch.assignment_duration.total_seconds() // 60))


def pay_rule(batch: Batch, *, is_named: bool = False) -> str:
    """Say in the worker's words what the batch's review policy does to their pay.

    `is_named`: they came by a personal link.
    """
    rules = policy.parse(batch.review_policy)
    return policy.told(rules, is_automatic=batch.rejects_automatically, is_named=is_named, say=gettext)
