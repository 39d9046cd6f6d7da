"""A file to a plan: the formats that can be read."""

import dataclasses
import json

import pytest

from surveys.studies.importing.plan import Layout
from tests.protocols import ESNLIVE, VCR, VQAX
from tests.surveys.studies.importing_cases import batch_csv, jsonl, long_csv, long_rows, places, read, slot

ONE_SYSTEM = dataclasses.replace(VQAX, key="one", outputs_per_item=1, preference=None, reference_system="")


def test_a_batch_row_is_a_hit_of_any_number_of_questions() -> None:
    plan = read(batch_csv([slot(1), slot(2), slot(3)], [slot(4), slot(5), slot(6)]), system="ofa-x")
    assert plan.problems == ()
    assert [(item.external_id, item.source_row) for item in plan.items] == [
        ("item-1", 1),
        ("item-2", 1),
        ("item-3", 1),
        ("item-4", 2),
        ("item-5", 2),
        ("item-6", 2),
    ]
    first = plan.items[0]
    assert first.question == "What is in picture 1?"
    assert first.gold == "cat"
    assert first.choices == [{"value": v, "label": v} for v in ("bat", "cat", "dog")]
    assert [(o.system, o.text, o.answer) for o in first.outputs] == [
        ("ofa-x", "it has whiskers 1", "cat"),
        ("ground_truth", "it purrs 1", "cat"),
    ]
    assert [picture.name for picture in first.pictures] == ["1.png"]
    assert first.payload["question"] == "What is in picture 1?"
    assert first.payload["header"][:4] == ["index", "id_0", "id_1", "id_2"]
    assert first.payload["columns"] == slot(1)
    assert first.payload["row"] == {"index": "0"}


@pytest.mark.parametrize("gold", ["bat", "cat", "dog"])
def test_the_order_of_choices_says_nothing_about_the_answer(gold: str) -> None:
    others = sorted({"bat", "cat", "dog"} - {gold})
    plan = read(batch_csv([slot(1, answer=gold, other_answer1=others[1], other_answer2=others[0])]))
    assert [choice["value"] for choice in plan.items[0].choices] == ["bat", "cat", "dog"]


def test_published_vqax_reads_unchanged(shared) -> None:
    plan = read((shared / "data/ofax/vqa.csv").read_bytes())
    assert (len(plan.items), plan.n_rows, plan.n_outputs, plan.n_pictures) == (300, 60, 600, 300)
    assert places(plan) == [
        ("warning", 14, 15, "other_answer2_2", 'The choice "sheep" is given twice; it is shown once.'),
        ("warning", 31, 32, "other_answer2_1", 'The choice "orange" is given twice; it is shown once.'),
    ]
    twice = next(item for item in plan.items if item.source_row == 14 and len(item.choices) == 2)
    assert twice.choices == [{"value": "no", "label": "no"}, {"value": "sheep", "label": "sheep"}]
    assert plan.items[0].choices == [{"value": v, "label": v} for v in ("couch", "glasses", "skateboarding")]


@pytest.mark.parametrize(("name", "items", "rows"), [("esnlive", 300, 60), ("unified_esnlive", 100, 20)])
def test_published_esnlive_reads_unchanged(shared, name: str, items: int, rows: int) -> None:
    plan = read((shared / f"data/ofax/{name}.csv").read_bytes(), definition=ESNLIVE)
    assert (len(plan.items), plan.n_rows, plan.problems) == (items, rows, ())
    assert {tuple(item.choices) for item in plan.items} == {()}
    assert {item.gold for item in plan.items} == {"entailment", "neutral", "contradiction"}
    assert {item.payload["header"][0] for item in plan.items} == {"index"}
    assert all("#" in item.pictures[0].name and "%" not in item.pictures[0].name for item in plan.items)


def test_published_vcr_reads_unchanged(shared) -> None:
    plan = read((shared / "data/ofax/vcr.csv").read_bytes(), definition=VCR)
    assert (len(plan.items), plan.n_rows) == (300, 60)
    assert places(plan) == [
        (
            "warning",
            row,
            row + 1,
            column,
            f'The text holds "{token}", which annotators will see as it stands.',
        )
        for row, column, token in [
            (12, "output_explanation_0", "<bin_817>"),
            (43, "output_explanation_1", "<bin_0>"),
            (50, "output_explanation_1", "<bin_619>"),
        ]
    ]
    first = plan.items[0]
    assert (first.question, first.gold) == ("What is person20 doing", "answer2")
    assert [choice["value"] for choice in first.choices] == ["answer0", "answer1", "answer2", "answer3"]
    assert first.choices[2]["label"] == "He is a waiter and going to serve the table."


def test_a_file_for_another_survey_type_is_a_warning(shared) -> None:
    plan = read((shared / "data/ofax/unified_esnlive.csv").read_bytes(), definition=VQAX)
    assert [str(problem) for problem in plan.problems] == [
        'The choices are those of the survey type "e-ViL: e-SNLI-VE"; is the type right?'
    ]


def test_long_csv_has_a_line_per_output() -> None:
    plan = read(long_csv([*long_rows("b"), *long_rows("a")]))
    assert plan.problems == ()
    assert [item.external_id for item in plan.items] == ["b", "a"]
    first = plan.items[0]
    assert first.source_row is None
    assert first.choices == [{"value": "cat", "label": "cat"}, {"value": "dog", "label": "dog"}]
    assert [(o.system, o.text) for o in first.outputs] == [
        ("model", "model says so"),
        ("ground_truth", "ground_truth says so"),
    ]
    assert first.payload["columns"] == {
        "id": "b",
        "question": "What?",
        "answer": "cat",
        "img_name": "b.png",
        "output_answer": "",
        "output_explanation": "model says so",
        "explanation": "ground_truth says so",
    }


def test_jsonl_takes_lists_and_numbers() -> None:
    rows = [row | {"item_id": 7, "choices": ["a|b", "cat"]} for row in long_rows()]
    plan = read(jsonl(rows))
    assert plan.problems == ()
    assert plan.items[0].external_id == "7"
    assert plan.items[0].choices == [{"value": "a|b", "label": "a|b"}, {"value": "cat", "label": "cat"}]


def test_a_list_of_objects_is_read_as_their_lines_are() -> None:
    rows = long_rows()
    listed = read(b" \n" + json.dumps(rows, indent=1).encode())
    assert listed.problems == ()
    assert [item.payload for item in listed.items] == [item.payload for item in read(jsonl(rows)).items]
    assert [(p.row, p.line, p.message) for p in read(json.dumps([*rows, 7]).encode()).errors] == [
        (3, 1, "The line is not a JSON object.")
    ]


def test_jsonl_takes_several_images() -> None:
    plan = read(jsonl([row | {"image": ["1.png", "2%23.png"]} for row in long_rows()]))
    assert [picture.name for picture in plan.items[0].pictures] == ["1.png", "2#.png"]


def test_statement_is_a_question() -> None:
    rows = [{("statement" if k == "question" else k): v for k, v in row.items()} for row in long_rows()]
    rows = [row | {"answer": "neutral"} for row in rows]
    plan = read(long_csv(rows), definition=ESNLIVE)
    assert (plan.problems, plan.items[0].question, plan.items[0].choices) == ((), "What?", [])


def test_byte_order_mark_windows_lines_and_blank_lines_are_fine() -> None:
    data = b"\xef\xbb\xbf" + batch_csv([slot(1)], [slot(2)]).replace(b"\n", b"\r\n") + b"\r\n\r\n"
    plan = read(data)
    assert (len(plan.items), plan.problems) == (2, ())


def test_a_blank_first_column_is_left_out() -> None:
    data = b"\n".join(
        b",%b" % line if n == 0 else b"9,%b" % line
        for n, line in enumerate(batch_csv([slot(1)]).split(b"\n")[:2])
    )
    plan = read(data)
    assert (plan.problems, plan.items[0].payload["header"][0]) == ((), "index")


def test_white_space_around_a_cell_is_trimmed_but_kept_for_the_export() -> None:
    plan = read(batch_csv([slot(1, explanation=" it purrs ", other_answer1="bat ")]))
    assert plan.problems == ()
    assert plan.items[0].outputs[1].text == "it purrs"
    assert plan.items[0].choices[0] == {"value": "bat", "label": "bat"}
    assert plan.items[0].payload["columns"]["explanation"] == " it purrs "


def test_the_layout_can_be_forced() -> None:
    plan = read(long_csv(long_rows()), layout=Layout.BATCH)
    assert [problem.column for problem in plan.errors] == [
        "id_0",
        "question_0",
        "img_name_0",
        "output_explanation_0",
        "explanation_0",
        "answer_0",
        "other_answer1_0",
    ]


def test_a_survey_of_one_output_needs_no_reference() -> None:
    data = batch_csv([slot(1)], without=("explanation_0",))
    plan = read(data, definition=ONE_SYSTEM)
    assert (plan.problems, [o.system for o in plan.items[0].outputs]) == ((), ["model"])
