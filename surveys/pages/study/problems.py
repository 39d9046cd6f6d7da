"""What people report about a study's items: listed with its item, and seen to."""

from dataclasses import dataclass

from django.contrib import messages
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from surveys.models import Item, ProblemReport, Survey
from surveys.pages.access import researcher, study_for
from surveys.teams import Person

SEES, SETTLES = "annotators.view_assignment", "annotators.change_assignment"
SHOWN = 50  # open ones; as some are seen to, others follow


@dataclass(frozen=True, slots=True)
class Reported:
    """An item with the open reports about it."""

    item: Item
    reports: list[ProblemReport]


def open_reports(survey: Survey, *, reader: Person) -> list[Reported]:
    """Return the items with open reports, the most reported first; nothing to readers who may not see work."""
    if not reader.has_perm(SEES):
        return []
    items = survey.items.filter(problem_reports__settled_at=None, problem_reports__isnull=False)
    most = items.annotate(n_reports=Count("problem_reports")).order_by("-n_reports", "position")[:SHOWN]
    found: dict[int, list[ProblemReport]] = {item.pk: [] for item in most}
    rows = ProblemReport.objects.filter(item__in=found, settled_at=None).select_related(
        "assignment__hit__questionnaire"
    )
    for report in rows:
        found[report.item_id].append(report)
    return [Reported(item, found[item.pk]) for item in most]


def n_open(survey: Survey) -> int:
    """Return how many reports nobody has seen to."""
    return ProblemReport.objects.filter(item__survey=survey, settled_at=None).count()


@require_POST
@researcher("surveys.view_batch", SEES, SETTLES)
def settle_problem(request: HttpRequest, slug: str, item_pk: int) -> HttpResponse:
    """See to what was reported about an item up to the last report that was shown; safe to repeat."""
    item = get_object_or_404(study_for(request, slug).items, pk=item_pk)
    last = request.POST.get("last", "")
    shown = item.problem_reports.filter(pk__lte=int(last) if last.isdecimal() and len(last) < 19 else 0)
    n = shown.filter(settled_at=None).update(settled_at=timezone.now(), settled_by=request.user)
    if n:
        messages.success(
            request, f"Seen to: {n} {'report' if n == 1 else 'reports'} about {item.external_id}."
        )
    return redirect(f"{reverse('study_items', args=[slug])}#problems")
