import json
from dataclasses import replace

import pytest

from surveys.protocols.criteria import AnswerQuestion, Choice, Criterion, Preference
from surveys.protocols.definition import Definition, DefinitionError, Instructions
from surveys.protocols.registry import DEFINITIONS, get_definition
from tests.protocols import ESNLIVE, VCR, VQAX

SCALE = Criterion(key="good", label="Good?", choices=(Choice("yes", "Yes", 1.0), Choice("no", "No", 0.0)))
LIST = Criterion(
    key="wrong",
    label="Wrong?",
    choices=(Choice("spelling", "Spelling"), Choice("none", "None")),
    is_checklist=True,
    exclusive="none",
)
PLAIN = Definition(
    key="plain",
    name="Plain",
    version=1,
    title="Judge",
    question_label="Question",
    output_label="Text {n}",
    outputs_per_item=2,
    criteria=(SCALE, LIST),
    headline="good",
    instructions=Instructions(summary="Read.", steps=("One.",)),
    answer=AnswerQuestion(label="Which?"),
    preference=Preference(key="preference", label="Better?", output_label="Text {n}", none_label="Neither"),
)


@pytest.mark.parametrize("definition", [*DEFINITIONS.values(), PLAIN], ids=lambda d: d.key)
def test_a_snapshot_rebuilds_the_definition(definition: Definition) -> None:
    stored = json.loads(json.dumps(definition.to_snapshot()))
    rebuilt = Definition.from_snapshot(stored)
    assert rebuilt == definition
    assert rebuilt.to_snapshot() == definition.to_snapshot()


def test_a_snapshot_without_question_or_preference_rebuilds() -> None:
    bare = replace(PLAIN, answer=None, preference=None, outputs_per_item=1)
    assert Definition.from_snapshot(json.loads(json.dumps(bare.to_snapshot()))) == bare


def test_a_snapshot_keeps_what_the_code_forgets() -> None:
    stored = PLAIN.to_snapshot()
    stored["criteria"][0]["label"] = "Good, then?"
    assert Definition.from_snapshot(stored).criterion("good").label == "Good, then?"


def test_a_criterion_that_isnt_there_is_a_key_error() -> None:
    with pytest.raises(KeyError, match="bad"):
        PLAIN.criterion("bad")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"criteria": (SCALE, replace(LIST, key="good"))}, "two questions are called 'good'."),
        ({"criteria": (SCALE, replace(LIST, key="preference"))}, "two questions are called 'preference'."),
        ({"criteria": (SCALE, replace(LIST, key="answer"))}, "two questions are called 'answer'."),
        ({"headline": "fun"}, "the headline 'fun' is not one of its criteria."),
        ({"outputs_per_item": 1}, "a preference needs at least two outputs to compare."),
        (
            {"criteria": (replace(SCALE, choices=SCALE.choices * 2),)},
            "criterion 'good' lists a value twice.",
        ),
        (
            {"criteria": (SCALE, replace(LIST, exclusive="nothing"))},
            "criterion 'wrong' has no choice 'nothing' to be exclusive.",
        ),
        (
            {"criteria": (replace(SCALE, choices=(Choice("yes", "Yes", 1.0), Choice("so", "So"))),)},
            "criterion 'good' has choices without a score.",
        ),
        ({"headline": "wrong"}, "the headline 'wrong' is a checklist, which has no mean."),
        (
            {"criteria": (replace(SCALE, per_output=False),)},
            "the headline 'good' is about the item, so it can't compare systems.",
        ),
    ],
)
def test_a_contradiction_is_refused(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(DefinitionError) as caught:
        replace(PLAIN, **changes)
    assert str(caught.value) == f"Survey type 'plain': {sentence}"


def test_the_registry_knows_each_definition_by_its_key() -> None:
    assert {key: definition.key for key, definition in DEFINITIONS.items()} == {
        key: key for key in DEFINITIONS
    }
    assert (get_definition("evil-vqax"), get_definition("evil-vcr")) == (VQAX, VCR)


def test_an_unknown_key_names_the_known_ones() -> None:
    with pytest.raises(DefinitionError) as caught:
        get_definition("fun")
    assert str(caught.value) == f"Unknown survey type 'fun'; known: {', '.join(DEFINITIONS)}."


def test_the_published_e_vil_scale_and_checklist() -> None:
    justifies, shortcomings = VQAX.criteria
    assert VQAX.preference is not None
    assert (VQAX.preference.is_none_between, VQAX.preference.none_label) == (True, "No preference")
    assert [(c.value, c.label, c.score) for c in justifies.choices] == [
        ("yes", "Yes", 1.0),
        ("weak_yes", "Weak yes", 2 / 3),
        ("weak_no", "Weak no", 1 / 3),
        ("no", "No", 0.0),
    ]
    assert [choice.label for choice in shortcomings.choices] == [
        "Incorrect description of the image",
        "Insufficient justification",
        "Confusing sentence",
    ]
    assert (shortcomings.is_checklist, shortcomings.is_optional, shortcomings.exclusive) == (True, True, "")
    assert justifies.label == "Does the explanation justify the answer given above?"


def test_the_three_variants_share_one_screen() -> None:
    for variant in (VQAX, ESNLIVE, VCR):
        assert (variant.criteria, variant.preference) == (VQAX.criteria, VQAX.preference)
        assert (variant.outputs_per_item, variant.items_per_hit, variant.headline) == (2, 5, "justifies")
    assert ESNLIVE.answer is not None
    assert [choice.value for choice in ESNLIVE.answer.choices] == ["entailment", "neutral", "contradiction"]
    assert [d.answer.is_ordered for d in (VQAX, ESNLIVE, VCR) if d.answer] == [False, True, False]


def test_a_scales_score() -> None:
    assert [SCALE.score("yes"), SCALE.score("no")] == [1.0, 0.0]
    for unknown in ("maybe", ""):
        with pytest.raises(KeyError):
            SCALE.score(unknown)
    with pytest.raises(KeyError):
        LIST.score("none")


def test_criteria_about_outputs_and_about_the_item() -> None:
    about_item = replace(LIST, per_output=False)
    mixed = replace(PLAIN, criteria=(SCALE, about_item))
    assert (mixed.output_criteria, mixed.item_criteria) == ((SCALE,), (about_item,))


@pytest.mark.parametrize(
    ("key", "word"),
    [("evil-vqax", "Question"), ("evil-esnlive", "Statement"), ("xai", "Explanation"), ("vtt", "Texts")],
)
def test_an_item_is_counted_by_a_word_of_its_survey_type(key: str, word: str) -> None:
    """The label of XAI's question is a sentence: what stands on its page as one word is its output."""
    assert get_definition(key).item_word == word
