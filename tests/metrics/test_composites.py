"""Scores made of scores."""

from typing import Any

import pytest

from metrics import METRICS, MetricError
from metrics.composites import OPEN_TASKS, HiddenTasks, integral, prize_eligible, s_visual_qa

INPUTS = {"s_image_generation": ("clip", "fid"), "s_image_captioning": ("meteor", "clip")}
OPEN = dict.fromkeys(OPEN_TASKS, 0.5)


def test_every_vector(vectors: dict[str, Any]) -> None:
    for name in INPUTS:
        for case in vectors[name]["cases"]:
            got = METRICS[name].score(*(case[part] for part in INPUTS[name]))
            assert got == pytest.approx(case["expected"], abs=1e-12)


def test_visual_qa_both_ways(vectors: dict[str, Any]) -> None:
    for case in vectors["s_visual_qa"]["cases"]:
        meteor, clip = case["meteor"], case["clip"]
        assert s_visual_qa(meteor, clip) == case["reference_code_and_corrected_document"]
        with_clip = s_visual_qa(meteor, clip, formula="meteor_and_clip")
        assert with_clip == pytest.approx(case["seed_document"], abs=1e-12)


def test_the_integral_and_the_prize(vectors: dict[str, Any]) -> None:
    for case in vectors["integral_score"]["cases"]:
        assert integral(case["open"], case["hidden"]) == pytest.approx(case["expected"], abs=1e-12)
        assert prize_eligible(case["open"]) == case["prize_eligible"]


def test_hidden_scores_go_by_name_too() -> None:
    assert integral(OPEN, {"Hidden6": 1.0}) == pytest.approx(0.3)
    assert integral(OPEN, {"Chess": 1.0}, hidden_tasks=["Chess"]) == pytest.approx(0.3)
    assert integral(OPEN) == pytest.approx(0.2)


def test_hidden_tasks_are_plugged_in_by_name() -> None:
    tasks = HiddenTasks()
    tasks.register("Hidden1", METRICS["text_f1"].score)
    assert tasks.names == ("Hidden1",)
    assert tasks.score("Hidden1", "кот", ["кот"]) == 1.0
    with pytest.raises(MetricError, match="Hidden2 has no metric"):
        tasks.score("Hidden2")
    with pytest.raises(MetricError, match="Hidden1 has a metric already"):
        tasks.register("Hidden1", max)


def refused(name: str, *inputs: Any, **options: Any) -> str:
    with pytest.raises(MetricError) as caught:
        METRICS[name].score(*inputs, **options)
    return str(caught.value)


def test_impossible_scores_are_named() -> None:
    assert refused("s_image_generation", 0.3, -1) == "fid is -1, not a number from 0"
    assert refused("s_image_generation", 2, 1) == "clip is 2, not a number from -1 to 1"
    assert refused("s_image_captioning", float("nan"), 0) == "meteor is nan, not a number from 0 to 1"
    assert refused("s_visual_qa", 0.5, formula="meteor_and_clip") == "meteor_and_clip needs a CLIP score"
    assert (
        refused("s_visual_qa", 0.5, formula="x")
        == "formula 'x' is unknown; known are meteor, meteor_and_clip"
    )
    assert refused("integral", {}) == "no score for " + ", ".join(OPEN_TASKS)
    assert refused("integral", OPEN | {"Chess": 1.0}) == "unknown sub-task Chess"
    assert refused("integral", OPEN, {"Chess": 1.0}) == "unknown sub-task Chess"
    assert refused("integral", OPEN, [1.0] * 7) == "there are 7 hidden scores for 6 hidden sub-tasks"
    assert refused("integral", OPEN, [1.5]) == "Hidden1 is 1.5, not a number from 0 to 1"
