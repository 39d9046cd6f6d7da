"""The built-in survey types: the files in `builtin/` and nothing else. Pure Python, usable in a notebook.

A new one is one file beside these and its name in ORDER. Each is read when it is first asked for, 5 ms: a command
over one study's files needs one of them. The site reads all before it forks (`config.wsgi`).
"""

from collections.abc import Iterator, MutableMapping
from pathlib import Path

from surveys.protocols.definition import Definition, DefinitionError
from surveys.protocols.documents import read

BUILTIN = Path(__file__).parent / "builtin"
ORDER = ("evil-vqax", "evil-esnlive", "evil-vcr", "xai", "vtt")  # as a page offers them


def _read(key: str) -> Definition:
    path = BUILTIN / f"{key}.yaml"
    return read(path.read_bytes(), name=path.name)


class MissingTypeError(DefinitionError):
    """There is no survey type of this name."""


class Definitions(MutableMapping[str, Definition]):
    """Survey types by key; to know the keys, nothing is read."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self._read: dict[str, Definition | None] = dict.fromkeys(keys)

    def __getitem__(self, key: str) -> Definition:
        definition = self._read[key]
        if definition is None:
            definition = self._read[key] = _read(key)
        return definition

    def __setitem__(self, key: str, definition: Definition) -> None:
        self._read[key] = definition

    def __delitem__(self, key: str) -> None:
        del self._read[key]

    def __contains__(self, key: object) -> bool:
        return key in self._read

    def __iter__(self) -> Iterator[str]:
        return iter(self._read)

    def __len__(self) -> int:
        return len(self._read)


DEFINITIONS = Definitions(ORDER)


def get_definition(key: str) -> Definition:
    """Return the definition registered under `key`; MissingTypeError names the known ones."""
    try:
        return DEFINITIONS[key]
    except KeyError:
        raise MissingTypeError(f"Unknown survey type {key!r}; known: {', '.join(DEFINITIONS)}.") from None
