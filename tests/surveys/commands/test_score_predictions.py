"""The command that scores a submission, as it is called."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

ROOT = Path(__file__).resolve().parents[3]
TRUTH = {"0": [{"type": "text", "content": ["кот"]}], "1": [{"type": "text", "content": ["машина"]}]}
PREDICTIONS = {"0": [{"type": "text", "content": "Кот"}], "1": [{"type": "text", "content": "автомобиль"}]}


@pytest.fixture
def files(tmp_path):
    for name, content in (("ground_truth", TRUTH), ("predictions", PREDICTIONS)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return [str(tmp_path / "ground_truth.json"), str(tmp_path / "predictions.json")]


def run(*arguments):
    return subprocess.run(
        [sys.executable, "manage.py", "score_predictions", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def test_tables_go_out_and_progress_beside_them(files):
    done = run(*files, "--task", "TextQA")

    assert done.returncode == 0
    assert done.stdout.splitlines()[:5] == [
        "profile document, thesaurus none",
        "",
        "TextQA: 2 ids",
        "  text_f1                 0.5000   version 1",
        "  score                   0.5000   reaches the prize threshold of 0.2",
    ]
    assert done.stderr.splitlines() == [
        "predictions  [..............................]   0%",
        "predictions  [##############################] 100%",
        "scores       [..............................]   0%",
        "scores       [##############################] 100%",
    ]


def test_json_alone_goes_out(files, tmp_path, capsys):
    (tmp_path / "ids.json").write_text('{"0": 4, "1": 4}')
    (tmp_path / "scores.json").write_text('{"VisualQA": {"clip_score": 0.5}, "Hidden1": 0.25}')

    call_command(
        "score_predictions", *files, json=True, scores=tmp_path / "scores.json", visual_qa="meteor_and_clip"
    )

    found = json.loads(capsys.readouterr().out)
    assert found["tasks"]["VisualQA"]["score"] == 0.5
    assert found["tasks"]["Hidden1"]["score"] == 0.25
    assert found["integral"] is None


def test_a_thesaurus_and_a_profile(files, tmp_path, capsys):
    thesaurus = tmp_path / "th.dat"
    thesaurus.write_text("UTF-8\nмашина|1\n(сущ.)|автомобиль\n", encoding="utf-8")

    call_command(
        "score_predictions", *files, task="VisualQA", thesaurus=thesaurus, profile="reference", json=True
    )

    found = json.loads(capsys.readouterr().out)
    assert (found["profile"], found["thesaurus"]) == ("reference", "th.dat")
    assert found["tasks"]["VisualQA"]["score"] == 1.0


def test_a_fault_ends_with_status_1_and_its_place(files):
    Path(files[1]).write_text('{"0": [{"type": "text", "content": 5}]}')

    done = run(*files)

    assert (done.returncode, done.stdout) == (1, "")
    assert (
        done.stderr.splitlines()[-1] == 'CommandError: predictions.json["0"][0].content is a number, not text'
    )


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ("[]", "scores.json is no JSON object in UTF-8"),
        ('{"TextQA', "scores.json is no JSON object in UTF-8"),
        ('{"Other": 1}', 'scores.json: "Other" is no sub-task'),
        ('{"Hidden1": "1"}', 'scores.json: ["Hidden1"]["score"] is no number'),
        ('{"VisualQA": 1}', 'scores.json: ["VisualQA"] is not an object of clip_score and fid'),
        (
            '{"VisualQA": {"clip": 1}}',
            'scores.json: ["VisualQA"]["clip"] is no score to be given; there are clip_score, fid and a hidden score',
        ),
    ],
)
def test_faults_of_given_scores_are_named(files, tmp_path, scores, message):
    (tmp_path / "scores.json").write_text(scores)

    with pytest.raises(CommandError) as caught:
        call_command("score_predictions", *files, scores=tmp_path / "scores.json")

    assert str(caught.value) == message


@pytest.mark.parametrize("given", ["Hidden1", "Hidden1=fid", "Hidden7=text_f1"])
def test_a_hidden_sub_task_needs_a_text_metric(files, given):
    with pytest.raises(
        CommandError, match=f"--hidden {given}: a hidden sub-task and a text metric are meant"
    ):
        call_command("score_predictions", *files, hidden=[given])


@pytest.mark.parametrize("missing", [0, 1])
def test_a_missing_file_is_named(files, missing):
    Path(files[missing]).unlink()

    with pytest.raises(CommandError) as caught:
        call_command("score_predictions", *files)

    assert str(caught.value) == f"{files[missing]}: No such file or directory"
