"""Survey types invented for tests: a sequence that can be skipped, with rubrics and a remark."""

from dataclasses import replace
from typing import Any

from annotators.models import Assignment
from surveys.answering.answer_copy import ItemAnswer
from surveys.models import Questionnaire
from surveys.protocols.criteria import Choice, Criterion
from surveys.protocols.definition import Definition, Instructions
from tests.factories import make_batch, make_hit, make_item, make_questionnaire, make_survey
from tests.policy_data import NEVER

LEVELS = tuple(Choice(str(n), str(n), float(n), f"Level {n} in words.") for n in (1, 2, 3))
TALE = Definition(
    key="tale",
    name="Tale",
    version=1,
    title="Judge a tale in pictures",
    question_label="",
    output_label="What happens",
    outputs_per_item=1,
    criteria=(
        Criterion("flow", "Does it flow?", LEVELS),
        Criterion("remark", "What struck you?", is_text=True),
    ),
    headline="flow",
    instructions=Instructions("Look.", ("Judge.",), reminder="A sad end is no fault."),
    items_per_hit=1,
    is_sequence=True,
    skip_reasons=(Choice("dark", "Too dark"), Choice("other", "Something else")),
)


def make_tale(**changes: Any) -> Questionnaire:
    """One item of three states and two transformations on one HIT, published."""
    survey = make_survey()
    item = make_item(survey, choices=(), gold="", systems=("teller",), payload={})
    item.outputs.update(text="A seed is sown.\nA tree grows.")
    for position in (1, 2, 3):
        item.pictures.create(position=position, name=f"s{position}.png", width=40, height=30)
    batch = make_batch(
        survey,
        snapshot=replace(TALE, **changes).to_snapshot(),
        items_per_hit=1,
        review_policy=NEVER,
    )
    return make_questionnaire(batch, items=[item], hit=make_hit())


def tale_answer(assignment: Assignment, *, flow: str = "3", remark: str = "Nice.") -> ItemAnswer:
    code = assignment.responses.get().item.outputs.get().code
    return ItemAnswer(1, ratings={code: {"flow": flow, "remark": remark}})
