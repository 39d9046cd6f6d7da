"""What the lines of a log are about: the request or task at hand, and the assignment, HIT and batch it works on."""

from collections.abc import Mapping
from contextvars import ContextVar, Token

Facts = Mapping[str, object]

_facts: ContextVar[Facts] = ContextVar("log_facts", default={})  # noqa: B039 (never changed, only replaced)


def facts() -> Facts:
    """Return what is known about the work at hand, to be written on every line."""
    return _facts.get()


def bind(**known: object) -> None:
    """Add what has become known: numbers and HITIds, never a worker's id, a token or an answer."""
    _facts.set({**_facts.get(), **known})


def begin(**known: object) -> Token[Facts]:
    """Forget what was known and begin anew; `end` with what this returns brings it back."""
    return _facts.set(known)


def end(token: Token[Facts]) -> None:
    _facts.reset(token)
