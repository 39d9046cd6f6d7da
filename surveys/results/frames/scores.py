"""The door for automatic metrics: one query, one line per output and metric."""

import pandas as pd

from surveys.models import Batch, MetricScore

COLUMNS = {
    "output__system": "system",
    "output__item__subject": "item_id",
    "metric": "metric",
    "value": "value",
    "version": "version",
}


def read_scores(batch: Batch) -> pd.DataFrame:
    """Return what metrics say about the outputs a batch shows: system, item_id, metric, value, version."""
    shown = MetricScore.objects.filter(output__item__slots__questionnaire__batch=batch)
    rows = shown.order_by("output", "metric").distinct().values_list(*COLUMNS)
    table = pd.DataFrame.from_records(list(rows), columns=list(COLUMNS.values()))
    return table.astype({"value": "float64"})
