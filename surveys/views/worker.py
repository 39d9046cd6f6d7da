"""The page an annotator works on, its drafts, and the way back to the marketplace."""

import json
import uuid
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from annotators.models import Assignment
from surveys.collecting import save_answers, save_draft, task_answers
from surveys.forms import DraftForm, HitForm, Progress
from surveys.models import Batch, Questionnaire, Response
from surveys.presenting import CannotServe, open_assignment, preview_items, read_claims, shown_items
from surveys.views import tokens
from surveys.views.framing import framed

DRAFT_STATUS = {"": 200, "unreadable": 400, "expired": 403, "outdated": 409}


@framed
@require_http_methods(["GET", "POST"])
def hit(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Preview, working page, receipt: what the address and the state of the work ask for."""
    questionnaire = _questionnaire(pk)
    if request.method == "POST":
        return _submit(request, questionnaire)
    claims = read_claims(request.GET.dict(), endpoint=questionnaire.batch.endpoint)
    if claims.is_preview:
        return _preview(questionnaire)
    agent = request.headers.get("User-Agent", "")
    assignment = open_assignment(questionnaire, claims=claims, user_agent=agent)
    bearer = tokens.Bearer(assignment, claims.submit_to)
    if assignment.saved_at:
        return _done(questionnaire.batch, bearer, is_first_time=False)
    return _page(request, questionnaire, bearer, _form(questionnaire, assignment))


@framed
@require_POST
def draft(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Keep one item's draft: 200 saved, 409 a newer one is there or the answers are complete, 400, 403.

    The body is JSON: token, position, version, seconds, answers. Any origin may read the answer: in a sandboxed frame
    our own page's origin is "null", and the token, not the origin, says who asks.
    """
    why = _save_draft(request, _questionnaire(pk))
    response = JsonResponse({"saved": not why, "why": why}, status=DRAFT_STATUS[why])
    response["Access-Control-Allow-Origin"] = "*"
    return response


def _save_draft(request: HttpRequest, questionnaire: Questionnaire) -> str:
    """Return why the draft could not be saved, "" if it was."""
    try:
        posted = DraftForm(json.loads(request.body))
        sent = posted.cleaned_data if posted.is_valid() else {}
        assignment = tokens.read(sent["token"], questionnaire=questionnaire).assignment
        form = _form(questionnaire, assignment)
        item = form.item_at(sent["position"])
    except tokens.TokenError:
        return "expired"
    except (ValueError, AttributeError, KeyError, RecursionError, RequestDataTooBig):
        return "unreadable"
    is_saved = save_draft(
        assignment,
        position=item.position,
        data=form.draft_of(item, sent["answers"]),
        version=sent["version"],
        active_seconds=sent["seconds"],
    )
    return "" if is_saved else "outdated"


def _submit(request: HttpRequest, questionnaire: Questionnaire) -> HttpResponse:
    token = request.POST.get("token", "")
    try:
        bearer = tokens.read(token, questionnaire=questionnaire)
    except tokens.TokenExpired:
        late = tokens.read(token, questionnaire=questionnaire, is_late_ok=True).assignment
        _keep_what_was_given(_form(questionnaire, late, data=request.POST), late)
        raise
    if bearer.assignment.saved_at:
        return _done(questionnaire.batch, bearer, is_first_time=False)
    form = _form(questionnaire, bearer.assignment, data=request.POST)
    if not form.is_valid():
        _keep_what_was_given(form, bearer.assignment)
        return _page(request, questionnaire, bearer, form, status=422)
    is_first_time = save_answers(
        bearer.assignment, answers=form.answers(), comment=form.cleaned_data["comment"]
    )
    return _done(questionnaire.batch, bearer, is_first_time=is_first_time)


def _keep_what_was_given(form: HitForm, assignment: Assignment) -> None:
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


def _questionnaire(pk: uuid.UUID) -> Questionnaire:
    found = Questionnaire.objects.select_related("batch__survey", "hit").filter(pk=pk).first()
    if found is None:
        raise CannotServe("unknown", "There is no such HIT here. Please return it.")
    return found


def _form(questionnaire: Questionnaire, assignment: Assignment, *, data: Any = None) -> HitForm:
    rows = assignment.responses.values_list("position", "draft_version", "active_seconds")
    return HitForm(
        data,
        definition=questionnaire.batch.definition,
        items=shown_items(assignment),
        progress={position: Progress(version, seconds) for position, version, seconds in rows},
    )


def _preview(questionnaire: Questionnaire) -> HttpResponse:
    form = HitForm(definition=questionnaire.batch.definition, items=preview_items(questionnaire))
    return HttpResponse(_render_page(questionnaire.batch, form, is_preview=True, is_first_visit=True))


def _page(
    request: HttpRequest,
    questionnaire: Questionnaire,
    bearer: tokens.Bearer,
    form: HitForm,
    *,
    status: int = 200,
) -> HttpResponse:
    html = _render_page(
        questionnaire.batch,
        form,
        action=request.get_full_path(),
        draft_url=reverse("draft", args=[questionnaire.pk]),
        token=tokens.issue(bearer.assignment, submit_to=bearer.submit_to),
        is_first_visit=not form.is_bound and _is_first_visit(bearer.assignment),
    )
    return HttpResponse(html, status=status)


def _is_first_visit(assignment: Assignment) -> bool:
    """True until this worker has begun to answer, here or in another HIT."""
    begun = Response.objects.filter(worker=assignment.worker_id).exclude(draft_version=0, saved_at=None)
    return not begun.exists()


def _render_page(batch: Batch, form: HitForm, **context: Any) -> str:
    """Render without the request: its context processors would bring the session, thus cookies, into the frame."""
    context |= {
        "batch": batch,
        "form": form,
        "instructions": form.definition.instructions,
        "time_allowed": spoken(int(batch.assignment_duration.total_seconds() // 60)),
        "pay_rule": pay_rule(batch.review_policy),
    }
    return render_to_string("hits/page.html", context)


def spoken(minutes: int) -> str:
    """Return a length of time as people say it: 90 is "1 hour 30 minutes"."""
    hours, rest = divmod(minutes, 60)
    parts = [f"{n} {word}{'s' * (n != 1)}" for n, word in ((hours, "hour"), (rest, "minute")) if n]
    return " ".join(parts) or "less than a minute"


def pay_rule(policy: dict[str, Any]) -> str:
    """Say in the worker's words what the batch's review policy does to their pay."""
    if policy.get("kind") == "never":
        return "Every complete assignment is paid. Your opinions are never a reason to reject."
    too_few = f"an assignment with fewer than {policy['minimum']} of {policy['out_of']} right answers"
    rule = (
        f"A person looks at {too_few} before it is paid."
        if policy.get("kind") == "flag_only"
        else f"{too_few.capitalize()} is not paid."
    )
    return f"{rule} Your opinions about the rest are never a reason to reject."


def _done(batch: Batch, bearer: tokens.Bearer, *, is_first_time: bool) -> HttpResponse:
    assignment = bearer.assignment
    origin = bearer.submit_to or settings.MTURK_ENDPOINTS[batch.endpoint]["submit_origins"][0]
    context = {
        "assignment": assignment,
        "is_first_time": is_first_time,
        "is_confirmed": assignment.submitted_at is not None,
        "submit_url": f"{origin}/mturk/externalSubmit",
        "task_answers": task_answers(assignment),
        "n_items": assignment.responses.count(),
    }
    return HttpResponse(render_to_string("hits/done.html", context))
