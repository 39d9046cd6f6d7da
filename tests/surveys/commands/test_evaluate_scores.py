"""The command on VTT's files and on raw responses."""

import csv
import json
import random

import pytest
from django.core.management import CommandError, call_command

from surveys.protocols.registry import get_definition
from surveys.results.files.layouts import LAYOUTS
from surveys.results.files.report import make_report
from surveys.results.files.writing import write_files
from surveys.results.frames.csv_table import SourceError
from surveys.results.frames.database import read_batch
from surveys.results.frames.sources import read_results
from tests.surveys.results.rated import Rated, rated_batch
from tests.surveys.results.score_lines import line, write_lines

FILES = ["processed.csv", "summary.json", "table.csv", "tidy.csv"]
XAI_KEYS = ("fluency", "clarity", "convincing", "reflecting_decision_process", "overall_quality")
VTT_KEYS = ("fluency", "relevance", "logical_consistency")


def evaluate(*paths, out, **options):
    call_command("evaluate_results", *map(str, paths), out=out, **options)
    return json.loads((out / "summary.json").read_text())


def numbers(summary, key):
    return {name: found["criteria"][key] for name, found in summary["systems"].items()}


@pytest.fixture
def published(shared):
    return [shared / "data" / "vtt" / f"{name}.jsonl" for name in ("cst", "ttnet_base", "ttnet")]


def test_the_authors_table(published, tmp_path, capsys):
    summary = evaluate(*published, out=tmp_path, legacy=True)

    assert sorted(path.name for path in tmp_path.iterdir()) == FILES
    logic = numbers(summary, "logical_consistency")
    assert list(logic["cst"]) == ["mean", "sd", "n", "skipped", "p", "dagger"]
    assert {name: (round(x["mean"], 2), x["n"], x["skipped"], x["dagger"]) for name, x in logic.items()} == {
        "cst": (2.96, 392, 0, True),
        "ttnet_base": (3.95, 392, 0, True),
        "ttnet": (4.11, 392, 0, False),
    }
    assert round(logic["ttnet_base"]["p"], 4) == 0.0462
    assert (summary["comparison"]["method"], summary["comparison"]["against"]) == (
        "pooled_t_by_rating",
        "ttnet",
    )
    printed = capsys.readouterr().out
    assert "ttnet_base  4.79 (n 392)   4.04 (n 392)   3.95† (n 392)\n" in printed


def test_our_own_table(published, tmp_path):
    summary = evaluate(*published, out=tmp_path)

    comparison = summary["comparison"]
    assert (comparison["method"], comparison["correction"]) == ("two_way_cluster_t", "holm")
    pair = comparison["differences"]["ttnet_base"]["logical_consistency"]
    assert (round(pair["mean"], 4), pair["items"], round(pair["p_uncorrected"], 4)) == (-0.1607, 196, 0.0438)
    found = numbers(summary, "logical_consistency")["ttnet_base"]
    assert (round(found["p"], 4), found["dagger"]) == (0.1313, False)
    with (tmp_path / "table.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 9
    assert {row["criterion"] for row in rows} == set(VTT_KEYS)
    assert [row["n_5"] for row in rows if (row["system"], row["criterion"]) == ("ttnet", "fluency")] == [
        "327"
    ]


def test_other_systems_with_skips_and_another_to_compare_with(tmp_path):
    lines = [line(n, "new", (5, 4, 3)) for n in range(4)] + [line(9, "new", None), line(0, "old", (3, 4, 2))]
    path = write_lines(tmp_path / "scores.jsonl", lines)

    plain = evaluate(path, out=tmp_path / "a", against="old")
    legacy = evaluate(path, out=tmp_path / "b", against="old", legacy=True)

    assert plain["comparison"]["against"] == legacy["comparison"]["against"] == "old"
    assert numbers(plain, "fluency")["new"] == {
        "mean": 5.0, "sd": 0.0, "n": 4, "skipped": 1, "p": None, "dagger": False,
    }  # fmt: skip
    new = numbers(legacy, "fluency")["new"]
    assert (new["mean"], new["n"], new["skipped"]) == (3.8, 5, 1)
    assert plain["counts"]["skipped"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"against": "gpt"}, "There is no system 'gpt'; there is a."),
        ({"definition": "evil-vcr"}, "a line holds one output, and 'evil-vcr' shows several at once"),
    ],
)
def test_what_can_not_be_done_leaves_nothing_behind(tmp_path, options, message):
    path = write_lines(tmp_path / "scores.jsonl", [line(1, "a", (1, 2, 3))])

    with pytest.raises(CommandError) as caught:
        evaluate(path, out=tmp_path / "out", **options)
    assert str(caught.value) == message
    assert not (tmp_path / "out").exists()


def test_a_broken_line_is_named(tmp_path):
    path = write_lines(tmp_path / "scores.jsonl", [line(1, "a", (1, 2, 3)), line(2, "a", (1, 2, 7))])

    with pytest.raises(CommandError) as caught:
        evaluate(path, out=tmp_path / "out")
    assert str(caught.value) == f"{path}: line 2, key 'logical_soundness': 7 is not one of 5, 4, 3, 2, 1"


def xai_file(tmp_path):
    path = tmp_path / "xai.csv"
    rows = [f"{n},{system},{5 - n % 2},4,{3 + n % 2},2,1" for n in range(4) for system in ("a", "b")]
    path.write_text("\n".join([f"item_id,system,{','.join(XAI_KEYS)}", *rows]) + "\n")
    return path


def test_an_xai_file_from_elsewhere(tmp_path, capsys):
    summary = evaluate(xai_file(tmp_path), out=tmp_path / "out")

    assert (summary["definition"], summary["counts"]["items"], summary["counts"]["workers"]) == ("xai", 4, 0)
    assert summary["systems"]["a"]["criteria"]["fluency"]["mean"] == 4.5
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == FILES
    assert "\nfiltered:" not in capsys.readouterr().out


def test_nobody_published_xai_results(tmp_path):
    with pytest.raises(CommandError) as caught:
        evaluate(xai_file(tmp_path), out=tmp_path / "out", legacy=True)
    assert str(caught.value) == "Nobody published results of 'XAI: five criteria' to write them alike."


def test_several_csv_files_are_several_studies(tmp_path):
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for path in paths:
        path.write_bytes(xai_file(tmp_path).read_bytes())
    call_command("evaluate_results", *map(str, paths), out=tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "comparison.json", "differences.csv", "pairing.csv", "studies.csv",
    ]  # fmt: skip
    with pytest.raises(SourceError, match="several files make one study only where they are JSONL"):
        read_results(paths)


def random_study(definition, keys, *, with_skips):
    """A study of two systems, 12 subjects and 4 workers, with rejected assignments and strange texts."""
    draw = random.Random(3)
    rows = []
    for n in range(12):
        for system in ("one", "two"):
            for worker in draw.sample(["ann", "bob", "cyd", "dan"], 2):
                status = draw.choice(["Submitted", "Approved", "Approved", "Rejected"])
                is_skipped = with_skips and draw.random() < 0.2
                values = {} if is_skipped else {key: draw.choice("12345") for key in keys}
                reason = "image_missing" if is_skipped else ""
                channel = draw.choice(["marketplace", "link"])
                rows.append(Rated(f"=i,{n}\rx", system, worker, values, reason, status, channel))
    correct = {f"=i,{n}\rx/one": draw.choice([True, False, None]) for n in range(12)}
    return rated_batch(rows, definition=definition, model_correct=correct, uses_quiz=True)


def comparable(data):
    return {key: value for key, value in data.items() if key != "study"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("key", "keys", "layout"),
    [("xai", XAI_KEYS, "responses"), ("vtt", VTT_KEYS, "responses"), ("vtt", VTT_KEYS, "annotations")],
)
def test_raw_files_give_the_numbers_of_the_database(tmp_path, key, keys, layout):
    batch = random_study(get_definition(key), keys, with_skips=key == "vtt")
    raw = LAYOUTS[layout]
    write_files(tmp_path, writers={raw.filename: lambda stream: raw.write(batch, stream)})

    summary = evaluate(tmp_path / raw.filename, out=tmp_path / "out")

    frame = read_batch(batch)
    assert comparable(summary) == comparable(json.loads(json.dumps(make_report(frame).as_data())))
    assert summary["strata"]["true"]["systems"]["one"]["responses"] > 0
    write_files(tmp_path / "db", writers={"tidy.csv": lambda stream: LAYOUTS["tidy"].write(batch, stream)})
    tidy = {}
    for name, folder in (("file", tmp_path / "out"), ("database", tmp_path / "db")):
        with (folder / "tidy.csv").open(newline="") as file:
            tidy[name] = sorted(
                tuple(v for k, v in row.items() if k not in ("study", "batch"))
                for row in csv.DictReader(file)
            )
    assert tidy["file"] == tidy["database"]
