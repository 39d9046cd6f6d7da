"""What a new survey type can begin with: documents of our own wording, each with three items."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from surveys.protocols.definition import Definition
from surveys.protocols.uploads import read

FOLDER = Path(__file__).parent
ORDER = (
    "pairwise", "arena", "ranking", "best-worst", "likert", "summaries", "translation", "dialogue", "captions",
)  # as a page offers them  # fmt: skip


@dataclass(frozen=True, slots=True)
class Template:
    """A document to begin with, and a few items of it as a file."""

    key: str
    document: str
    items: str

    @property
    def definition(self) -> Definition:
        return read(self.document, name=f"{self.key}.yaml")


@cache
def templates() -> dict[str, Template]:
    """Return all templates by name."""
    return {key: Template(key, _text(f"{key}.yaml"), _text(f"{key}.csv")) for key in ORDER}


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
