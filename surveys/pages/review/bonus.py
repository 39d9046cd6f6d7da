"""Giving a worker a bonus: what it will cost is shown before it is paid."""

import uuid
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from annotators.crowds.mturk.fees import price
from annotators.models import Assignment
from annotators.outbox.market import FEEDBACK_MAX
from surveys import sync
from surveys.enqueue import enqueue
from surveys.pages.access import batch_for, researcher
from surveys.publishing import bonuses, budget
from surveys.publishing.budget import OverBudget


class BonusForm(forms.Form):
    """A bonus and its reason. The nonce is made with the form: sent twice, it is one bonus."""

    nonce = forms.UUIDField(initial=uuid.uuid4, widget=forms.HiddenInput)
    amount = forms.DecimalField(
        label="Bonus in dollars",
        min_value=Decimal("0.01"),
        max_digits=6,
        decimal_places=2,
        help_text="MTurk's fee of 20 %, at least $0.01, comes on top.",
    )
    reason = forms.CharField(
        label="What it is for",
        max_length=FEEDBACK_MAX,
        widget=forms.Textarea(attrs={"rows": 3, "class": "wide"}),
        help_text="The worker reads this.",
    )


MAY_GIVE = ("surveys.publish_batch", "annotators.change_assignment")


def bonus_block(assignment: Assignment, *, user: User | AnonymousUser) -> dict[str, Any]:
    """Return what an assignment's page shows of bonuses: those `given`, and a `form` or a `problem`."""
    problem = bonuses.why_not(assignment)
    form = BonusForm() if not problem and user.has_perms(MAY_GIVE) else None
    return {"given": bonuses.given(assignment), "problem": problem, "form": form}


@require_POST
@researcher(*MAY_GIVE)
def give_bonus(request: HttpRequest, pk: int, assignment_pk: int) -> HttpResponse:
    """Check the form, ask for a confirmation, and once confirmed write the bonus down; a task pays it."""
    related = Assignment.objects.select_related(
        "worker", "hit__hit_type", "hit__questionnaire__batch__survey"
    )
    assignment = get_object_or_404(
        related, pk=assignment_pk, hit__questionnaire__batch=batch_for(request, pk)
    )
    form = BonusForm(request.POST)
    if not form.is_valid():
        return _page(request, assignment, form, status=422)
    if "change" in request.POST or "confirmed" not in request.POST:
        cost = price(form.cleaned_data["amount"], max_assignments=1)
        if not _covers(assignment, cost, form):
            return _page(request, assignment, form, status=422)
        return _page(request, assignment, form, cost=cost, is_asked="change" not in request.POST)
    _give(request, assignment, form)
    return redirect("assignment", pk=pk, assignment_pk=assignment.pk)


def _covers(assignment: Assignment, cost: Decimal, form: BonusForm) -> bool:
    """Tell whether the budget has room for `cost` dollars as things stand; if not, the form says so."""
    try:
        budget.check_unlocked(assignment.hit.questionnaire.batch, cost)
    except OverBudget as error:
        form.add_error("amount", str(error))
        return False
    return True


def _give(request: HttpRequest, assignment: Assignment, form: BonusForm) -> None:
    try:
        call = bonuses.give(assignment, **form.cleaned_data, by=request.user)
    except (bonuses.CannotPay, OverBudget) as error:
        messages.error(request, str(error))
    else:
        enqueue(sync.settle_call, call.pk)
        messages.success(request, "The bonus is on its way. Below you see what becomes of it.")


def _page(
    request: HttpRequest, assignment: Assignment, form: BonusForm, *, status: int = 200, **values: Any
) -> HttpResponse:
    batch = assignment.hit.questionnaire.batch
    title = f"Bonus for {assignment.worker}"
    context = {"title": title, "batch": batch, "assignment": assignment, "form": form, **values}
    page = {**admin.site.each_context(request), **context}
    return render(request, "review/bonus_confirm.html", page, status=status)
