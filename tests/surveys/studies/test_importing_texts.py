"""Items that are texts: a survey type says whether there are pictures."""

from dataclasses import replace

import pytest

from surveys.protocols.definition import Definition, Pictures
from surveys.studies.importing.reading import read_items
from tests.protocols import VQAX, XAI
from tests.surveys.studies.importing_cases import batch_csv, jsonl, long_csv, slot

ROWS = [
    {"item_id": "a", "label": "boat", "explanation": "It floats.", "system": "m", "image": "a.png"},
    {"item_id": "b", "label": "barn", "explanation": "It has a roof.", "system": "m", "image": ""},
]


def of_kind(definition: Definition, pictures: Pictures) -> Definition:
    return replace(definition, pictures=pictures)


def pictures_of(data: bytes, definition: Definition) -> tuple[list[list[str]], list[str]]:
    plan = read_items(data, definition=definition)
    named = [[picture.name for picture in item.pictures] for item in plan.items]
    return named, [f"{problem.column}: {problem.message}" for problem in plan.problems]


@pytest.mark.parametrize("write", [long_csv, jsonl])
@pytest.mark.parametrize(("pictures", "named"), [("optional", [["a.png"], []]), ("none", [[], []])])
def test_one_row_an_output(write, pictures: Pictures, named: list[list[str]]) -> None:
    assert pictures_of(write(ROWS), of_kind(XAI, pictures)) == (named, [])
    bare = [{name: text for name, text in row.items() if name != "image"} for row in ROWS]
    assert pictures_of(write(bare), of_kind(XAI, pictures)) == ([[], []], [])


def test_where_pictures_are_needed_a_row_without_is_refused() -> None:
    assert pictures_of(long_csv(ROWS), XAI)[1] == ["image: The cell is empty."]


@pytest.mark.parametrize(("pictures", "named"), [("optional", [[], ["2.png"]]), ("none", [[], []])])
def test_a_batch_csv(pictures: Pictures, named: list[list[str]]) -> None:
    slots = [{**slot(1), "img_name": ""}, slot(2)]
    assert pictures_of(batch_csv(slots), of_kind(VQAX, pictures)) == (named, [])
    bare = batch_csv(slots, without=("img_name_0", "img_name_1"))
    assert pictures_of(bare, of_kind(VQAX, pictures)) == ([[], []], [])
