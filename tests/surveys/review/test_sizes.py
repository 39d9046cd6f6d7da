"""How much an item asks somebody to read and to answer."""

from dataclasses import replace

import pytest

from surveys.protocols.blocks import Block
from surveys.protocols.conditions import Condition
from surveys.review.evidence import Size, sizes_of
from tests.factories import make_item, make_survey
from tests.protocols import XAI


@pytest.mark.django_db
def test_what_stands_in_blocks_is_read_too() -> None:
    payload = {"question": "Which?", "blocks": {"article": "word " * 300, "not shown": "word"}}
    item = make_item(make_survey(), systems=("lime",), choices=(), payload=payload)
    definition = replace(XAI, blocks=(Block("article"),))
    n_words = 301 + len(item.outputs.get().text.split())
    assert sizes_of([item.pk], definition=definition) == {item.pk: Size(n_words, 0, 5)}


@pytest.mark.django_db
def test_what_only_some_are_asked_takes_the_others_no_time() -> None:
    item = make_item(make_survey(), systems=("lime",), choices=())
    first, second, *others = XAI.criteria
    second = replace(second, asked_if=Condition(first.key, is_=first.values[:1]))
    definition = replace(XAI, criteria=(first, second, *others))
    sizes = [sizes_of([item.pk], definition=one)[item.pk].n_inputs for one in (XAI, definition)]
    assert sizes == [5, 4]
