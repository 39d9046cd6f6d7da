"""Automatic metrics over outputs, in chunks that can be lost, doubled or run late without harm.

What an output is measured against: its item's references, else what the protocol's reference system says of the item.
In a sequence each transformation is measured against its own reference line, and the output has their mean.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import fmean

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from metrics import METRICS, Metric, MetricError
from metrics.thesaurus import Thesaurus, open_thesaurus
from surveys.models import MetricScore, Output, Survey

PROFILE = "document"
CHUNK = 200


def score_next(survey: Survey, *, after: int = 0, size: int = CHUNK) -> int | None:
    """Score up to `size` outputs whose id is greater than `after`. Returns the last id, None after the last output.

    Only what has no score yet is scored, or has one of another text or another version.
    """
    measured = _measured(survey).select_related("item__survey")
    whole = measured.prefetch_related("item__outputs", "metric_scores")
    outputs = list(whole.filter(pk__gt=after).order_by("pk")[:size])
    stale = [score for output in outputs for score in _stale(output, survey.definition.is_sequence)]
    MetricScore.objects.bulk_create(
        stale,
        update_conflicts=True,
        unique_fields=["output", "metric"],
        update_fields=["value", "version", "fingerprint", "scored_at"],
    )
    return outputs[-1].pk if len(outputs) == size else None


def unscored() -> list[Survey]:
    """Return the surveys with references of which outputs have no score of today's version."""
    return [survey for survey in Survey.objects.all() if awaits_scores(survey)]


def awaits_scores(survey: Survey) -> bool:
    """Tell whether there are outputs with references that have no score of today's version yet."""
    if not survey.has_type:
        return False
    lacks = Q()
    for metric in metrics_in_use():
        score = {"output": OuterRef("pk"), "metric": metric.name, "version": version_of(metric)}
        lacks |= ~Q(Exists(MetricScore.objects.filter(**score)))
    return bool(lacks) and _measured(survey).filter(lacks).exists()


def references(output: Output) -> list[str]:
    """Return what `output` is measured against; empty where there is nothing, or it is itself the reference."""
    reference_system = output.item.survey.definition.reference_system
    if output.system == reference_system:
        return []
    said = [other.text for other in output.item.outputs.all() if other.system == reference_system]
    return list(output.item.references) or said


def metrics_in_use() -> list[Metric]:
    """Return the metrics of the settings, in their order."""
    return [METRICS[name] for name in settings.METRICS_IN_USE]


def version_of(metric: Metric) -> str:
    """Return what a score of this metric rests on beside the texts: its version, profile and thesaurus."""
    parts = [metric.version, PROFILE]
    if metric.takes_thesaurus:
        thesaurus = _thesaurus()
        parts.append(thesaurus.name if thesaurus else "none")
    return " ".join(parts)


def _measured(survey: Survey) -> QuerySet[Output]:
    """Return the outputs that have something to be measured against."""
    reference_system = survey.definition.reference_system
    outputs = Output.objects.filter(item__survey=survey).exclude(system=reference_system)
    if survey.definition.output_file_kind:  # what they say is in their files
        return outputs.none()
    has_some = ~Q(item__references=[])
    if reference_system:
        has_some |= Q(Exists(Output.objects.filter(item=OuterRef("item"), system=reference_system)))
    return outputs.filter(has_some)


def _stale(output: Output, is_sequence: bool) -> Iterator[MetricScore]:
    against = references(output)
    fingerprint = _fingerprint(output.text, against)
    known = {score.metric: (score.version, score.fingerprint) for score in output.metric_scores.all()}
    for metric in metrics_in_use():
        version = version_of(metric)
        if known.get(metric.name) != (version, fingerprint):
            yield MetricScore(
                output=output,
                metric=metric.name,
                value=_value(metric, output.text, against, is_sequence=is_sequence),
                version=version,
                fingerprint=fingerprint,
                scored_at=timezone.now(),
            )


def _value(metric: Metric, text: str, against: Sequence[str], *, is_sequence: bool) -> float | None:
    try:
        return fmean(
            metric.score(said, wanted, profile=PROFILE, thesaurus=_thesaurus())
            for said, wanted in _pairs(text, against, is_sequence=is_sequence)
        )
    except MetricError:
        return None


def _pairs(text: str, against: Sequence[str], *, is_sequence: bool) -> list[tuple[str, list[str]]]:
    """Return (text, its references); line by line for sequences of equal length."""
    if is_sequence:
        lines, others = text.split("\n"), [reference.split("\n") for reference in against]
        if all(len(other) == len(lines) for other in others):
            return [(line, [other[n] for other in others]) for n, line in enumerate(lines)]
    return [(text, list(against))]


def _fingerprint(text: str, against: Sequence[str]) -> str:
    return hashlib.sha256(json.dumps([text, *against]).encode()).hexdigest()


def _thesaurus() -> Thesaurus | None:
    return _opened(settings.METRICS_THESAURUS) if settings.METRICS_THESAURUS else None


@lru_cache(maxsize=1)
def _opened(path: str) -> Thesaurus:
    return open_thesaurus(Path(path))
