"""How much there is to read and to answer about an item."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import Count

from surveys.models import Item, Output
from surveys.protocols.definition import Definition


@dataclass(frozen=True, slots=True)
class Size:
    """Words and pictures one item shows, and inputs it asks for."""

    n_words: int
    n_pictures: int
    n_inputs: int


def sizes_of(items: Collection[int], *, definition: Definition) -> dict[int, Size]:
    """Return the size of each of these items, in two queries."""
    said: dict[int, list[str]] = {}
    for item, text in Output.objects.filter(item__in=items).values_list("item", "text"):
        said.setdefault(item, []).append(text)
    shown = Item.objects.filter(pk__in=items).annotate(n=Count("pictures"))
    sizes = {}
    for pk, question, choices, n_pictures in shown.values_list("pk", "payload__question", "choices", "n"):
        outputs = said.get(pk, [])
        texts = [question or "", *(choice["label"] for choice in choices), *outputs]
        sizes[pk] = Size(
            sum(len(text.split()) for text in texts), n_pictures, _inputs(definition, len(outputs))
        )
    return sizes


def _inputs(definition: Definition, n_outputs: int) -> int:
    asked_once = [definition.answer, definition.preference, *definition.item_criteria]
    return sum(question is not None for question in asked_once) + n_outputs * len(definition.output_criteria)
