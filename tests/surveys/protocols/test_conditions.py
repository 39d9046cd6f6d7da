"""Questions that are asked only of who answered an earlier one in some way: which are, and what can't be."""

import json
from dataclasses import replace

import pytest

from surveys.protocols.conditions import Condition, asked_keys
from surveys.protocols.criteria import Choice, Criterion
from surveys.protocols.definition import Definition
from surveys.protocols.documents import DocumentError, read
from tests.surveys.protocols.conditional import DOCUMENT

YES_NO = (Choice("yes", "Yes", 1.0), Choice("no", "No", 0.0))
FLUENT = Criterion("fluent", "Is it fluent?", YES_NO)
FAULTS = Criterion(
    "faults",
    "Which faults?",
    (Choice("grammar", "Grammar"), Choice("other", "Other")),
    is_checklist=True,
    asked_if=Condition("fluent", is_=("no",)),
)
WHICH = Criterion("which", "Which?", is_text=True, asked_if=Condition("faults", ticked=("other",)))
RIGHT = Criterion("right", "Why right?", is_text=True, asked_if=Condition("answer", is_=("a", "b")))


@pytest.mark.parametrize(
    ("given", "answer", "asked"),
    [
        ({}, None, {"fluent"}),
        ({"fluent": "yes"}, "c", {"fluent"}),
        ({"fluent": "no"}, "a", {"fluent", "faults", "right"}),
        ({"fluent": "no", "faults": ["grammar"]}, "", {"fluent", "faults"}),
        ({"fluent": "no", "faults": ["grammar", "other"]}, "", {"fluent", "faults", "which"}),
        # What was ticked before the first answer was changed asks for nothing more.
        ({"fluent": "yes", "faults": ["other"], "which": "x"}, "b", {"fluent", "right"}),
        ({"fluent": ["no"], "faults": "other"}, ["a"], {"fluent", "faults", "which", "right"}),
        ({"fluent": {"no": 1}, "faults": None}, 5, {"fluent"}),
    ],
)
def test_what_is_asked_follows_the_answers(given, answer, asked) -> None:
    assert asked_keys((FLUENT, FAULTS, WHICH, RIGHT), given=given, answer=answer) == asked


def test_an_output_question_called_answer_is_no_answer_of_the_item() -> None:
    own = replace(FLUENT, key="answer")
    why = replace(WHICH, asked_if=Condition("answer", is_=("no",)))
    assert asked_keys((own, why), given={"answer": "no"}, answer="") == {"answer", "which"}


CONDITION = "asked_if: {question: fluent, is: [no, weak_no]}"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (
            CONDITION,
            "asked_if: {question: fluency, is: [no]}",
            "line 25: Criterion 'severity', asked_if, question: there is no earlier question 'fluency'.",
        ),
        (
            CONDITION,
            "asked_if: {question: preference, is: [no]}",
            "line 25: Criterion 'severity', asked_if, question: there is no earlier question 'preference'.",
        ),
        (
            CONDITION,
            "asked_if: {question: severity, is: [1]}",
            "line 25: Criterion 'severity', asked_if, question: 'severity' can't depend on its own answer.",
        ),
        (
            CONDITION,
            "asked_if: {question: faults, ticked: [grammar]}",
            "line 25: Criterion 'severity', asked_if, question: 'faults' is asked later than 'severity'.",
        ),
        (
            CONDITION,
            "asked_if: {question: hard, is: [no]}",
            "line 25: Criterion 'severity', asked_if, question: 'hard' is about the item, which is asked after what is "
            "about each output.",
        ),
        (
            "asked_if: {question: answer, is: [b]}",
            "asked_if: {question: fluent, is: [no]}",
            "line 45: Criterion 'hard', asked_if, question: 'fluent' is about each output, and 'hard' about the item.",
        ),
        (
            "asked_if: {question: hard, is: [yes]}",
            "asked_if: {question: why_hard, is: [yes]}",
            "line 51: Criterion 'why_hard', asked_if, question: 'why_hard' can't depend on its own answer.",
        ),
        (
            CONDITION,
            "asked_if: {question: fluent, is: [no, maybe]}",
            "line 25: Criterion 'severity', asked_if, is: 'fluent' has no choice 'maybe'. Its choices are: "
            "yes, weak_no, no.",
        ),
        (
            CONDITION,
            "asked_if: {question: fluent, ticked: [no]}",
            "line 25: Criterion 'severity', asked_if, ticked: 'fluent' is no checklist: write “is” for “ticked”.",
        ),
        (
            CONDITION,
            "asked_if: {question: fluent}",
            "line 25: Criterion 'severity', asked_if, is: which answers to 'fluent'? Name them under “is”.",
        ),
        (
            "asked_if: {question: faults, ticked: [other]}",
            "asked_if: {question: faults, is: [other]}",
            "line 40: Criterion 'which', asked_if, is: 'faults' is a checklist: write “ticked” for “is”.",
        ),
        (
            "asked_if: {question: faults, ticked: [other]}",
            "asked_if: {question: faults, ticked: [style]}",
            "line 40: Criterion 'which', asked_if, ticked: 'faults' has no choice 'style'. Its choices are: "
            "grammar, other.",
        ),
        (
            "asked_if: {question: answer, is: [b]}",
            "asked_if: {question: answer, is: [z]}",
            "line 45: Criterion 'hard', asked_if, is: 'answer' has no choice 'z'. Its choices are: a, b.",
        ),
        (
            "  choices: [{value: a, label: First}, {value: b, label: Second}]\n",
            "  is_ordered: true\n",
            "line 45: Criterion 'hard', asked_if, question: each item brings its own answers, so that no condition can "
            "name one.",
        ),
        (
            "headline: fluent",
            "headline: severity",
            "line 9: The headline 'severity' is not asked about every output.",
        ),
        (CONDITION, "asked_if: fluent", "line 25: criteria 2, asked_if: Here belong keys with values."),
        (
            CONDITION,
            "asked_if: {question: fluent, is: no}",
            "line 25: criteria 2, asked_if, is: Here belongs a list, a line with “- ” for each.",
        ),
        (
            CONDITION,
            "asked_if: {question: fluent, iss: [no]}",
            "line 25: criteria 2, asked_if, iss: There is no such key. Do you mean “is”?",
        ),
        (CONDITION, "asked_if: {is: [no]}", "line 25: criteria 2, asked_if: “question” is missing."),
    ],
)
def test_a_condition_that_cannot_be(old: str, new: str, problem: str) -> None:
    assert old in DOCUMENT
    with pytest.raises(DocumentError) as caught:
        read(DOCUMENT.replace(old, new, 1), name="edits.yaml")
    assert caught.value.problems == [f"edits.yaml, {problem}"]


def test_no_condition_names_what_is_written() -> None:
    document = DOCUMENT.replace(
        "asked_if: {question: hard, is: [yes]}", "asked_if: {question: remark, is: [x]}"
    )
    document = document.replace("  - key: hard\n", REMARK + "  - key: hard\n")
    with pytest.raises(DocumentError) as caught:
        read(document, name="edits.yaml")
    assert caught.value.problems == [
        "edits.yaml, line 56: Criterion 'why_hard', asked_if, question: 'remark' is written, so that no condition can "
        "name its answers."
    ]


REMARK = """\
  - key: remark
    label: A remark?
    is_text: true
    is_optional: true
    per_output: false
"""


def test_a_snapshot_says_of_conditions_where_there_are_some() -> None:
    definition = read(DOCUMENT, name="edits.yaml")
    stored = json.loads(json.dumps(definition.to_snapshot()))
    assert Definition.from_snapshot(stored) == definition
    assert [criterion["key"] for criterion in stored["criteria"] if "asked_if" in criterion] == [
        "severity",
        "faults",
        "which",
        "hard",
        "why_hard",
    ]
