"""Cells of JSON that say the same things again and again, each thing parsed once.

Thousands of cells hold a few hundred distinct `"key":{"option":true,..}` parts. A compact cell is cut where one
part ends and the next begins, and every distinct part is parsed by itself. That is exact: if each part is valid as
an object of its own, the cell is the object with all their members. Anything else is parsed whole.
"""

import json
from typing import Any

START, CUT, END = '[{"', '},"', "}}]"


class Options:
    """{option: bool}, judged once: `selected` is the true one or None, `problem` why there is no such thing."""

    __slots__ = ("given", "problem", "selected")

    def __init__(self, given: dict[str, Any]) -> None:
        chosen = [option for option, is_on in given.items() if is_on is not False]
        self.given = given
        self.selected: str | None = chosen[0] if chosen else None
        self.problem = ""
        if len(chosen) > 1:
            self.problem = f"has two options selected: {', '.join(chosen)}"
        elif chosen and given[chosen[0]] is not True:
            self.problem = f"says neither true nor false to {chosen[0]!r}"


class JsonCells:
    """A parser for lists that hold one object, whose {option: bool} members become `Options`."""

    def __init__(self) -> None:
        self._parts: dict[str, dict[str, Any]] = {}

    def __call__(self, cell: str) -> dict[str, Any] | None:
        """Return the object; None if the cell holds anything else. Raises ValueError for broken JSON."""
        if cell.startswith(START) and cell.endswith(END):
            try:
                return self._in_parts(cell)
            except ValueError:
                pass
        data = json.loads(cell)
        if not (isinstance(data, list) and len(data) == 1 and isinstance(data[0], dict)):
            return None
        return _judged(data[0])

    def _in_parts(self, cell: str) -> dict[str, Any]:
        answers: dict[str, Any] = {}
        for part in cell[len(START) : -len(END)].split(CUT):
            known = self._parts.get(part)
            if known is None:
                known = self._parts[part] = _judged(json.loads(f'{{"{part}}}}}'))
            answers.update(known)
        return answers


def _judged(members: dict[str, Any]) -> dict[str, Any]:
    return {key: Options(value) if isinstance(value, dict) else value for key, value in members.items()}
