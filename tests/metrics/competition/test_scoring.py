"""Submissions from files to sub-tasks and the integral score."""

import json
from pathlib import Path
from typing import Any

import pytest

from metrics import METRICS, PROFILES, MetricError
from metrics.competition import as_json, as_text, spread
from tests.metrics.competition.files import score, scores, text

TRUTH = {
    "0": text(["a", "на велосипеде", "a на велосипеде"]),
    "1": text(["d", "-3", "d -3"]),
    "2": [{"type": "image", "content": "gt/2.jpg"}],
    "3": text(["две утки плывут по реке", "утки плывут"]),
    "4": text(["5"]),
    "5": text(["хор"]),
}
PREDICTIONS = {
    "5": text("хорь"),
    "4": [{"type": "image", "content": "i.jpg"}, *text("четыре"), *text("5")],
    "3": text("Две утки, плывут по реке!"),
    "2": [{"type": "image", "content": "images/2.jpg"}],
    "1": text("d) -3"),
    "0": text("a) на велосипеде"),
}
IDS = {"0": 0, "1": "1", "2": "ImageGeneration", "3": "captioning", "4": 4, "5": "TRitW"}
MEANS = {
    "TextQA": {"text_f1": 1.0},
    "MathQA": {"math_em": 1.0},
    "ImageGeneration": {},
    "ImageCaptioning": {"captioning_meteor": 1.0},
    "VisualQA": {"visual_qa_meteor": 0.8},
    "TRitW": {"one_minus_ned": 0.75},
}


def test_ids_are_joined_in_any_order_and_the_first_text_counts(tmp_path: Path) -> None:
    found = score(tmp_path, TRUTH, PREDICTIONS, ids=IDS)
    assert scores(found) == MEANS
    assert [task.n for task in found.tasks] == [1] * 6
    assert {task.task: task.score for task in found.tasks} == {
        "TextQA": 1.0,
        "MathQA": 1.0,
        "ImageGeneration": None,
        "ImageCaptioning": None,
        "VisualQA": 0.8,
        "TRitW": 0.75,
    }
    assert (found.integral, found.lacks) == (None, ("ImageGeneration", "ImageCaptioning"))


def test_files_divided_by_sub_task(tmp_path: Path) -> None:
    truth = {"TextQA": {"0": text(["кот"]), "1": text(["пёс"])}, "vqa": [text(["3"])]}
    predictions = {"VisualQA": [text("три")], "textqa": {"1": text("пес"), "0": text("собака")}}
    found = score(tmp_path, truth, predictions)
    assert scores(found) == {"TextQA": {"text_f1": 0.5}, "VisualQA": {"visual_qa_meteor": 1.0}}
    assert [task.n for task in found.tasks] == [2, 1]


def test_lists_are_joined_by_position_and_one_element_needs_no_list(tmp_path: Path) -> None:
    truth = [{"type": "text", "content": ["сад"]}, text(["сад"])]
    found = score(tmp_path, truth, {"1": text("сод"), "0": text("сад")}, task="TRitW")
    assert scores(found) == {"TRitW": {"one_minus_ned": pytest.approx(5 / 6)}}


def test_without_sub_tasks_every_text_metric_is_over_all_texts(tmp_path: Path) -> None:
    found = score(tmp_path, {"a": text(["кот"]), "b": text(["кот"])}, {"a": text("кот"), "b": text("пёс")})
    assert scores(found) == {
        "all": dict.fromkeys(
            ["text_f1", "math_em", "captioning_meteor", "visual_qa_meteor", "one_minus_ned"], 0.5
        )
    }
    assert found.integral is None
    assert "each text metric is over all of them" in as_text(found)


def test_the_integral_of_computed_and_given_scores(tmp_path: Path) -> None:
    known = {
        "ImageGeneration": {"clip_score": 0.3, "fid": 60.0},
        "ImageCaptioning": {"clip_score": 0.2},
        "Hidden2": {"score": 0.5},
    }
    found = score(tmp_path, TRUTH, PREDICTIONS, ids=IDS, known=known)
    assert found.integral == pytest.approx((1 + 1 + 0.5 + 0.6 + 0.8 + 0.75) / 15 + 0.5 / 10)
    assert found.prize_eligible is True
    assert "  integral                                  0.3600" in as_text(found)


def test_clip_joins_visual_qa_where_asked(tmp_path: Path) -> None:
    options = {"ids": IDS, "known": {"VisualQA": {"clip_score": 0.4}}, "formula": "meteor_and_clip"}
    found = score(tmp_path, TRUTH, PREDICTIONS, **options)
    assert next(task.score for task in found.tasks if task.task == "VisualQA") == pytest.approx(0.6)


def test_a_hidden_sub_task_by_name(tmp_path: Path) -> None:
    truth, predictions = {"Hidden1": {"0": text(["кот"])}}, {"Hidden1": {"0": text("Кот")}}
    found = score(tmp_path, truth, predictions, hidden={"Hidden1": "text_f1"})
    assert [(task.task, task.score) for task in found.tasks] == [("Hidden1", 1.0)]


def test_no_answer_counts_0_and_never_another_one(tmp_path: Path) -> None:
    predictions = {"0": text("кот"), "1": [], "2": [{"type": "image", "content": "2.jpg"}]}
    found = score(tmp_path, {key: text(["кот"]) for key in "012"}, predictions, task="TextQA")
    assert scores(found) == {"TextQA": {"text_f1": 1 / 3}}
    assert found.tasks[0].unanswered == 2


def test_a_mismatch_is_counted_where_it_is_allowed(tmp_path: Path) -> None:
    truth, predictions = {"0": text(["кот"]), "1": text(["кот"])}, {"1": text("кот"), "x": text("кот")}
    found = score(tmp_path, truth, predictions, task="TextQA", allow_mismatch=True)
    assert scores(found) == {"TextQA": {"text_f1": 0.5}}
    assert (found.tasks[0].missing, found.tasks[0].unanswered, found.extra) == (1, 1, 1)
    assert "1 predictions without a ground truth were left out." in as_text(found)


@pytest.mark.parametrize("profile", PROFILES)
def test_processes_find_what_one_finds(tmp_path: Path, profile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "CHUNK", 300)
    truth = {str(n): text([f"кот {n % 7}", "две утки"]) for n in range(4500)}
    predictions = {str(n): text(f"коты {n % 5}") for n in range(4500)}
    alone, together = (
        score(tmp_path, truth, predictions, task="TextQA", profile=profile, jobs=jobs) for jobs in (1, 2)
    )
    assert alone == together
    one = [
        METRICS["text_f1"].score(f"коты {n % 5}", [f"кот {n % 7}", "две утки"], profile=profile)
        for n in range(35)
    ]
    assert scores(alone)["TextQA"]["text_f1"] == pytest.approx(
        (sum(one) * 128 + sum(one[:20])) / 4500, rel=1e-12
    )


def test_json_holds_all_there_is(tmp_path: Path) -> None:
    found = json.loads(json.dumps(as_json(score(tmp_path, TRUTH, PREDICTIONS, ids=IDS))))
    assert found["tasks"]["VisualQA"] == {
        "n": 1,
        "unanswered": 0,
        "missing": 0,
        "metrics": [
            {
                "name": "visual_qa_meteor",
                "value": 0.8,
                "version": METRICS["visual_qa_meteor"].version,
                "source": "computed",
            }
        ],
        "score": 0.8,
        "lacks": [],
    }
    assert (found["profile"], found["thesaurus"], found["integral"]) == ("document", "none", None)


def test_the_vectors_as_one_submission(vectors: dict[str, Any], tmp_path: Path) -> None:
    cases = vectors["text_qa_f1"]["cases"]
    found = score(
        tmp_path,
        {case["id"]: text(case["references"]) for case in cases},
        {case["id"]: case["prediction"] for case in cases},
        task="TextQA",
    )
    mean = sum(case["document_output"] for case in cases) / len(cases)
    assert found.tasks[0].score == pytest.approx(mean, abs=1e-9)


ONE = {"17": text(["кот"])}


@pytest.mark.parametrize(
    ("truth", "predictions", "message"),
    [
        (ONE, b"", "predictions.json is empty"),
        (ONE, b"  \n", "predictions.json is empty"),
        (b"", ONE, 'predictions.json["17"][0].content is a list, not text'),
        (ONE, b"3", "predictions.json is neither an object nor a list"),
        (
            ONE,
            b'{"17": [], "18": [{"type": }]}',
            'predictions.json, byte 27, in or after ["18"]: not valid JSON',
        ),
        (ONE, b"[[], [], [{]]", "predictions.json, byte 11, in or after [2]: not valid JSON"),
        (
            ONE,
            b'{"17": [{"type": "text"',
            'predictions.json, byte 23, in or after ["17"]: the file ends too early',
        ),
        (ONE, b'{"17": [{"type": "te\xff', 'predictions.json, byte 20, in or after ["17"]: not UTF-8'),
        (ONE, "{}".encode("utf-16"), "predictions.json, byte 0: not valid JSON"),
        (ONE, {"17": text(5)}, 'predictions.json["17"][0].content is a number, not text'),
        (ONE, {"17": text(None)}, 'predictions.json["17"][0].content is null, not text'),
        (ONE, {"17": "кот"}, 'predictions.json["17"] is text, not a list of elements'),
        (ONE, {"17": ["кот"]}, 'predictions.json["17"][0] is text, not an object with type and content'),
        (ONE, {"17": [{"content": "кот"}]}, 'predictions.json["17"][0] has no type'),
        (ONE, {"17": [{"type": "text"}]}, 'predictions.json["17"][0] has no content'),
        (ONE, {"17": [{"type": 1, "content": ""}]}, 'predictions.json["17"][0].type is a number, not text'),
        (ONE, b'{"17": [], "17": []}', 'predictions.json["17"] stands twice'),
        (ONE, {"17": [], "18": []}, 'ground_truth.json has no "18", predictions.json has (1 such ids)'),
        (ONE, {}, 'predictions.json has no ["17"], ground_truth.json has'),
        (
            b'{"17": [{"type": "text", "content": ["a"]}], "17": [{"type": "text", "content": ["a"]}]}',
            {"17": []},
            'ground_truth.json["17"] stands twice',
        ),
        ({"17": text("кот")}, {"17": []}, 'ground_truth.json["17"][0].content is text, not a list of texts'),
        (
            {"17": text([])},
            {"17": []},
            'ground_truth.json["17"][0].content is empty: there is no accepted answer',
        ),
        ({"17": text(["a", 5])}, {"17": []}, 'ground_truth.json["17"][0].content[1] is a number, not text'),
        ({"17": []}, {"17": []}, 'ground_truth.json["17"] has no element of type text or image'),
        ({}, {}, "ground_truth.json holds no ground truth"),
        (
            {"TextQA": ONE, "Other": ONE},
            {"TextQA": {"17": []}},
            'ground_truth.json: "Other" is no sub-task, and others are',
        ),
        (
            {"TextQA": ONE, "VisualQA": 5},
            {"TextQA": {"17": []}},
            'ground_truth.json["VisualQA"] is neither an object nor a list',
        ),
        (
            {"TextQA": [text([True])]},
            {"TextQA": [text("a")]},
            'ground_truth.json["TextQA"][0][0].content[0] is true or false, not text',
        ),
    ],
)
def test_faults_are_named(tmp_path: Path, truth: Any, predictions: Any, message: str) -> None:
    with pytest.raises(MetricError) as caught:
        score(tmp_path, truth, predictions)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ({}, 'ids.json has no sub-task for ground_truth.json["17"]'),
        (
            {"17": 6},
            'ids.json["17"] is 6, no sub-task; they are TextQA, MathQA, ImageGeneration, ImageCaptioning, VisualQA, '
            "TRitW or 0 to 5",
        ),
        ({"17": 2}, 'ground_truth.json["17"] is text, and its sub-task is ImageGeneration'),
        (b'{"17": 0, "17": 1}', 'ids.json["17"] stands twice'),
    ],
)
def test_faults_of_sub_tasks_are_named(tmp_path: Path, ids: Any, message: str) -> None:
    with pytest.raises(MetricError) as caught:
        score(tmp_path, ONE, {"17": []}, ids=ids)
    assert str(caught.value) == message
