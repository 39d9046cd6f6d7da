"""Survey types. Each is one small frozen dataclass; pure Python, usable in a notebook.

A new survey type is one file beside these and one line in DEFINITIONS.
"""

from surveys.protocols.definition import (
    AnswerQuestion,
    Choice,
    Criterion,
    Definition,
    DefinitionError,
    Instructions,
    Preference,
    QuizQuestion,
    WorkedExample,
)
from surveys.protocols.evil import ESNLIVE, VCR, VQAX
from surveys.protocols.vtt import VTT
from surveys.protocols.xai import XAI

DEFINITIONS: dict[str, Definition] = {d.key: d for d in (VQAX, ESNLIVE, VCR, XAI, VTT)}


def get_definition(key: str) -> Definition:
    """Return the definition registered under `key`; DefinitionError names the known ones."""
    try:
        return DEFINITIONS[key]
    except KeyError:
        raise DefinitionError(f"Unknown survey type {key!r}; known: {', '.join(DEFINITIONS)}.") from None


__all__ = [
    "DEFINITIONS",
    "AnswerQuestion",
    "Choice",
    "Criterion",
    "Definition",
    "DefinitionError",
    "Instructions",
    "Preference",
    "QuizQuestion",
    "WorkedExample",
    "get_definition",
]
