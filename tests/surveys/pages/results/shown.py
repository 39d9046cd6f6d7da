"""What a results page shows, once a worker has made it."""

from surveys.models import Batch
from surveys.pages.results import results as page
from surveys.pages.results.results import MetricResults, Results


def results(batch: Batch) -> Results | None:
    shown = page.results(batch)
    return shown and shown.value


def metric_results(batch: Batch) -> MetricResults | None:
    shown = page.metric_results(batch)
    return shown and shown.value
