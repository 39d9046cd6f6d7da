"""The page an annotator works on, its drafts, and the way back to the marketplace."""

import json
import uuid
from functools import cache
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from annotators.failpoints import reach
from annotators.models import Assignment
from annotators.people.names import names_of
from annotators.people.pseudonyms import by_name, is_known
from statements import Hole, Statement
from surveys.answering.allocation import coming_after
from surveys.answering.arrival import CannotServe, named, open_assignment, read_claims
from surveys.answering.collection import task_answers, write_answers
from surveys.answering.consents import has_consent
from surveys.answering.presentation import opened_responses, preview_items, shown_definition
from surveys.models import Batch, Questionnaire, Response
from surveys.operations import log_context
from surveys.pages.access import address_of
from surveys.pages.answering import consent, language, problems, quiz, tokens
from surveys.pages.answering.framing import framed, record_fault
from surveys.pages.answering.hit_form import HitForm
from surveys.pages.answering.work_page import (
    answered_in,
    assignment_form,
    batch_of,
    draft_answer,
    is_first_visit,
    keep_what_was_given,
    pay_rule,
    time_allowed,
    to_gaps,
    with_gaps,
)


@framed
@require_http_methods(["GET", "POST"])
def hit(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Preview, working page, receipt: what the address and the state of the work ask for."""
    if request.method == "POST":
        return _submit(request, pk)
    questionnaire = _questionnaire(request, pk)
    claims = read_claims(request.GET.dict(), endpoint=questionnaire.batch.endpoint)
    if claims.is_preview:
        return _preview(request, questionnaire)
    agent = request.headers.get("User-Agent", "")
    opened = open_assignment(
        questionnaire,
        claims=claims,
        user_agent=agent,
        address=address_of(request),
        is_new=not getattr(questionnaire, "is_claimed", True),
        is_unknown=not getattr(questionnaire, "is_known", True),
    )
    assignment = opened.assignment
    log_context.bind(assignment=assignment.pk)
    bearer = tokens.Bearer(assignment, claims.submit_to)
    if assignment.saved_at:
        return _done(questionnaire.batch, bearer, is_first_time=False)
    batch = questionnaire.batch
    if asked := _asked_first(request, batch, bearer):
        return asked
    form = with_gaps(request, assignment_form(assignment, batch=batch, responses=opened.responses(batch)))
    is_first = opened.is_newcomer or is_first_visit(assignment)
    return _page(request, questionnaire, bearer, form, is_first_visit=is_first)


def _asked_first(request: HttpRequest, batch: Batch, bearer: tokens.Bearer) -> HttpResponse | None:
    """Return what stands before the work: whether they agree, then the quiz; None once it is behind them."""
    if not (batch.consent_text or batch.uses_quiz or quiz.QUIZ in request.GET):
        return None
    who = _who_asks(request, bearer)
    return consent.ask(batch, **who) or quiz.asked(request, batch, **who)


@framed
@require_POST
def draft(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Keep one item's draft."""
    return draft_answer(
        request,
        author=lambda token: _author(request, pk, token=token),
        response=lambda token, position: _response(request, pk, token=token, position=position),
    )


@framed
@require_POST
def coming(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    """Answer with the pictures of the HIT that probably comes next, for a page that has all of its own."""
    author = _author(request, pk, token=request.POST.get("token", ""))
    shown = {"coming": coming_after(author), "is_sequence": batch_of(author).definition.is_sequence}
    return HttpResponse(render_to_string("answering/hits/coming.html", shown))


def _author(request: HttpRequest, pk: uuid.UUID, *, token: str) -> Assignment:
    questionnaire, issued_to = _posted_to(request, pk, token=token)
    return tokens.read(token, questionnaire=questionnaire, issued_to=issued_to).assignment


def _response(request: HttpRequest, pk: uuid.UUID, *, token: str, position: int) -> Response | None:
    """Return what the author of a page of this HIT has at a position; None where there is nothing.

    Raises TokenError of a token that has expired, or whose page is outdated.
    """
    try:
        found = tokens.response(token, questionnaire=pk, position=position)
    except tokens.TokenError:
        return None
    if found:
        questionnaire = _followed(found.assignment.hit.questionnaire, request)
        tokens.read(token, questionnaire=questionnaire, issued_to=found.assignment)
    return found


def _submit(request: HttpRequest, pk: uuid.UUID) -> HttpResponse:
    token = request.POST.get("token", "")
    questionnaire, issued_to = _posted_to(request, pk, token=token, is_submitting=True)
    try:
        bearer = tokens.read(token, questionnaire=questionnaire, issued_to=issued_to)
    except tokens.TokenExpired:
        late = tokens.read(
            token, questionnaire=questionnaire, issued_to=issued_to, is_late_ok=True
        ).assignment
        keep_what_was_given(assignment_form(late, batch=questionnaire.batch, data=request.POST), late)
        raise
    if bearer.assignment.saved_at:  # `again`: the page that sent this got no answer the first time
        return _done(questionnaire.batch, bearer, is_first_time="again" in request.POST)
    if problems.is_report(request):
        return _reported(request, questionnaire, bearer)
    if before := _before_the_work(request, questionnaire.batch, bearer):
        return before
    responses = opened_responses(bearer.assignment, batch=questionnaire.batch)
    form = assignment_form(
        bearer.assignment, batch=questionnaire.batch, data=request.POST, responses=responses
    )
    try:
        written = _keep(form, bearer.assignment, responses)
    except DatabaseError:  # nothing was written; the browser keeps no copy of an uncached page either
        record_fault(request)
        return _page(request, questionnaire, bearer, form, status=503, is_not_kept=True)
    if not form.is_valid():
        gaps = to_gaps(request, bearer.assignment)
        return gaps or _page(request, questionnaire, bearer, form, status=422)
    reach("submit.saved")
    problems.take_along(request, bearer.assignment, positions=[one.position for one in responses])
    if written is None:
        bearer.assignment.refresh_from_db()  # a submission at the same moment was quicker: its comment counts
    return _done(questionnaire.batch, bearer, is_first_time=written is not None, written=written)


def _reported(request: HttpRequest, questionnaire: Questionnaire, bearer: tokens.Bearer) -> HttpResponse:
    """Keep a report; without a script all of the form came with it, and is a draft."""
    batch, assignment = questionnaire.batch, bearer.assignment
    told = problems.take(request, assignment)
    if problems.is_by_script(request):
        return problems.answer(told)
    keep_what_was_given(assignment_form(assignment, batch=batch, data=request.POST), assignment)
    form = assignment_form(assignment, batch=batch)
    form.told = told
    return _page(request, questionnaire, bearer, form)


def _before_the_work(request: HttpRequest, batch: Batch, bearer: tokens.Bearer) -> HttpResponse | None:
    """Return the answer to what was posted where that was no work, or work nobody has agreed to yet: that waits."""
    if not (batch.consent_text or consent.is_consent(request) or quiz.is_quiz(request)):
        return None
    who = _who_asks(request, bearer)
    if consent.is_consent(request):
        return consent.answered(request, batch, **who)
    if (asked := consent.ask(batch, **who, is_kept=not quiz.is_quiz(request))) is not None:
        if not quiz.is_quiz(request):
            keep_what_was_given(
                assignment_form(bearer.assignment, batch=batch, data=request.POST), bearer.assignment
            )
        return asked
    return quiz.answered(request, batch, **who) if quiz.is_quiz(request) else None


def _keep(form: HitForm, assignment: Assignment, responses: list[Response]) -> str | None:
    """Write complete answers, or else a draft. Returns the first complete ones as the marketplace gets them."""
    if not form.is_valid():
        keep_what_was_given(form, assignment)
        return None
    reach("submit.received")
    return write_answers(
        assignment,
        answers=form.answers(),
        comment=form.cleaned_data["comment"],
        language=answered_in(assignment),
        responses=responses,
    )


def _who_asks(request: HttpRequest, bearer: tokens.Bearer) -> dict[str, Any]:
    return {
        "worker": bearer.assignment.worker,
        "claimed_from": bearer.assignment.claimed_from,
        "action": quiz.plain_address(request),
        "token": tokens.issue(bearer.assignment, submit_to=bearer.submit_to),
    }


def _questionnaire(request: HttpRequest, pk: uuid.UUID) -> Questionnaire:
    """Return the questionnaire with `is_claimed` and `is_known`: whether it was opened so, or the worker is, before."""
    assignment_id, worker_id = named(request.GET.dict())
    names = names_of(worker_id)
    asked = _named_questionnaire(len(names))
    found = asked.first(pk=pk, assignment_id=assignment_id, **by_name(names))
    if found is None:
        raise CannotServe("unknown", gettext("There is no such HIT here. Please return it."))
    return _followed(found, request)


CLAIMED = Assignment.objects.filter(
    hit=OuterRef("hit"), assignment_id=Hole("assignment_id", Assignment._meta.get_field("assignment_id"))
)


@cache
def _named_questionnaire(n_names: int) -> Statement[Questionnaire]:
    """Return the statement that finds a questionnaire for a worker of so many names."""

    def made() -> QuerySet[Questionnaire]:
        found = Questionnaire.objects.select_related("batch__survey", "hit").annotate(
            has_consent=has_consent("batch__survey"),
            is_claimed=Exists(CLAIMED),
            is_known=is_known(source=OuterRef("batch__endpoint"), n_names=n_names),
        )
        return found.filter(pk=Hole("pk", Questionnaire._meta.pk))

    return Statement(made)


def _posted_to(
    request: HttpRequest, pk: uuid.UUID, *, token: str, is_submitting: bool = False
) -> tuple[Questionnaire, Assignment | None]:
    """Return the questionnaire, read with the assignment that its page was issued for where there is one."""
    try:
        assignment: Any = tokens.author(token, is_submitting=is_submitting)
        questionnaire: Any = assignment.hit.questionnaire
        questionnaire.has_consent = assignment.has_consent
    except (tokens.TokenError, Questionnaire.DoesNotExist):
        return _questionnaire(request, pk), None
    if questionnaire.pk != pk:
        return _questionnaire(request, pk), None
    return _followed(questionnaire, request), assignment


def _followed(found: Questionnaire, request: HttpRequest) -> Questionnaire:
    """Go on in the study's language, and say in the log what it is about. Nobody asks again for what isn't there."""
    if not getattr(found, "has_consent", True):
        found.batch.consent_text = None
    language.follow(found.batch, request)
    log_context.bind(batch=found.batch_id, hit=found.hit and found.hit.hit_id)
    return found


def _preview(request: HttpRequest, questionnaire: Questionnaire) -> HttpResponse:
    form = HitForm(definition=shown_definition(questionnaire.batch), items=preview_items(questionnaire))
    shown = _render_page(questionnaire.batch, form, query=request.GET, is_preview=True, is_first_visit=True)
    return HttpResponse(shown)


def _page(
    request: HttpRequest,
    questionnaire: Questionnaire,
    bearer: tokens.Bearer,
    form: HitForm,
    *,
    status: int = 200,
    is_not_kept: bool = False,
    is_first_visit: bool = False,
) -> HttpResponse:
    html = _render_page(
        questionnaire.batch,
        form,
        query=request.GET,
        action=request.get_full_path(),
        draft_url=reverse("draft", args=[questionnaire.pk]),
        coming_url=reverse("coming", args=[questionnaire.pk]),
        token=tokens.issue(bearer.assignment, submit_to=bearer.submit_to),
        kept_under=tokens.kept_under(bearer.assignment),
        is_not_kept=is_not_kept,
        is_first_visit=is_first_visit,
    )
    return HttpResponse(html, status=status)


def _render_page(batch: Batch, form: HitForm, **context: Any) -> str:
    """Render without the request: its context processors would bring the session, thus cookies, into the frame."""
    context |= {
        "batch": batch,
        "form": form,
        "instructions": form.definition.instructions,
        "time_allowed": time_allowed(batch),
        "pay_rule": pay_rule(batch),
        "consent": consent.shown(batch),
    }
    return render_to_string("answering/hits/page.html", context)


def _done(
    batch: Batch, bearer: tokens.Bearer, *, is_first_time: bool, written: str | None = None
) -> HttpResponse:
    """The receipt, with the answers to hand in: `written` just now, else as they were before."""
    assignment, answers = bearer.assignment, written or task_answers(bearer.assignment)
    origin = bearer.submit_to or settings.MTURK_ENDPOINTS[batch.endpoint]["submit_origins"][0]
    context = {
        "assignment": assignment,
        "kept_under": tokens.kept_under(assignment),
        "is_first_time": is_first_time,
        "is_confirmed": assignment.submitted_at is not None,
        "submit_url": f"{origin}/mturk/externalSubmit",
        "task_answers": answers,
        "n_items": len(json.loads(answers)),
    }
    return HttpResponse(render_to_string("answering/hits/done.html", context))
