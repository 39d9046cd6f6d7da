import json

import pytest
from django.core.management import CommandError, call_command

from tests.surveys.results.raw_files import raw_file, row, task

FILES = ["processed.csv", "processed_filtered.csv", "summary.json", "tidy.csv"]


def evaluate(path, out, **options):
    call_command("evaluate_results", str(path), out=out, **options)
    return sorted(file.name for file in out.iterdir())


@pytest.fixture
def raw(tmp_path):
    path = tmp_path / "study_raw.csv"
    path.write_bytes(raw_file([row([task(1), task(2, answer="no")])]))
    return path


@pytest.mark.parametrize(
    ("name", "published"),
    [("vqax_results_raw", "vqax_results"), ("esnlive_unifiedresults_raw", "esnlive_unified_results")],
)
def test_published_files_from_the_command(shared, tmp_path, name, published):
    folder = shared / "data" / "ofax"

    assert evaluate(folder / f"{name}.csv", tmp_path, legacy=True) == FILES

    for ours, theirs in (("processed", "processed"), ("processed_filtered", "processed_filtered")):
        assert (tmp_path / f"{ours}.csv").read_bytes() == (folder / f"{published}_{theirs}.csv").read_bytes()


def test_the_default_layout_and_the_printed_table(raw, tmp_path, capsys):
    assert evaluate(raw, tmp_path / "out", system="ofa-x") == FILES

    header = (tmp_path / "out" / "processed.csv").read_text().splitlines()[0]
    assert header.startswith("assignment_id,img_id,answer_correct,explanation_ours,")
    printed = capsys.readouterr().out
    assert "1 assignments (1 kept, 0 rejected), 1 HITs, 2 items, 1 workers" in printed
    assert "answer right 50.0% (1)" in printed


def test_definition_and_key_can_be_given(raw, tmp_path):
    for key in ("one", "two"):
        evaluate(raw, tmp_path / key, definition="evil-vcr", pseudonym_key=key)

    summaries = [json.loads((tmp_path / key / "summary.json").read_text()) for key in ("one", "two")]
    assert {summary["definition"] for summary in summaries} == {"evil-vcr"}
    workers = [
        (tmp_path / key / "tidy.csv").read_text().splitlines()[1].split(",")[4] for key in ("one", "two")
    ]
    assert workers[0] != workers[1]
    assert "W1" not in workers


def test_the_accuracy_of_the_whole_test_set_is_the_task_score(raw, tmp_path, capsys):
    evaluate(raw, tmp_path / "without", system="ofa-x")
    evaluate(raw, tmp_path / "with", system="ofa-x", accuracy=[("ofa-x", 0.75)])

    scores = [
        json.loads((tmp_path / key / "summary.json").read_text())["selections"]["kept"]["systems"]["ofa-x"][
            "evil"
        ]
        for key in ("without", "with")
    ]
    assert [one["whole"] for one in scores] == [None, 0.75]
    assert scores[1]["s_o"] == 0.75 * scores[1]["s_e"]
    assert "S_T 0.7500 of the whole test set" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["model", "model=75", "=0.5", "model=1.2", "model=nan"])
def test_an_accuracy_that_is_no_share_is_refused(raw, tmp_path, text):
    with pytest.raises(CommandError, match="is not SYSTEM=SHARE"):
        call_command("evaluate_results", str(raw), f"--accuracy={text}", out=tmp_path)


def test_an_accuracy_of_nobody_is_refused(raw, tmp_path):
    with pytest.raises(CommandError, match="There is no model 'ground_truth'"):
        call_command("evaluate_results", str(raw), "--accuracy=ground_truth=0.5", out=tmp_path)


def test_a_broken_file_leaves_nothing_behind(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_bytes(raw_file([row([task(1)]), row([task(1)], assignment="A2", AssignmentStatus="Lost")]))

    with pytest.raises(CommandError) as caught:
        evaluate(path, tmp_path / "out")

    assert str(caught.value) == f"{path}: row 3, column 'AssignmentStatus': unknown status 'Lost'"
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(CommandError, match="No such file or directory"):
        evaluate(tmp_path / "nothing.csv", tmp_path / "out")


def test_a_destination_that_is_a_file(raw):
    with pytest.raises(CommandError, match="File exists"):
        evaluate(raw, raw)
