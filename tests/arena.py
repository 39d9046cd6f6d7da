"""A study of answers by any number of systems, of which HITs show what their design draws."""

from typing import Any

from annotators.models import Assignment
from surveys.answering.answer_copy import ItemAnswer
from surveys.answering.collection import save_answers
from surveys.models import Batch, Protocol, Survey
from surveys.studies.importing.reading import read_items
from surveys.studies.importing.writing import write_items
from tests.factories import make_draft, open_batch, open_for

PROTOCOL = """
protocol: arena
name: Arena
version: 1
title: Which answer is better?
question_label: Question
output_label: Answer {n}
outputs_per_item: 2
is_drawn: true
items_per_hit: 5
pictures: none
headline: better
criteria: []
preference:
  key: better
  label: Which answer is better?
  output_label: Answer {n}
  none_label: About the same
  is_none_between: true
instructions:
  summary: You will see questions, each with two answers.
  steps:
    - Choose the better answer.
"""


def long_csv(*, n_items: int, systems: tuple[str, ...]) -> bytes:
    rows = [
        f"q{n},What is {n}?,{system},It is {n} says {system}." for n in range(n_items) for system in systems
    ]
    return "\n".join(["item_id,question,system,explanation", *rows]).encode()


def make_arena(
    *,
    n_items: int = 5,
    systems: tuple[str, ...] = ("a", "b", "c", "d"),
    document: str = PROTOCOL,
    **terms: Any,
) -> Batch:
    """Return a draft whose items have an output by each system."""
    protocol = Protocol.objects.create(key="arena", version=1, name="Arena", document=document)
    survey = Survey.objects.create(
        name="Arena", slug="arena", definition_key="arena", protocol=protocol, is_shared=True
    )
    plan = read_items(long_csv(n_items=n_items, systems=systems), definition=survey.definition)
    assert plan.problems == ()
    write_items(plan, survey=survey, pictures=None)
    nothing = {"rules": [], "reject_at": None}
    return make_draft(survey, **{"items_per_hit": 5, "review_policy": nothing, **terms})


def judge(batch: Batch, *, raters: int = 3) -> None:
    """Publish a draft and have every HIT done: the answer by the earlier system is better, of a's and b's neither."""
    for questionnaire in open_batch(batch):
        for _ in range(raters):
            hand_in(open_for(questionnaire))


def hand_in(assignment: Assignment) -> None:
    responses = assignment.responses.select_related("item").prefetch_related("item__outputs")
    assert save_answers(assignment, answers=[_answer(response) for response in responses])
    Assignment.objects.filter(pk=assignment.pk).update(
        status="Submitted", accepted_at=assignment.loaded_at, submitted_at=assignment.loaded_at
    )


def _answer(response: Any) -> ItemAnswer:
    shown = sorted(response.shown_outputs, key=lambda output: output.system)
    is_tie = [output.system for output in shown[:2]] == ["a", "b"]
    return ItemAnswer(
        position=response.position,
        ratings={output.code: {} for output in shown},
        preference="" if is_tie else shown[0].code,
    )
