"""The XAI survey and VTT: what the protocols fix."""

import pytest

from surveys.protocols.registry import DEFINITIONS
from tests.policy_data import NEVER
from tests.protocols import VTT, XAI

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
    assert verdicts[2:] == ["Convincing 4 · Reflecting 1", "Convincing 2 · Reflecting 4"]
    assert [e.answer for e in XAI.instructions.examples] == ["goldfish bowl"] * 2 + ["orange"] * 2
