"""Why Assent refused: an exception for each kind of problem (RFC 9457), with the place in a file where one is wrong."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

PREFIX = "urn:assent:problem:"


@dataclass(frozen=True, slots=True)
class Mistake:
    """One thing that is wrong: in a field, or at a place in a file. `row` counts data rows from 1, `line` lines."""

    detail: str
    severity: str = "error"
    field: str | None = None
    row: int | None = None
    line: int | None = None
    column: str | None = None

    def __str__(self) -> str:
        place = [f"{name} {value}" for name, value in self._place() if value is not None]
        return f"{', '.join(place)}: {self.detail}" if place else self.detail

    def _place(self) -> list[tuple[str, object]]:
        return [("row", self.row), ("line", self.line), ("column", self.column), ("field", self.field)]


class AssentError(Exception):
    """A request that Assent refused; nothing was done. `status` is HTTP's, 0 where no answer came.

    `wait`: after how many seconds it is worth asking again, 0 where Assent does not say.
    """

    def __init__(
        self,
        detail: str,
        *,
        status: int = 0,
        kind: str = "",
        mistakes: tuple[Mistake, ...] = (),
        wait: float = 0,
    ) -> None:
        self.detail, self.status, self.kind, self.mistakes = detail, status, kind, mistakes
        self.wait = wait
        super().__init__("\n".join([detail, *map(str, mistakes)]))


class NotSignedIn(AssentError):
    """The token is wrong, revoked or expired."""


class NotAllowed(AssentError):
    """Your role does not do this, or the token only reads."""


class NotFound(AssentError):
    """There is no such thing, or it is not yours to see."""


class Invalid(AssentError):
    """What was sent is wrong; `mistakes` name the fields."""


class FileRefused(Invalid):
    """A file can't be imported as it is; `mistakes` name rows and columns."""


class Conflict(AssentError):
    """It can't be done as things stand."""


class TooManyRequests(AssentError):
    """The token asks too often."""


class Unreachable(AssentError):
    """No answer came. What was asked may have been done: asked again with the same key, it is done once."""


KINDS: dict[str, type[AssentError]] = {
    "not-signed-in": NotSignedIn,
    "not-allowed": NotAllowed,
    "not-found": NotFound,
    "malformed": Invalid,
    "invalid": Invalid,
    "rows": FileRefused,
    "refused": Conflict,
    "key-in-use": Conflict,
    "key-reused": Conflict,
    "too-many": TooManyRequests,
}


def error_of(status: int, problem: Mapping[str, Any], *, wait: float = 0) -> AssentError:
    """Return the exception for an answer's problem; one of a kind that is not known is an AssentError."""
    kind = str(problem.get("type", "")).removeprefix(PREFIX)
    mistakes = tuple(map(mistake_of, problem.get("errors", ())))
    detail = str(problem.get("detail") or problem.get("title") or f"Status {status}.")
    return KINDS.get(kind, AssentError)(detail, status=status, kind=kind, mistakes=mistakes, wait=wait)


def mistake_of(data: Mapping[str, Any]) -> Mistake:
    """Return one mistake of an answer; keys that this version does not know are left out."""
    known = Mistake.__dataclass_fields__
    return Mistake(**{name: value for name, value in data.items() if name in known})
