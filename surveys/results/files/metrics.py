"""Metric scores of a batch beside its ratings, output by output, and how far the two agree."""

from collections.abc import Container, Iterator
from typing import IO, Any

import pandas as pd

from surveys.models import Batch
from surveys.results.files.csv_text import write_csv
from surveys.results.frames.database import read_batch, read_scores
from surveys.results.statistics.correlation import STATISTICS, Correlation, Level
from surveys.results.statistics.metrics import summarise_metrics


def write_metrics(batch: Batch, stream: IO[str]) -> None:
    """Write one line per output: system, item, each metric, the mean rating on each scale, and the versions."""
    write_csv(metrics_table(batch), stream)


def write_correlations(batch: Batch, stream: IO[str], *, levels: Container[Level]) -> None:
    """Write one line per metric, criterion, level of those asked for and coefficient, with its 95 % interval."""
    summary = summarise_metrics(read_batch(batch), read_scores([batch]), levels=levels)
    lines = [line for one in summary.correlations for line in _metric_lines(one)]
    write_csv(pd.DataFrame(lines, columns=list(LINE)), stream)


def metrics_table(batch: Batch) -> pd.DataFrame:
    """Return one row per output that was scored or rated."""
    scores, kept = read_scores([batch]), read_batch(batch).tidy().query("included and system != ''")
    index = ["system", "item_id"]
    wide = scores.pivot_table(index=index, columns="metric", values="value", sort=False)
    means = kept.pivot_table(index=index, columns="criterion", values="score", sort=False)
    versions = scores.drop_duplicates("metric").set_index("metric")["version"]
    in_order = wide.index.append(means.index.difference(wide.index, sort=False))
    table = wide.reindex(in_order).join(means.add_prefix("mean_")).reset_index()
    return table.assign(versions="; ".join(f"{name} {version}" for name, version in versions.items()))


LINE = ("metric", "criterion", "level", "n", "coefficient", "value", "low", "high", "note")


def _metric_lines(found: Correlation) -> Iterator[dict[str, Any]]:
    names = {"metric": found.metric, "criterion": found.criterion, "level": found.level, "n": found.n}
    for name in STATISTICS:
        coefficient = getattr(found, name)
        numbers = (
            {"value": coefficient.value, "low": coefficient.low, "high": coefficient.high}
            if coefficient
            else {}
        )
        yield {**names, "coefficient": name, **numbers, "note": found.why_not}
