"""What the protocols fix, and what their pages must not suggest."""

import re

import pytest

from surveys.protocols.definition import Definition
from surveys.protocols.languages import gaps, in_language, texts_of
from surveys.protocols.registry import DEFINITIONS
from surveys.studies.importing.pictures import check_picture
from tests.policy_data import NEVER
from tests.protocols import ESNLIVE, VCR, VQAX, VTT, XAI

SCORES = [("1", 1.0), ("2", 2.0), ("3", 3.0), ("4", 4.0), ("5", 5.0)]


def test_the_types_are_registered_in_the_order_of_the_choice() -> None:
    assert list(DEFINITIONS) == ["evil-vqax", "evil-esnlive", "evil-vcr", "xai", "vtt"]


def test_the_five_criteria_of_the_xai_survey() -> None:
    assert [(c.key, c.label) for c in XAI.criteria] == [
        ("fluency", "Fluency"),
        ("clarity", "Clarity"),
        ("convincing", "Convincing"),
        ("reflecting_decision_process", "Reflecting the decision process"),
        ("overall_quality", "Overall quality"),
    ]
    assert [c.help[-1] for c in XAI.criteria] == ["?"] * 5


@pytest.mark.parametrize("criterion", XAI.criteria, ids=lambda c: c.key)
def test_an_xai_scale_has_a_number_and_words_for_each_level(criterion) -> None:
    assert [(choice.value, choice.score) for choice in criterion.choices] == SCORES
    assert [choice.label for choice in criterion.choices] == ["1", "2", "3", "4", "5"]
    assert len({choice.description for choice in criterion.choices} - {""}) == 5


def test_the_three_rubrics_of_vtt() -> None:
    assert [(c.key, c.aliases) for c in VTT.criteria] == [
        ("fluency", ()),
        ("relevance", ()),
        ("logical_consistency", ("logical_soundness",)),
    ]
    for criterion in VTT.criteria:
        assert [(choice.value, choice.score) for choice in criterion.choices] == SCORES[::-1]
        assert len({choice.description for choice in criterion.choices} - {""}) == 5


def test_what_the_protocols_fix() -> None:
    for definition in (XAI, VTT):
        assert (definition.outputs_per_item, definition.answer, definition.preference) == (1, None, None)
        assert definition.review_policy == NEVER
        assert definition.good_from == 4.0
    assert (XAI.is_sequence, XAI.skip_reasons, VTT.is_sequence, VTT.items_per_hit) == (False, (), True, 1)
    assert [reason.value for reason in VTT.skip_reasons] == [
        "image_missing",
        "image_unrelated",
        "text_missing",
        "other",
    ]


def test_the_quiz_asks_three_questions_and_explains_each() -> None:
    assert [(q.answer, len(q.choices)) for q in XAI.quiz] == [
        ("no_effect", 3),
        ("convincing_only", 3),
        ("seen", 3),
    ]
    assert all(q.feedback for q in XAI.quiz)
    assert VTT.quiz == ()


def test_the_examples_part_convincing_from_reflecting_both_ways() -> None:
    verdicts = [example.verdict for example in XAI.instructions.examples]
    assert verdicts[2:] == [
        "It gives a reason, but does not reflect the decision process",
        "It reflects the decision process",
    ]
    assert [e.answer for e in XAI.instructions.examples] == ["goldfish bowl"] * 2 + ["orange"] * 2


@pytest.mark.parametrize("definition", [XAI, VTT])
def test_an_example_names_no_level_of_what_is_measured(definition: Definition) -> None:
    for example in definition.instructions.examples:
        assert re.search("[1-5]", example.verdict) is None


@pytest.mark.parametrize("definition", [VQAX, ESNLIVE, VCR])
def test_e_vils_examples_show_every_level_on_a_picture(definition: Definition) -> None:
    first, *others = definition.instructions.examples
    assert [e.verdict.partition(" · ")[0] for e in (first, *others)] == ["Yes", "Weak yes", "Weak no", "No"]
    assert (first.picture[:5], [e.picture for e in others]) == ("<svg ", ["", "", ""])
    assert (
        "An explanation that only says the answer again justifies nothing." in definition.instructions.notes
    )
    assert definition.instructions.steps[2].startswith(
        "Before you read on, think of an explanation of your own"
    )


@pytest.mark.parametrize("definition", [VQAX, ESNLIVE, VCR, XAI, VTT])
def test_every_drawing_can_be_shown(definition: Definition) -> None:
    instructions = definition.instructions
    drawings = [part.picture for part in (*instructions.background, *instructions.examples) if part.picture]
    assert [check_picture(drawing.encode()).content_type for drawing in drawings] == ["image/svg+xml"] * len(
        drawings
    )
    assert len(drawings) == {"xai": 2}.get(definition.key, 1)


def test_what_image_classification_is_comes_with_a_picture() -> None:
    first = XAI.instructions.background[0]
    assert (first.title, first.caption) == (
        "What is image classification?",
        "Label picked from the list: hen",
    )


def test_vcrs_questions_end_with_their_mark() -> None:
    assert VCR.shown_question("What is person20 doing") == "What is person20 doing?"
    assert VCR.shown_question("Why?") == "Why?"
    assert VQAX.shown_question("Name it") == "Name it"


def test_what_is_otherwise_than_published_is_told() -> None:
    assert ["colours" in d.changes[0] for d in (VQAX, ESNLIVE, VCR)] == [True] * 3
    assert ["no place of its own" in " ".join(d.changes) for d in (VQAX, ESNLIVE, VCR)] == [True, False, True]
    assert ["The side each explanation" in d.changes[-1] for d in (VQAX, ESNLIVE, VCR)] == [True] * 3


@pytest.mark.parametrize("key", DEFINITIONS)
def test_every_built_in_type_can_be_read_in_russian_without_a_gap(key: str) -> None:
    definition = DEFINITIONS[key]
    assert [(one.lang, gaps(definition, one)) for one in definition.translations] == [("ru", [])]
    russian = texts_of(in_language(definition, "ru"))
    assert [place for place, text in russian.items() if re.search("[A-Za-z]", text.replace("{n}", ""))] == []
