import json

import pytest

from surveys.results.frames.csv_table import SourceError
from tests.surveys.results.raw_files import raw_file, read, row, task


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


@pytest.mark.parametrize("text", ["item-1", "task1_answer", "maybe", "selected"])
def test_half_a_character_is_refused_where_it_stands(text):
    data = raw_file([row([task(1)])]).replace(text.encode(), rb"\uD800", 1)

    with pytest.raises(SourceError) as refused:
        read(data)

    assert str(refused.value) == (
        "row 2, column 'Answer.taskAnswers': a text holds half a character (a lone surrogate)"
    )


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


@pytest.mark.parametrize("text", ["2 min", "-1", "٣", "9" * 10])
def test_seconds_that_are_no_number(text):
    message = refusal(broken(WorkTimeInSeconds=text))

    assert message == f"row 3, column 'WorkTimeInSeconds': '{text}' is not a number of seconds"


def test_the_model_can_not_be_called_as_the_reference_is():
    message = refusal(raw_file([row([task(1)])]), system="ground_truth")

    assert message == "the model can't be called 'ground_truth', that is the reference"
