"""The built-in survey types: the files in `builtin/` and nothing else. Pure Python, usable in a notebook.

A new one is one file beside these and its name in ORDER.
"""

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


DEFINITIONS: dict[str, Definition] = {key: _read(key) for key in ORDER}


def get_definition(key: str) -> Definition:
    """Return the definition registered under `key`; MissingTypeError names the known ones."""
    try:
        return DEFINITIONS[key]
    except KeyError:
        raise MissingTypeError(f"Unknown survey type {key!r}; known: {', '.join(DEFINITIONS)}.") from None
