"""One annotation of a person who came by link: its form, its drafts, its answers, and changing them."""

from contextlib import suppress
from typing import Any

from django.db import DatabaseError, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from annotators.failpoints import reach
from annotators.models import Assignment
from surveys.answering import consents
from surveys.answering.admissions import Admission, NotAdmitted, admit
from surveys.answering.allocation import NothingLeft, NotYours, coming, settle, take_number
from surveys.answering.answer_copy import content
from surveys.answering.collection import given_answers, revise_answers, save_answers
from surveys.models import Batch, Picture, is_accepted
from surveys.operations import log_context
from surveys.pages.answering import consent, language, problems, quiz, tokens
from surveys.pages.answering.hit_form import HitForm
from surveys.pages.answering.link_page import (
    KEPT,
    admitted,
    around_work,
    is_changeable,
    linked,
    on_to_next,
    record_fault,
    render,
    to,
)
from surveys.pages.answering.work_page import (
    answered_in,
    assignment_form,
    batch_of,
    draft_answer,
    keep_what_was_given,
    to_gaps,
    with_gaps,
)
from surveys.protocols.definition import UNSEEN
from surveys.publishing import quota

UNANSWERED = "0"


@linked
@require_http_methods(["GET", "POST"])
def work(request: HttpRequest, token: str, number: int) -> HttpResponse:
    """One annotation: its form as far as it is answered; posted, its answers."""
    if request.method == "POST":
        return _submit(request, token, number)
    admission = admitted(request, token)
    if _has_to_agree(admission, number):
        return consent.to_link_consent(token, number=number)
    assignment = _assignment(admission, number)
    log_context.bind(assignment=assignment.pk, batch=admission.batch.pk)
    if number != (current := assignment.annotation_slot.number):
        return to("link_work", token, current)
    if assignment.saved_at:
        settle(assignment)
    elif asked := quiz.asked(request, admission.batch, **_quiz_context(admission, assignment)):
        return asked
    form = assignment_form(assignment, batch=admission.batch)
    shown = form if assignment.saved_at else with_gaps(request, form)
    return _page(admission, assignment, shown, just_saved=request.GET.get("saved", ""))


def _has_to_agree(admission: Admission, number: int) -> bool:
    """Tell whether somebody has to agree before they work on this. What they answered before stays theirs."""
    if consents.due(admission.batch, worker=admission.worker) is None:
        return False
    theirs = Assignment.objects.filter(worker=admission.worker, annotation_slot__batch=admission.batch)
    return not theirs.filter(annotation_slot__number=number, saved_at__isnull=False).exists()


@linked
@require_POST
def draft(request: HttpRequest, token: str, number: int) -> HttpResponse:
    """Keep one item's draft. Where the link has expired, too: nothing that was typed is lost."""
    return draft_answer(request, author=lambda sent: _author(sent, token))


def _author(sent: str, token: str) -> Assignment:
    """Return whose page it is; while the link is valid, their lease is renewed."""
    author = tokens.author(sent)
    with suppress(NotAdmitted):
        _admission(token, author)
        quota.keep(author, batch=batch_of(author))
    return author


def _admission(token: str, author: Assignment) -> Admission:
    """Admit the author of a page by the link it was sent from. Raises TokenError where that is somebody else's."""
    admission = admit(token)
    if admission.worker != author.worker:
        raise tokens.TokenError
    return admission


def _assignment(admission: Admission, number: int) -> Assignment:
    return take_number(
        admission.batch,
        number=number,
        worker=admission.worker,
        channel=admission.channel,
        limit=admission.limit,
    )


def _submit(request: HttpRequest, token: str, number: int) -> HttpResponse:
    author = tokens.author(request.POST.get("token", ""), is_submitting=True)
    form = assignment_form(author, batch=batch_of(author), data=request.POST)
    try:
        admission = _admission(token, author)
        language.follow(admission.batch, request)
        assignment = _assignment(admission, number)
    except (NotAdmitted, NotYours, NothingLeft) as error:
        if not quiz.is_quiz(request):
            keep_what_was_given(form, author)
            error.add_note(str(KEPT))
        raise
    if assignment != author:
        raise tokens.TokenError
    assignment.hit = author.hit  # with its batch
    if problems.is_report(request):
        return _reported(request, admission, assignment, form)
    if _has_to_agree(admission, number):
        if not (is_quiz := quiz.is_quiz(request)):
            keep_what_was_given(form, author)
        return consent.to_link_consent(token, number=number, is_kept=not is_quiz)
    if quiz.is_quiz(request):
        return quiz.answered(request, admission.batch, **_quiz_context(admission, assignment))
    return _answered(request, admission, assignment, form)


def _reported(
    request: HttpRequest, admission: Admission, assignment: Assignment, posted: HitForm
) -> HttpResponse:
    """Keep a report; without a script all of the form came with it, and is a draft."""
    told = problems.take(request, assignment)
    if problems.is_by_script(request):
        return problems.answer(told)
    keep_what_was_given(posted, assignment)
    form = assignment_form(assignment, batch=admission.batch)
    form.told = told
    return _page(admission, assignment, form)


def _quiz_context(admission: Admission, assignment: Assignment) -> dict[str, Any]:
    return {
        "worker": admission.worker,
        "action": reverse("link_work", args=[admission.token, assignment.annotation_slot.number]),
        "token": tokens.issue(assignment, submit_to=""),
    }


def _answered(
    request: HttpRequest, admission: Admission, assignment: Assignment, form: HitForm
) -> HttpResponse:
    revision = request.POST.get("revision", "")
    if not form.is_valid() and revision != _revision(assignment):
        return _overtaken(request, admission, assignment, form)
    try:
        is_saved = _keep(assignment, form, revision=revision, batch=admission.batch)
    except DatabaseError:  # nothing was written; the browser keeps no copy of an uncached page either
        record_fault("work", request)
        return _page(admission, assignment, form, status=503, is_not_kept=True)
    if not form.is_valid():
        return to_gaps(request, assignment) or _page(admission, assignment, form, status=422)
    if not is_saved and not _is_repeated(assignment, form):
        return _not_saved(request, admission, assignment, form)
    number = assignment.annotation_slot.number
    reach("link.saved")
    problems.take_along(request, assignment, positions=[item.position for item in form.items])
    settle(assignment)
    reach("link.settled")
    saved = f"?saved={number}"
    is_new = revision == UNANSWERED
    return on_to_next(admission, query=saved) if is_new else to("link", admission.token, query=saved)


def _keep(assignment: Assignment, form: HitForm, *, revision: str, batch: Batch) -> bool:
    """Write complete answers, or else a draft. False where complete ones were not written."""
    if form.is_valid():
        return _save(assignment, form, revision=revision, batch=batch)
    keep_what_was_given(form, assignment)
    return False


@transaction.atomic
def _save(assignment: Assignment, form: HitForm, *, revision: str, batch: Batch) -> bool:
    """Write the answers. False, and no change, if others were written since the page was made, or they are final."""
    locked = Assignment.objects.select_for_update(no_key=True).get(pk=assignment.pk)
    if revision != _revision(locked) or _is_closed(locked, batch) or _takes_back(locked, form):
        return False
    locked.hit = assignment.hit
    write = revise_answers if locked.saved_at else save_answers
    comment, language = form.cleaned_data["comment"], answered_in(assignment)
    write(locked, answers=form.answers(), comment=comment, language=language)
    return True


def _takes_back(locked: Assignment, form: HitForm) -> bool:
    """Tell whether what was accepted, after this form was made too, would now not have been seen (ADR 25)."""
    unseen = {answer.position for answer in form.answers() if answer.skip_reason in UNSEEN}
    judged = locked.responses.filter(is_accepted("assignment"), position__in=unseen, skip_reason="")
    return bool(unseen and locked.saved_at) and judged.exists()


def _revision(assignment: Assignment) -> str:
    """Count how often complete answers were written."""
    return str(assignment.revisions.count() + 1) if assignment.saved_at else UNANSWERED


def _is_repeated(assignment: Assignment, form: HitForm) -> bool:
    """Tell whether what was posted says what is written: the same page sent twice."""
    assignment.refresh_from_db()
    is_same_comment = assignment.comment == form.cleaned_data["comment"]
    return is_same_comment and content(given_answers(assignment)) == content(form.answers())


def _not_saved(
    request: HttpRequest, admission: Admission, assignment: Assignment, posted: HitForm
) -> HttpResponse:
    """Give back what was posted where nothing can be changed any more, or ask about it."""
    form = assignment_form(assignment, batch=admission.batch, data=request.POST)
    if _is_closed(assignment, admission.batch):
        return _page(admission, assignment, form, status=403)
    if not form.is_valid():  # what it changes was accepted in the meantime
        return _page(admission, assignment, form, status=422)
    return _overtaken(request, admission, assignment, posted)


def _overtaken(
    request: HttpRequest, admission: Admission, assignment: Assignment, posted: HitForm
) -> HttpResponse:
    """Show what is written and ask before it is replaced by what was posted, or by that with what it lacks."""
    assignment.refresh_from_db()
    form = assignment_form(assignment, batch=admission.batch)
    again = [(name, value) for name in [*posted.fields, "skip"] for value in request.POST.getlist(name)]
    is_complete = posted.is_valid()
    return _page(
        admission, assignment, form, status=409, again=again, is_complete=is_complete, is_overtaken=True
    )


def _is_closed(assignment: Assignment, batch: Batch) -> bool:
    return assignment.saved_at is not None and not is_changeable(assignment, batch)


def _coming(admission: Admission) -> list[Picture]:
    return coming(admission.batch, worker=admission.worker, limit=admission.limit)


def _page(
    admission: Admission,
    assignment: Assignment,
    form: HitForm,
    *,
    status: int = 200,
    just_saved: str = "",
    **context: Any,
) -> HttpResponse:
    number = assignment.annotation_slot.number
    return render(
        "work",
        status=status,
        **context,
        **around_work(admission, just_saved=just_saved),
        form=form,
        number=number,
        assignment=assignment,
        is_closed=_is_closed(assignment, admission.batch),
        action=reverse("link_work", args=[admission.token, number]),
        draft_url="" if assignment.saved_at else reverse("link_draft", args=[admission.token, number]),
        token=tokens.issue(assignment, submit_to=""),
        kept_under=tokens.kept_under(assignment),
        revision=_revision(assignment),
        coming=[] if assignment.saved_at else _coming(admission),
        instructions=form.definition.instructions,
        consent=consent.shown(admission.batch),
        submit_label=gettext("Save the changes") if assignment.saved_at else gettext("Submit"),
    )
