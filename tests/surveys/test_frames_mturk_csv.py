import json

import pandas as pd
import pytest

from surveys.definitions import get_definition
from surveys.frames import Pseudonyms, SourceError
from surveys.frames.mturk_csv import frame_from_csv
from tests.surveys.raw_files import raw_file, row, task


def read(data, **options):
    return frame_from_csv(data, study="s", pseudonyms=Pseudonyms("key"), **options)


def test_one_row_per_assignment_and_item_in_the_order_of_the_file():
    data = raw_file(
        [row([task(1), task(2)], assignment="B"), row([task(1), task(2)], assignment="A", worker="W2")]
    )

    rows = read(data).responses

    assert rows[["assignment_id", "position", "item_id"]].to_numpy().tolist() == [
        ["B", 1, "item-1"],
        ["B", 2, "item-2"],
        ["A", 1, "item-1"],
        ["A", 2, "item-2"],
    ]


def test_wide_columns_hold_what_was_said_about_each_output():
    tasks = [task(1, ours="weak_no", gt="no", ticked=(("confusing_sentence",), ()), prefer="expl_1")]

    said = read(raw_file([row(tasks)]), system="ofa-x").responses.iloc[0]

    assert said["ofa-x.text"] == "ours 1"
    assert said["ofa-x.justifies"] == "weak_no"
    assert said["ofa-x.shortcomings.confusing_sentence"] == "selected"
    assert said["ofa-x.preference"] == "preferred"
    assert said["ground_truth.text"] == "theirs 1"
    assert said["ground_truth.justifies"] == "no"
    assert said["ground_truth.shortcomings.confusing_sentence"] == "not_selected"
    assert said["ground_truth.preference"] == "other"


def test_tidy_has_one_row_per_rating_and_none_for_a_blank():
    tidy = read(raw_file([row([task(1, ours=None, gt="weak_yes", prefer=None)])])).tidy()

    assert tidy[["system", "role", "criterion", "value", "score"]].to_numpy().tolist() == [
        ["model", "model", "shortcomings.incorrect_description", "not_selected", 0.0],
        ["model", "model", "shortcomings.insufficient_justification", "not_selected", 0.0],
        ["model", "model", "shortcomings.confusing_sentence", "not_selected", 0.0],
        ["ground_truth", "reference", "justifies", "weak_yes", 2 / 3],
        ["ground_truth", "reference", "shortcomings.incorrect_description", "not_selected", 0.0],
        ["ground_truth", "reference", "shortcomings.insufficient_justification", "not_selected", 0.0],
        ["ground_truth", "reference", "shortcomings.confusing_sentence", "not_selected", 0.0],
    ]


def test_a_blank_answer_is_missing_and_wrong():
    said = read(raw_file([row([task(1, answer=None)])])).responses.iloc[0]

    assert pd.isna(said["answer"])
    assert not said["answer_correct"]


def test_context_of_a_row():
    said = read(raw_file([row([task(1)], status="Rejected")])).responses.iloc[0]

    assert said[["study", "batch", "hit_id", "status", "decision"]].tolist() == [
        "s",
        "77",
        "H1",
        "Rejected",
        "reject",
    ]
    assert said["work_seconds"] == 120
    assert not said["included"]


@pytest.mark.parametrize("n", [1, 3, 12])
def test_any_number_of_tasks(n):
    frame = read(raw_file([row([task(i) for i in range(1, n + 1)])]))

    assert frame.responses["position"].tolist() == list(range(1, n + 1))


def test_hits_of_one_file_may_differ_in_length():
    data = raw_file([row([task(1), task(2)]), row([task(1)], assignment="A2", hit="H2")])

    assert read(data).responses[["hit_id", "position"]].to_numpy().tolist() == [
        ["H1", 1],
        ["H1", 2],
        ["H2", 1],
    ]


@pytest.mark.parametrize(
    ("field", "choices", "extra", "key"),
    [
        ("answer", ("yes", "no"), {}, "evil-vqax"),
        ("image_statement_relationship", ("yes", "no"), {}, "evil-esnlive"),
        ("answer", ("yes", "no"), {"Input.answer0_0": "A cat."}, "evil-vcr"),
    ],
)
def test_the_definition_is_found_out(field, choices, extra, key):
    data = raw_file([row([task(1, field=field, choices=choices)], **extra)])

    assert read(data).definition.key == key


def test_a_given_definition_wins():
    definition = get_definition("evil-vcr")

    assert read(raw_file([row([task(1)])]), definition=definition).definition is definition


def test_vcr_answers_are_keys():
    keys = ("answer0", "answer1", "answer2", "answer3")
    tasks = [task(1, choices=keys, answer="answer2"), task(2, choices=keys, answer="answer0")]

    rows = read(
        raw_file([row(tasks, golds=["answer2", "answer1"], **{"Input.answer0_0": "A cat."})])
    ).responses

    assert rows["answer_correct"].tolist() == [True, False]


def test_a_byte_order_mark_and_unicode_are_read():
    data = b"\xef\xbb\xbf" + raw_file([row([task(1, image_id="bild-ß-😀.jpg#1")])])

    assert read(data).responses["item_id"].tolist() == ["bild-ß-😀.jpg#1"]


def test_columns_are_found_by_name_and_only_the_needed_ones_must_be_there():
    cells = row([task(1)])
    names = [*reversed(cells), "Turkle.Username"]
    for name in ("WorkTimeInSeconds", "RequesterAnnotation", "Input.output_answer_0"):
        names.remove(name)

    said = read(raw_file([cells], header=names)).responses.iloc[0]

    assert said["batch"] == ""
    assert pd.isna(said["work_seconds"])
    assert said["model.justifies"] == "yes"


def test_the_same_worker_has_the_same_name_and_it_is_not_theirs():
    rows = [row([task(1)], assignment=a, worker=w) for a, w in (("A1", "W1"), ("A2", "W2"), ("A3", "W1"))]

    first, second, third = read(raw_file(rows)).responses["worker"]

    # printf W1 | openssl dgst -sha256 -hmac key
    assert first == third == "39af1bb4b741"
    assert second != first


def refusal(data, **options):
    with pytest.raises(SourceError) as caught:
        read(data, **options)
    return str(caught.value)


def broken(**cells):
    return raw_file([row([task(1)]), row([task(1)], assignment="A2", worker="W2", **cells)])


@pytest.mark.parametrize("data", [b"", b"\r\n  \n"])
def test_an_empty_file(data):
    assert refusal(data) == "the file is empty"


def test_a_header_alone():
    assert refusal(b'"HITId","AssignmentId"\r\n') == "the file has a header at most, and no rows"


@pytest.mark.parametrize(
    "name",
    ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Answer.taskAnswers", "Input.answer_0",
     "Input.output_explanation_0", "Input.explanation_0"],
)  # fmt: skip
def test_a_missing_column(name):
    cells = row([task(1)])
    del cells[name]

    assert refusal(raw_file([cells])) == f"row 1, column {name!r}: the column is missing"


def test_a_column_that_is_there_twice():
    data = raw_file([row([task(1)])]).replace(b'"WorkerId"', b'"HITId"')

    assert refusal(data) == "row 1, column 'HITId': the column is there twice"


def test_a_wrong_encoding():
    data = raw_file([row([task(1, image_id="caf\u00e9")])]).decode().encode("latin-1")

    assert refusal(data) == "row 2: the file is not UTF-8: byte 0xe9"


def test_utf_16():
    data = raw_file([row([task(1)])]).decode().encode("utf-16")

    assert refusal(data) == "the file is not UTF-8 but UTF-16; save it as UTF-8"


def test_a_row_that_is_too_long():
    data = raw_file([row([task(1)])]) + b',"","","x"'

    assert refusal(data).startswith("row 2: ")


def test_broken_quotes():
    assert refusal(raw_file([row([task(1)])])[:-1]).startswith("row 2: not a readable CSV: ")


def test_broken_json():
    message = refusal(broken(**{"Answer.taskAnswers": '[{"task1_answer":'}))

    assert message.startswith("row 3, column 'Answer.taskAnswers': broken JSON: ")


def test_json_nested_beyond_reason():
    message = refusal(broken(**{"Answer.taskAnswers": "[" * 100_000}))

    assert message.startswith("row 3, column 'Answer.taskAnswers': broken JSON: ")


@pytest.mark.parametrize("cell", ["{}", "[]", "[1]", "[{},{}]", "null"])
def test_json_of_another_shape(cell):
    message = refusal(broken(**{"Answer.taskAnswers": cell}))

    assert message == "row 3, column 'Answer.taskAnswers': not a list with one object of answers"


def test_an_assignment_without_any_task():
    message = refusal(broken(**{"Answer.taskAnswers": '[{"feedback":"hi"}]'}))

    assert message == "row 3, column 'Answer.taskAnswers': there is no answer at all"


def test_a_file_without_any_task():
    message = refusal(raw_file([row([task(1)], **{"Answer.taskAnswers": '[{"c1":"2"}]'})]))

    assert message == "column 'Answer.taskAnswers': no answer has a key like 'task1_answer'"


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("task1_answer", ["no", "yes"]),
        ("task1_explanation2_explanation_justifies_answer", ["weak_yes", "yes"]),
        ("task1_preference", ["expl_1", "no_preference"]),
    ],
)
def test_two_options_selected(key, names):
    keys = task(1)
    keys[key] = {**keys[key], **dict.fromkeys(sorted(names), True)}
    cell = json.dumps([keys], sort_keys=True)

    message = refusal(broken(**{"Answer.taskAnswers": cell}))

    assert message == (
        f"row 3, column 'Answer.taskAnswers': {key} has two options selected: {', '.join(names)}"
    )


@pytest.mark.parametrize("value", ["true", 1, 0, None])
def test_an_option_that_is_no_boolean(value):
    keys = {**task(1), "task1_preference": {"expl_1": value}}

    message = refusal(broken(**{"Answer.taskAnswers": json.dumps([keys])}))

    assert message == (
        "row 3, column 'Answer.taskAnswers': task1_preference says neither true nor false to 'expl_1'"
    )


def test_a_field_that_holds_no_options():
    keys = {**task(1), "task1_preference": "expl_1"}

    message = refusal(broken(**{"Answer.taskAnswers": json.dumps([keys])}))

    assert message == "row 3, column 'Answer.taskAnswers': task1_preference is not a set of options"


def test_a_field_that_no_answer_has_is_another_format():
    keys = {key: value for key, value in task(1).items() if not key.endswith("preference")}

    message = refusal(raw_file([row([keys])]))

    assert message == "column 'Answer.taskAnswers': no answer has the field 'preference'"


def test_a_field_that_one_answer_lacks_is_a_blank():
    keys = {key: value for key, value in task(1).items() if not key.endswith("preference")}

    rows = read(raw_file([row([task(1)]), row([keys], assignment="A2")])).responses

    assert rows["model.preference"].isna().tolist() == [False, True]


def test_a_rating_that_is_not_on_the_scale():
    keys = {**task(1), "task1_explanation1_explanation_justifies_answer": {"perhaps": True}}

    message = refusal(broken(**{"Answer.taskAnswers": json.dumps([keys])}))

    assert message == (
        "row 3, column 'Answer.taskAnswers': task1_explanation1_explanation_justifies_answer has 'perhaps', "
        "not one of yes, weak_yes, weak_no, no"
    )


def test_a_right_answer_that_was_not_offered():
    message = refusal(broken(**{"Input.answer_0": "perhaps"}))

    assert message == (
        "row 3, column 'Input.answer_0': the right answer 'perhaps' is not among the options maybe, no, yes"
    )


@pytest.mark.parametrize("status", ["", "approved", "Accepted"])
def test_an_unknown_status(status):
    message = refusal(broken(AssignmentStatus=status))

    assert message == f"row 3, column 'AssignmentStatus': unknown status {status!r}"


def test_an_assignment_id_twice():
    message = refusal(raw_file([row([task(1)]), row([task(1)])]))

    assert message == "row 3, column 'AssignmentId': 'A1' is in row 2 already"


def test_a_blank_assignment_id():
    assert refusal(broken(AssignmentId="")) == "row 3, column 'AssignmentId': the id is blank"


def test_seconds_that_are_no_number():
    message = refusal(broken(WorkTimeInSeconds="2 min"))

    assert message == "row 3, column 'WorkTimeInSeconds': '2 min' is not a number of seconds"


def test_the_model_can_not_be_called_as_the_reference_is():
    message = refusal(raw_file([row([task(1)])]), system="ground_truth")

    assert message == "the model can't be called 'ground_truth', that is the reference"
