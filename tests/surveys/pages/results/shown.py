"""What a results page shows, once a worker has made it."""

from surveys.models import Batch, KeptReport
from surveys.pages.results import results as page
from surveys.pages.results.results import MetricResults, Results
from surveys.results import reports
from surveys.results.chosen import Chosen


def results(batch: Batch, chosen: Chosen = page.EVERYTHING) -> Results | None:
    page.results(batch, chosen)
    _made()
    shown = page.results(batch, chosen)
    return shown and shown.value


def metric_results(batch: Batch) -> MetricResults | None:
    page.metric_results(batch)
    _made()
    shown = page.metric_results(batch)
    return shown and shown.value


def _made() -> None:
    for row in KeptReport.objects.exclude(asked_version=""):
        reports.make(row.pk)
