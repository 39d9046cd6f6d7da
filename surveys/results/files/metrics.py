"""Automatic metrics: a file with every output's scores beside its mean ratings, and one with the correlations."""

from collections.abc import Iterator
from typing import IO, Any

import pandas as pd

from surveys.models import Batch
from surveys.results.files.cells import neutralised
from surveys.results.files.csv_text import write_csv
from surveys.results.frames.database import read_batch
from surveys.results.frames.scores import read_scores
from surveys.results.statistics.correlation import STATISTICS, Correlation
from surveys.results.statistics.metrics import summarise_metrics


def write_metrics(batch: Batch, stream: IO[str]) -> None:
    """Write one line per output: system, item, each metric, the mean rating on each scale, and the versions."""
    write_csv(neutralised(metrics_table(batch)), stream)


def write_correlations(batch: Batch, stream: IO[str]) -> None:
    """Write one line per metric, criterion, level and coefficient, with its 95 % interval."""
    summary = summarise_metrics(read_batch(batch), read_scores(batch))
    lines = [line for correlation in summary.correlations for line in _lines(correlation)]
    write_csv(pd.DataFrame(lines, columns=list(LINE)), stream)


def metrics_table(batch: Batch) -> pd.DataFrame:
    """Return one row per output that was scored or rated."""
    scores, kept = read_scores(batch), read_batch(batch).tidy().query("included and system != ''")
    index = ["system", "item_id"]
    wide = scores.pivot_table(index=index, columns="metric", values="value", sort=False)
    means = kept.pivot_table(index=index, columns="criterion", values="score", sort=False)
    versions = scores.drop_duplicates("metric").set_index("metric")["version"]
    in_order = wide.index.append(means.index.difference(wide.index, sort=False))
    table = wide.reindex(in_order).join(means.add_prefix("mean_")).reset_index()
    return table.assign(versions="; ".join(f"{name} {version}" for name, version in versions.items()))


LINE = ("metric", "criterion", "level", "n", "coefficient", "value", "low", "high", "note")


def _lines(found: Correlation) -> Iterator[dict[str, Any]]:
    names = {"metric": found.metric, "criterion": found.criterion, "level": found.level, "n": found.n}
    for name in STATISTICS:
        coefficient = getattr(found, name)
        numbers = (
            {"value": coefficient.value, "low": coefficient.low, "high": coefficient.high}
            if coefficient
            else {}
        )
        yield {**names, "coefficient": name, **numbers, "note": found.why_not}
