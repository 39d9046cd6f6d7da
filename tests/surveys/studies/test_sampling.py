"""A sample of predictions: who is eligible, the most overlap there can be, the study's file, what is refused."""

import csv
import io
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from surveys.studies.importing.reading import read_items as read_import
from surveys.studies.predictions import Prediction, SamplingError, read_predictions
from surveys.studies.sampling import distractors, draw
from tests.protocols import VQAX

HEADER = "item,gold,answer,explanation,reference,question,img_name,dataset"


def right(item: str, *, row: int = 1, **values: str) -> Prediction:
    return Prediction(
        **{"row": row, "item": item, "gold": "yes", "predicted": "yes", "output": "so.", **values}
    )


def items_of(rows: Sequence[Prediction]) -> set[str]:
    return {row.item for row in rows}


SETS = st.frozensets(st.sampled_from("abcdefghij"))


@settings(max_examples=200, deadline=None)
@given(eligible=SETS, earlier=st.lists(SETS, max_size=3), n=st.integers(1, 6), seed=st.text(max_size=3))
def test_no_sample_overlaps_more_by_brute_force(
    eligible: frozenset[str], earlier: list[frozenset[str]], n: int, seed: str
) -> None:
    rows = [right(item, row=k) for k, item in enumerate("abcdefghij", 1) if item in eligible]
    rows += [right(item, row=99, predicted="no") for item in "abcdefghij" if item not in eligible]
    (sample,) = draw(rows, n=n, seed=seed, earlier=earlier)
    drawn, union = items_of(sample.rows), frozenset().union(*earlier)
    every = [set(some) for some in combinations(sorted(eligible), min(n, len(eligible)))]
    assert drawn in every
    assert sum(len(drawn & one) for one in earlier) == max(
        sum(len(s & one) for one in earlier) for s in every
    )
    assert len(drawn & union) == max(len(s & union) for s in every) == sample.overlap == sample.possible


@settings(max_examples=200, deadline=None)
@given(
    eligible=st.dictionaries(st.sampled_from(["vqa", "vcr"]), SETS, min_size=2),
    earlier=st.lists(st.dictionaries(st.sampled_from(["vqa", "vcr"]), SETS), max_size=3),
    n=st.integers(1, 6),
)
def test_data_sets_that_use_the_same_ids_overlap_each_with_its_own_by_brute_force(
    eligible: dict[str, frozenset[str]], earlier: list[dict[str, frozenset[str]]], n: int
) -> None:
    rows = [right(item, dataset=name) for name, items in eligible.items() for item in sorted(items)]
    for sample in draw(rows, n=n, seed="1", earlier=earlier):
        own, items = [one.get(sample.dataset, frozenset()) for one in earlier], eligible[sample.dataset]
        union, every = frozenset().union(*own), combinations(sorted(items), min(n, len(items)))
        assert sample.overlap == sample.possible == max(len(union & set(some)) for some in every)
        assert sample.overlap == len(items_of(sample.rows) & union)


def test_an_earlier_sample_of_nobody_knows_which_data_set_is_refused() -> None:
    rows = [right("a", dataset="vqa"), right("a", dataset="vcr")]
    message = (
        "An earlier sample does not say of which data set it is: vcr, vqa. Two may use the same ids; name it"
    )
    with pytest.raises(SamplingError, match=message):
        draw(rows, n=1, seed="1", earlier=[frozenset("a")])


def two_sets(folder: Path) -> str:
    """Twenty items in each of two data sets, by the same ids."""
    answers = ["cat", "dog", "red", "blue"] * 5
    rows = [
        f"{k},{answer},{answer},so,as,What?,{k}.jpg,{name}"
        for name in ("vqa", "vcr")
        for k, answer in enumerate(answers)
    ]
    path = folder / "two.csv"
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return str(path)


@pytest.mark.parametrize("says", ["file", "option", "column"])
def test_an_earlier_file_says_by_name_option_or_column_of_which_data_set_it_is(
    tmp_path: Path, says: str
) -> None:
    name = "vqa.csv" if says == "file" else "old.csv"
    text = "dataset,id\nvqa,1\nvqa,2\n" if says == "column" else "id_0,id_1\n1,2\n"
    (tmp_path / name).write_text(text)
    earlier = f"vqa={tmp_path / name}" if says == "option" else str(tmp_path / name)
    out = tmp_path / "out"
    call_command("draw_sample", two_sets(tmp_path), n=5, out=out, earlier=[earlier])
    log = {row["dataset"]: row for row in csv.DictReader(io.StringIO((out / "eligibility.csv").read_text()))}
    assert (log["vqa"]["in earlier samples"], log["vqa"]["most possible"]) == ("2", "2")
    assert (log["vcr"]["in earlier samples"], log["vcr"]["most possible"]) == ("0", "0")


@settings(max_examples=50, deadline=None)
@given(n=st.integers(1, 30), more=st.integers(0, 30), order=st.randoms())
def test_a_larger_sample_holds_the_smaller_one_whatever_the_order_of_the_rows(
    n: int, more: int, order
) -> None:
    rows = [right(f"i{k}") for k in range(60)]
    small = items_of(draw(rows, n=n, seed="1")[0].rows)
    order.shuffle(rows)
    assert small <= items_of(draw(rows, n=n + more, seed="1")[0].rows)


def test_what_is_not_eligible_is_counted_by_its_reason() -> None:
    rows = [
        right("a"),
        right("b", predicted="no"),
        right("c", predicted=""),
        right("d", output=""),
        right("e"),
    ]
    (sample,) = draw(rows, n=5, seed="1")
    assert (items_of(sample.rows), sample.n_eligible, sample.n_rows) == ({"a", "e"}, 2, 5)
    assert sample.reasons == {"wrong answer": 1, "no answer": 1, "no explanation": 1}


def test_distractors_are_other_answers_of_the_data_set_by_the_seed() -> None:
    answers = ["cat", "dog", "no", "red", "yes"]
    drawn = [distractors(right(f"i{k}"), answers, seed="1") for k in range(50)]
    assert all(len(set(two)) == 2 and "yes" not in two for two in drawn)
    assert {answer for two in drawn for answer in two} == {"cat", "dog", "no", "red"}
    assert drawn == [distractors(right(f"i{k}"), answers, seed="1") for k in range(50)]


def test_beside_gold_an_answer_is_the_systems_and_alone_it_is_the_right_one(tmp_path: Path) -> None:
    (tmp_path / "ours.csv").write_text("item,gold,answer,explanation,reference\n1,yes,no,so,as\n")
    (tmp_path / "theirs.csv").write_text(
        "id,answer,output_answer,output_explanation,explanation\n1,yes,no,so,as\n"
    )
    expected = Prediction(row=1, item="1", gold="yes", predicted="no", output="so", reference="as")
    for name in ("ours.csv", "theirs.csv"):
        assert list(read_predictions(tmp_path / name)) == [expected]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,gold,answer\n", "column output_explanation: there is none (nor explanation)."),
        (
            "item,gold,answer,explanation\na,yes,yes\n",
            "row 1, column explanation: it has 3 cells, the header 4.",
        ),
        ("item,gold,answer,explanation\na,yes,yes,x\n,yes,yes,x\n", "row 2, column item: the cell is empty."),
        ("item,gold,answer,explanation\na,,yes,x\n", "row 1, column gold: the cell is empty."),
        (
            'item,gold,answer,explanation\na,yes,yes,"x\n',
            "row 1: this is not well-formed CSV: unexpected end of data.",
        ),
        (
            "item,gold,answer,explanation,choices\na,yes,maybe,x,yes|no\n",
            'row 1, column answer: "maybe" is none of the choices.',
        ),
        (
            "item,gold,answer,explanation\na,yes,yes,x\na,yes,yes,x\n",
            'row 2, column item: "a" stands in an earlier row already.',
        ),
        (
            "item,gold,answer,explanation,system\na,y,y,x,m\nb,y,y,x,n\n",
            'row 2, column system: there is "m" and "n"; choose one.',
        ),
    ],
)
def test_what_can_not_be_read_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(SamplingError) as error:
        draw(read_predictions(tmp_path / "p.csv"), n=5, seed="1")
    assert str(error.value) == message


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_bytes(b"item,gold,answer,explanation\na,yes,yes,\xff\n")
    with pytest.raises(SamplingError, match=r"^row 1, column explanation: the text is not UTF-8"):
        list(read_predictions(tmp_path / "p.csv"))


def predictions(folder: Path, *, n: int = 40) -> Path:
    """Rows of four answers in turn, of which each eighth is wrong."""
    answers = ["cat", "dog", "red", "blue"] * (n // 4)
    given = ["dog" if k % 8 == 0 else answer for k, answer in enumerate(answers)]
    pairs = enumerate(zip(answers, given, strict=True))
    rows = [f"{k},{gold},{answer},so,as,What?,{k}.jpg,vqa" for k, (gold, answer) in pairs]
    path = folder / "predictions.csv"
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


def test_the_file_is_a_batch_csv_that_imports_without_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("draw_sample", str(predictions(tmp_path)), "--n", "10", "--out", str(tmp_path / "out"))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["eligibility.csv", "vqa.csv"]
    plan = read_import((tmp_path / "out/vqa.csv").read_bytes(), definition=VQAX)
    assert (plan.problems, len(plan.items), plan.n_rows) == ((), 10, 2)
    assert all(int(item.external_id) % 8 for item in plan.items)
    assert all(len(item.choices) == 3 for item in plan.items)
    log = list(csv.DictReader(io.StringIO((tmp_path / "out/eligibility.csv").read_text())))
    assert log == [
        {
            "dataset": "vqa", "rows": "40", "eligible": "35", "wrong answer": "5", "sampled": "10",
            "in earlier samples": "0", "most possible": "0",
        }
    ]  # fmt: skip
    assert capsys.readouterr().out.startswith(
        "vqa: 10 of 35 eligible (of 40 rows, 5 wrong answer); 0 in earlier"
    )


def test_a_second_model_is_shown_on_as_many_of_the_same_items_as_it_answered_rightly(tmp_path: Path) -> None:
    made = str(predictions(tmp_path))
    call_command("draw_sample", made, "--n", "10", "--out", str(tmp_path / "one"))
    earlier = str(tmp_path / "one/vqa.csv")
    call_command(
        "draw_sample", made, "--n", "15", "--out", str(tmp_path / "two"), "--seed", "2", "--earlier", earlier
    )
    log = next(csv.DictReader(io.StringIO((tmp_path / "two/eligibility.csv").read_text())))
    assert (log["in earlier samples"], log["most possible"]) == ("10", "10")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--n", "12"), "12 items don't fill HITs of 5."),
        (("--n", "40"), "vqa: 40 items are wanted, 35 of 40 are eligible."),
        (("--n", "10", "--system", "x"), "There are no rows of this system."),
    ],
)
def test_nothing_is_written_where_something_is_wrong(
    tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    with pytest.raises(CommandError) as error:
        call_command("draw_sample", str(predictions(tmp_path)), *options, "--out", str(tmp_path / "out"))
    assert str(error.value) == message
    assert not (tmp_path / "out").exists()
