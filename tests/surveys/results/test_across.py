"""Several studies in one report: what they share, paired there, loud where nothing is shared."""

import csv
import json
import math
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from surveys.protocols.definition import Definition
from surveys.results.frames.mturk_csv import frame_from_csv, read_mturk_csv
from surveys.results.frames.pseudonyms import Pseudonyms
from surveys.results.statistics import across
from surveys.results.statistics.across import Across, Contrast, Study, compare_studies
from tests.protocols import VCR, VQAX
from tests.surveys.results.rated import Rated, rated_batch
from tests.surveys.results.raw_files import raw_file, row, task

SCORES = {"yes": 1.0, "weak_yes": 2 / 3, "weak_no": 1 / 3, "no": 0.0}


def study(
    name: str, ratings: dict[str, list[str]], *, system: str = "model", definition: Definition = VQAX
) -> Study:
    """Return an e-ViL study of HITs of one item: {item: ratings of the model}, by workers W0, W1, .."""
    rows = [
        row([task(1, image_id=item, ours=value)], assignment=f"{name}{item}{n}", hit=item, worker=f"W{n}")
        for item, values in ratings.items()
        for n, value in enumerate(values)
    ]
    key = Pseudonyms("key")
    return Study(
        name, frame_from_csv(raw_file(rows), study=name, system=system, definition=definition, pseudonyms=key)
    )


ONE = {"a": ["yes", "yes"], "b": ["no", "yes"], "c": ["weak_yes", "no"]}
TWO = {"b": ["no", "no"], "c": ["no", "weak_no"], "d": ["yes", "yes"]}


def only(contrasts: tuple[Contrast, ...], *, criterion: str, role: str = "model") -> Contrast:
    """Return the one contrast of a role on a criterion."""
    (found,) = [c for c in contrasts if c.difference.criterion == criterion and c.pairing.ours.role == role]
    return found


def test_systems_are_paired_on_the_items_both_studies_have() -> None:
    found = compare_studies([study("one", ONE, system="single"), study("two", TWO, system="unified")])
    models, references = found.pairings
    assert (str(models), models.shared, models.workers) == ("unified in two - single in one", 2, 2)
    assert (models.ours.items, models.theirs.items) == (3, 3)
    assert str(references) == "ground_truth in two - ground_truth in one"
    contrast = only(found.contrasts, criterion="justifies")
    ours, theirs = ([SCORES[value] for item in "bc" for value in ratings[item]] for ratings in (TWO, ONE))
    assert contrast.means == (math.fsum(sorted(ours)) / 4, math.fsum(sorted(theirs)) / 4)
    assert contrast.ratings == (4, 4)
    assert (contrast.difference.items, contrast.difference.mean) == (2, pytest.approx(-1 / 3))
    assert found.strangers == ()


def test_rows_answered_wrongly_are_compared_without_them() -> None:
    rows = [
        row([task(1, image_id=item, answer=answer)], assignment=f"{item}{n}", hit=item, worker=f"W{n}")
        for item in "ab"
        for n, answer in enumerate(("yes", "no"))
    ]
    other = Study("other", frame_from_csv(raw_file(rows), study="other", pseudonyms=Pseudonyms("key")))
    found = compare_studies([study("one", ONE), other])
    assert only(found.contrasts, criterion="justifies").ratings == (4, 4)
    assert only(found.filtered, criterion="justifies").ratings == (2, 4)


def test_the_same_ids_in_two_data_sets_are_not_the_same_items() -> None:
    found = compare_studies([study("one", ONE), study("two", ONE, definition=VCR)])
    assert (found.pairings, found.contrasts) == ((), ())
    assert found.datasets == ("evil-vqax", "evil-vcr")


def test_studies_without_a_shared_item_are_loudly_not_compared_but_as_two_samples() -> None:
    far = {f"other-{item}": ratings for item, ratings in ONE.items()}
    found = compare_studies([study("one", ONE), study("two", far)])
    pairing = found.strangers[0]
    assert pairing.strangers is not None
    assert pairing.strangers.reason == (
        "Not comparable item by item: model in two has 3 items, model in one 3, and they share none. 1 texts are equal "
        "under other names: it is likely that their items are named by other ids. Give both the same ids to compare "
        "them."
    )
    contrast = only(found.contrasts, criterion="justifies")
    assert (contrast.means, contrast.difference.interval) == ((None, None), None)
    assert contrast.difference.unpaired is not None


def test_the_command_writes_one_report_of_several_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, ratings in (("one", ONE), ("two", TWO)):
        rows = [
            row([task(1, image_id=item, ours=v)], assignment=f"{item}{n}", hit=item, worker=f"W{n}")
            for item, values in ratings.items()
            for n, v in enumerate(values)
        ]
        (tmp_path / f"{name}.csv").write_bytes(raw_file(rows))
    files = [str(tmp_path / "one.csv"), str(tmp_path / "two.csv")]
    call_command("evaluate_results", *files, out=tmp_path / "out", system="single,unified")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "comparison.json", "differences.csv", "pairing.csv", "studies.csv",
    ]  # fmt: skip
    with (tmp_path / "out/differences.csv").open(newline="") as stream:
        line = next(csv.DictReader(stream))
    assert (line["study"], line["system"], line["against_study"], line["against_system"]) == (
        "two", "unified", "one", "single",
    )  # fmt: skip
    assert (line["rows"], line["criterion"], line["shared_items"]) == ("kept", "justifies", "2")
    assert float(line["mean"]) == pytest.approx(1 / 12)
    data = json.loads((tmp_path / "out/comparison.json").read_text())
    assert [study["name"] for study in data["studies"]] == ["one", "two"]
    printed = capsys.readouterr().out
    assert (
        "evil-vqax: unified in two - single in one: 2 shared of 3 and 3 items, 2 workers on both" in printed
    )


@pytest.mark.parametrize(
    ("files", "options", "message"),
    [
        ((), {}, "Name a file, --batch or --survey."),
        (("one", "one"), {}, "{0}: the file is given twice"),
        (("one", "two"), {"system": "a,b,c"}, "--system names 3 systems for 2 studies."),
        (("one", "two"), {"legacy": True}, "--legacy, --against and --accuracy are for one study"),
    ],
)
def test_what_can_not_be_compared_is_told(
    tmp_path: Path, files: tuple[str, ...], options: dict, message: str
) -> None:
    for name in set(files):
        (tmp_path / f"{name}.csv").write_bytes(raw_file([row([task(1)])]))
    paths = [str(tmp_path / f"{name}.csv") for name in files]
    with pytest.raises(CommandError) as error:
        call_command("evaluate_results", *paths, out=tmp_path / "out", **options)
    assert str(error.value).startswith(message.format(*paths))
    assert not (tmp_path / "out").exists()


@pytest.mark.django_db
def test_batches_are_studies_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    batches = [
        rated_batch(
            [
                Rated(subject, system, worker, {"clarity": value, "trust": value})
                for subject in "abc"
                for worker, value in (("x", low), ("y", "5"))
            ],
            name=f"round of {system}",
        )
        for system, low in (("cst", "1"), ("ttnet", "3"))
    ]
    names = [batch.name for batch in batches]
    call_command("evaluate_results", batch=names, out=tmp_path / "out")
    assert "ttnet in round of ttnet - cst in round of cst: 3 shared" in capsys.readouterr().out
    slugs = [batch.survey.slug for batch in batches]
    call_command("evaluate_results", survey=slugs, out=tmp_path / "again")
    for name in ("studies.csv", "pairing.csv", "differences.csv", "comparison.json"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def published(shared: Path, *names: str) -> Across:
    """Return published raw files beside each other; the test is skipped where one is not there."""
    paths = [shared / "data" / "ofax" / f"{name}.csv" for name in names]
    for path in paths:
        if not path.is_file():
            pytest.skip(f"{path.name} is not among the published files in ../shared/data/ofax")
    key = Pseudonyms("key")
    return compare_studies([Study(path.stem, read_mturk_csv(path, pseudonyms=key)) for path in paths])


def test_the_published_studies_stand_in_one_table(shared: Path) -> None:
    found = published(shared, "vqax_results_raw", "esnlive_unifiedresults_raw")
    assert (found.datasets, found.pairings) == (("evil-vqax", "evil-esnlive"), ())
    means = {
        (study.name, rows, system): round(
            selection.system(system).criterion("justifies").score.rating_mean, 4
        )
        for study in found.studies
        for rows, selection in (("kept", study.kept), ("filtered", study.filtered))
        for system in ("model", "ground_truth")
    }
    assert means == {
        ("vqax_results_raw", "kept", "model"): 0.8963,
        ("vqax_results_raw", "kept", "ground_truth"): 0.8983,
        ("vqax_results_raw", "filtered", "model"): 0.8946,
        ("vqax_results_raw", "filtered", "ground_truth"): 0.8988,
        ("esnlive_unifiedresults_raw", "kept", "model"): 0.7923,
        ("esnlive_unifiedresults_raw", "kept", "ground_truth"): 0.8313,
        ("esnlive_unifiedresults_raw", "filtered", "model"): 0.8036,
        ("esnlive_unifiedresults_raw", "filtered", "ground_truth"): 0.8589,
    }


def test_unified_and_single_vcr_are_paired_on_their_100_items(shared: Path) -> None:
    found = published(shared, "vcr_results_raw", "vcr_unifiedresults_raw")
    contrast = only(found.contrasts, criterion="justifies")
    assert contrast.pairing.shared == 100
    assert [round(mean, 4) for mean in contrast.means if mean is not None] == [0.7530, 0.6519]


def test_the_unified_models_three_data_sets_stand_in_one_table(shared: Path) -> None:
    names = ("vqax_unifiedresults_raw", "esnlive_unifiedresults_raw", "vcr_unifiedresults_raw")
    found = published(shared, *names)
    assert found.datasets == ("evil-vqax", "evil-esnlive", "evil-vcr")
    assert all(
        study.kept.system("model").criterion("justifies").score.items == 100 for study in found.studies
    )


def test_nobody_who_was_rated_nowhere_is_a_stranger() -> None:
    """Of studies that share no item both have to have some."""
    silent = study("silent", {"z": ["yes"]})
    silent = replace(silent, frame=replace(silent.frame, responses=silent.frame.responses[:0]))
    for studies in ([study("one", ONE), silent], [silent, study("one", ONE)]):
        found = compare_studies(studies)
        assert ([pairing.shared for pairing in found.pairings], found.strangers) == ([0, 0], ())


def test_ratings_of_a_study_are_clustered_by_worker_where_any_is_known() -> None:
    one, other = study("one", ONE), study("two", TWO)
    party = compare_studies([one, other]).pairings[0].ours
    known = across._ratings({"two": other}, party, "justifies", rows=across.KEPT)
    assert known.workers.tolist() == other.frame.kept["worker"].tolist()
    names = other.frame.responses["worker"].tolist()
    for workers, found in (([None, *names[1:]], ["? two", *names[1:]]), ([None] * len(names), None)):
        responses = other.frame.responses.assign(worker=pd.Series(workers, dtype="str"))
        told = replace(other, frame=replace(other.frame, responses=responses))
        of_party = across._ratings({"two": told}, party, "justifies", rows=across.KEPT).workers
        assert (None if of_party is None else of_party.tolist()) == found
