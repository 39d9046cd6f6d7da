"""Appeals as researchers see them: those that wait, and answering one."""

from datetime import timedelta

from django import forms
from django.contrib import admin, messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from annotators.crowds.base import crowd_of
from annotators.outbox.market import FEEDBACK_MAX
from surveys import sync
from surveys.enqueue import enqueue
from surveys.models import Appeal
from surveys.pages.access import researcher
from surveys.pages.answering.appeal_forms import PlainText
from surveys.review import appeal_codes, appeals
from surveys.review.errors import CannotDecide
from surveys.review.replacements import is_replaced
from surveys.teams import seen_by, where

PER_PAGE = 6  # each with what it is about; so the page stays within a few screens
MAY_ANSWER = ("surveys.view_batch", "annotators.view_assignment", "annotators.change_assignment")
SAID = {
    Appeal.Outcome.OVERTURNED: "The rejection is overturned; {next}.",
    Appeal.Outcome.UPHELD: "The rejection stays. The worker reads your answer on their page.",
}


class AnswerForm(forms.Form):
    """A researcher's answer to an appeal. The worker reads it; with an overturned rejection MTurk passes it on."""

    outcome = forms.ChoiceField(choices=Appeal.Outcome.choices)
    answer = PlainText(
        max_length=FEEDBACK_MAX,
        widget=forms.Textarea(attrs={"rows": 4}),
        error_messages={"required": "Write an answer: the worker reads it."},
    )
    use_answers = forms.BooleanField(required=False)


@never_cache
@require_safe
@researcher("surveys.view_batch", "annotators.view_assignment")
def open_appeals(request: HttpRequest) -> HttpResponse:
    """List the appeals nobody has answered, of all batches, the oldest first."""
    related = ("assignment__worker", "assignment__hit__questionnaire__batch", "assignment__decision")
    rows = seen_by(request.user, appeal_codes.waiting().select_related(*related))
    context = {
        **admin.site.each_context(request),
        "title": "Open appeals",
        "page": Paginator(rows, PER_PAGE).get_page(request.GET.get("page", "1")),
        "old_before": timezone.now() - timedelta(days=1),
    }
    return render(request, "review/appeals.html", context)


@never_cache
@require_POST
@researcher(*MAY_ANSWER)
def answer_appeal(request: HttpRequest, appeal_pk: int) -> HttpResponse:
    """Answer one appeal. What was typed stays on the page where it can't be recorded."""
    made = Appeal.objects.select_related("assignment__worker", "assignment__hit__questionnaire__batch")
    decided = made.filter(assignment__hit__questionnaire__batch__survey__in=where(request.user, *MAY_ANSWER))
    appeal = get_object_or_404(decided, pk=appeal_pk, made_at__isnull=False)
    form = AnswerForm(request.POST)
    if not form.is_valid():
        return _again(request, appeal, form, status=422)
    try:
        appeals.answer_appeal(appeal, by=request.user, **form.cleaned_data)  # type: ignore[arg-type]
    except CannotDecide as error:
        form.add_error(None, str(error))
        return _again(request, appeal, form, status=409)
    enqueue(sync.sync_hit, appeal.assignment.hit_id)
    enqueue(sync.tell_of_appeal, appeal.pk)
    following = (
        "the worker is paid next" if crowd_of(appeal.assignment).has_market else "the work is accepted"
    )
    messages.success(request, SAID[form.cleaned_data["outcome"]].format(next=following))
    batch_pk = appeal.assignment.hit.questionnaire.batch_id
    return redirect("assignment", pk=batch_pk, assignment_pk=appeal.assignment_id)


def _again(request: HttpRequest, appeal: Appeal, form: AnswerForm, *, status: int) -> HttpResponse:
    appeal.refresh_from_db()
    context = {
        **admin.site.each_context(request),
        "title": "Answer an appeal",
        "assignment": appeal.assignment,
        "batch": appeal.assignment.hit.questionnaire.batch,
        "answer_form": form,
        "is_replaced": is_replaced(appeal.assignment),
    }
    return render(request, "review/appeal_again.html", context, status=status)
