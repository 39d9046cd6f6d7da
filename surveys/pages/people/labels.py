"""What researchers call somebody: shown to the team of a study that may see invitations, and changed by them."""

from collections.abc import Iterable

from django import forms
from django.contrib import messages
from django.db.models import OuterRef, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotators.models import Worker
from surveys.models import Batch, Invitation, PersonLabel, Survey
from surveys.pages.access import batch_for, researcher
from surveys.teams import Person

SEES_LABELS = "surveys.view_invitation"


class LabelForm(forms.Form):
    """A label; empty, there is none any more."""

    text = forms.CharField(max_length=100, required=False)


def label(about: Batch | Survey, *, worker: str) -> Coalesce:
    """Return what somebody is called in a study, or a batch's, in a query over what has a worker's key at `worker`.

    That is the label of the study, else the name they were invited by.
    """
    of_batch = isinstance(about, Batch)
    survey = about.survey_id if isinstance(about, Batch) else about.pk
    given = PersonLabel.objects.filter(survey=survey, worker=OuterRef(worker)).values("text")
    names = Invitation.objects.filter(worker=OuterRef(worker)).order_by("pk")
    invited = names.filter(**{"batch" if of_batch else "batch__survey": about}).values("name")
    return Coalesce(Subquery(given[:1]), Subquery(invited[:1]), Value(""))


def labels_of(workers: Iterable[int], *, batch: Batch | Survey, reader: Person) -> dict[int, str]:
    """Return {worker: label} of those who have one; nothing to readers who may not see any."""
    if not reader.has_perm(SEES_LABELS):
        return {}
    named = Worker.objects.filter(pk__in=workers).annotate(called_so=label(batch, worker="pk"))
    return dict(named.exclude(called_so="").values_list("pk", "called_so"))


@require_POST
@researcher("surveys.view_batch", "annotators.view_assignment", "annotators.view_worker", SEES_LABELS,
            "surveys.change_invitation")  # fmt: skip
def label_person(request: HttpRequest, pk: int, worker_pk: int) -> HttpResponse:
    """Keep what somebody who worked on a batch, or was invited to it, is called in its study."""
    batch = batch_for(request, pk)
    known = Worker.objects.filter(assignments__hit__questionnaire__batch=batch) | Worker.objects.filter(
        invitations__batch=batch
    )
    worker = get_object_or_404(known.distinct(), pk=worker_pk)
    form = LabelForm(request.POST)
    if not form.is_valid():
        messages.error(request, "A label has 100 letters at most.")
    elif text := form.cleaned_data["text"]:
        PersonLabel.objects.update_or_create(survey=batch.survey, worker=worker, defaults={"text": text})
    else:
        PersonLabel.objects.filter(survey=batch.survey, worker=worker).delete()
    return redirect(f"{reverse('worker', args=[worker.pk])}#batch-{batch.pk}")
