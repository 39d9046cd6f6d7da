"""All metrics by name."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from metrics.answers import math_em, text_f1
from metrics.composites import integral, s_image_captioning, s_image_generation, s_visual_qa
from metrics.edits import one_minus_ned
from metrics.meteor import captioning_meteor, captioning_parts
from metrics.registry import Metric
from metrics.visual_qa import visual_qa_meteor, visual_qa_parts
from metrics.votes import nzad, nzad_terms, vqa_accuracy

_TEXTS: Final = ("prediction", "references")


# Every command knows the metrics by name; numpy comes with the first score that needs it.
def _clip_score(*features: Any, **options: Any) -> float:
    from metrics.vectors import clip_score

    return clip_score(*features, **options)


def _fid(*features: Any, **options: Any) -> float:
    from metrics.vectors import fid

    return fid(*features, **options)


def _nzad_parts(predicted: Sequence[float], people: Sequence[float], **_options: Any) -> Mapping[str, Any]:
    return asdict(nzad_terms(predicted, people))


_ALL: Final = (
    Metric(
        name="text_f1",
        level="item",
        inputs=_TEXTS,
        range=(0.0, 1.0),
        direction="higher",
        version="1",
        measure=text_f1,
    ),
    Metric(
        name="math_em",
        level="item",
        inputs=_TEXTS,
        range=(0.0, 1.0),
        direction="higher",
        version="1",
        measure=math_em,
    ),
    Metric(
        name="captioning_meteor",
        level="item",
        inputs=_TEXTS,
        range=(0.0, 1.0),
        direction="higher",
        version="1",
        measure=captioning_meteor,
        explain=captioning_parts,
        takes_thesaurus=True,
    ),
    Metric(
        name="visual_qa_meteor",
        level="item",
        inputs=_TEXTS,
        range=(0.0, 1.0),
        direction="higher",
        version="1",
        measure=visual_qa_meteor,
        explain=visual_qa_parts,
        takes_thesaurus=True,
    ),
    Metric(
        name="one_minus_ned",
        level="item",
        inputs=_TEXTS,
        range=(0.0, 1.0),
        direction="higher",
        version="1",
        measure=one_minus_ned,
    ),
    Metric(
        name="vqa_accuracy",
        level="item",
        inputs=_TEXTS,
        range=(0.0, 1.0),
        direction="higher",
        version="1",
        measure=vqa_accuracy,
    ),
    Metric(
        name="nzad",
        level="item",
        inputs=("predicted votes", "people's votes"),
        range=(0.0, math.inf),
        direction="higher",
        version="1",
        measure=nzad,
        explain=_nzad_parts,
    ),
    Metric(
        name="clip_score",
        level="item",
        inputs=("text embeddings", "image embeddings"),
        range=(-1.0, 1.0),
        direction="higher",
        version="1",
        measure=_clip_score,
    ),
    Metric(
        name="fid",
        level="corpus",
        inputs=("generated features", "real features"),
        range=(0.0, math.inf),
        direction="lower",
        version="1",
        measure=_fid,
    ),
    Metric(
        name="s_image_generation",
        level="corpus",
        inputs=("clip_score", "fid"),
        range=(-0.5, 1.0),
        direction="higher",
        version="1",
        measure=s_image_generation,
    ),
    Metric(
        name="s_image_captioning",
        level="corpus",
        inputs=("captioning_meteor", "clip_score"),
        range=(-0.5, 1.0),
        direction="higher",
        version="1",
        measure=s_image_captioning,
    ),
    Metric(
        name="s_visual_qa",
        level="corpus",
        inputs=("visual_qa_meteor", "clip_score"),
        range=(-0.5, 1.0),
        direction="higher",
        version="1",
        measure=s_visual_qa,
    ),
    Metric(
        name="integral",
        level="corpus",
        inputs=("open sub-task scores", "hidden sub-task scores"),
        range=(-0.1, 1.0),
        direction="higher",
        version="1",
        measure=integral,
    ),
)

METRICS: Final[Mapping[str, Metric]] = {metric.name: metric for metric in _ALL}
