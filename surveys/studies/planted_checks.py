"""Planted checks: items whose right verdict is known beforehand.

An item is one if its row of the import has a filled column `check`: "answer" (the gold answer must be chosen) or
`criterion=value`, values apart by "|", about the only system's output or, as `system.criterion=value`, about one
of several: "justifies=no|weak_no", "ofa-x.justifies=no", "fluency=1|2". Nothing of it is ever shown, and results
leave these items out.
"""

from dataclasses import dataclass

from surveys.protocols.definition import Definition

COLUMN = "check"
ANSWER = "answer"


class CheckError(ValueError):
    """What stands in the column can't be checked; the message says why."""


@dataclass(frozen=True, slots=True)
class Check:
    """The values that pass, of a criterion, about the output of `system` ("": any output, or the item)."""

    criterion: str
    values: tuple[str, ...]
    system: str = ""

    @property
    def is_answer(self) -> bool:
        return self.criterion == ANSWER


def read_check(text: str, *, definition: Definition) -> Check:
    """Read what a row's column `check` says. CheckError if this survey type asks no such thing."""
    text = text.strip()
    if text == ANSWER:
        if definition.answer is None:
            raise CheckError("this survey type asks for no answer.")
        return Check(ANSWER, ())
    check = _parts(text)
    _check_values(check, definition=definition)
    return check


def _parts(text: str) -> Check:
    name, _, values = text.partition("=")
    system, _, key = name.strip().rpartition(".")
    wanted = tuple(value.strip() for value in values.split("|") if value.strip())
    if not wanted:
        raise CheckError(f"{text!r} is neither 'answer' nor 'criterion=value'.")
    return Check(key, wanted, system)


def _check_values(check: Check, *, definition: Definition) -> None:
    allowed = {criterion.key: criterion.values for criterion in definition.criteria if criterion.is_scale}
    if check.criterion not in allowed:
        raise CheckError(f"{check.criterion!r} is no scale of this survey type.")
    if definition.criterion(check.criterion).asked_if:
        raise CheckError(f"{check.criterion!r} is not asked of everybody.")
    if unknown := [value for value in check.values if value not in allowed[check.criterion]]:
        raise CheckError(f"{unknown[0]!r} is no value of {check.criterion!r}.")
