"""What simulated workers know of the world: the item file, never the app."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from surveys.protocols.definition import Definition
from surveys.rehearsal.hit_page import ItemView, UnexpectedPage, item_key
from surveys.studies.importing.plan import PlannedItem
from surveys.studies.importing.reading import read_items


class Knowledge:
    """The right answers, found by what an item shows: its question, its choices and its outputs.

    Items that show the same but differ in their picture can't be told apart here; the first one counts.
    """

    def __init__(self, items: Iterable[PlannedItem], *, definition: Definition) -> None:
        fixed = definition.answer.choices if definition.answer else ()
        self._gold: dict[str, list[str]] = defaultdict(list)
        for item in items:
            labels = [choice.label for choice in fixed] or [choice["label"] for choice in item.choices]
            texts = [output.text for output in item.outputs]
            self._gold[item_key(item.question, labels=labels, texts=texts)].append(item.gold)

    @classmethod
    def of_file(cls, path: Path, *, definition: Definition) -> Self:
        plan = read_items(path.read_bytes(), definition=definition, system="model")
        return cls(plan.items, definition=definition)

    def right_answer(self, item: ItemView) -> str:
        """Return the value of the right answer, "" if there is none. Raises UnexpectedPage for an unknown item."""
        if item.key not in self._gold:
            raise UnexpectedPage(f"The page shows an item that is not in the file: {item.question!r}")
        return self._gold[item.key][0]
