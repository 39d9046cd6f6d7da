"""What an item shows beside its own pictures: texts and files by columns of the item file, in the protocol's order."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["text", "conversation", "table", "pictures", "audio", "video"]
FILES = {"pictures": "picture", "audio": "audio", "video": "video"}
OutputKind = Literal["text", "pictures", "audio", "video"]
Format = Literal["plain", "markdown"]
OF_OUTPUT = ":"  # begins where a file is of an output, and no block: its system follows
COLUMN = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
# What columns of a file mean by their names: those of the answer key must never be shown, and no other is a block's.
TAKEN = re.compile(
    r"item_id|index|sample_idx|id|system|exp|images?|question|statement|label|answer|choices|explanation|text|steps|preds"
    r"|references?|output_answer|model_correct|check",
    re.IGNORECASE,
)
LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")
NAMED = re.compile(r"(?P<name>[^\s:][^:]{0,39}):(?:\s+(?P<text>.*))?")
MOST_TEXT = 20_000


class Part(NamedTuple):
    """A paragraph, or what one speaker or one row of a table says under its name."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """A column of the item file, shown under `label` as it is written or, a text in the `format` markdown, as that.

    A `text` is paragraphs, with an empty line between them. A `conversation` has its turns and a `table` its rows in
    lines `Name: text`; a line that has no name, or begins with a blank, continues the one before. `is_beside` puts it
    beside the block before it where there is room. `lang` is the language of its texts (BCP 47).

    `pictures`, `audio` and `video` name files, in one cell with | between them or in a JSON list.
    """

    column: str
    kind: Kind = "text"
    label: str = ""
    lang: str = ""
    is_beside: bool = False
    format: Format = "plain"

    @property
    def file_kind(self) -> str:
        """Return what its files are, one of FILES; empty where its cells are texts."""
        return FILES.get(self.kind, "")

    @property
    def is_markdown(self) -> bool:
        return self.format == "markdown"

    def parts(self, text: str) -> tuple[Part, ...]:
        """Return what a cell of the column says, part by part; nothing for an empty one. Markdown is one part."""
        plain = text.replace("\r\n", "\n").strip()
        if self.is_markdown:
            return (Part("", plain),) if plain else ()
        if self.kind == "text":
            return tuple(Part("", one.strip("\n")) for one in re.split(r"\n\s*\n", plain) if one)
        return tuple(_named(plain))


def headed(blocks: Iterable[Block], cells: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return (heading, cell) of those blocks that say anything, by the cells of their columns."""
    return [
        (block.label or block.column, cell)
        for block in blocks
        if (cell := cells.get(block.column, "").strip())
    ]


def _named(text: str) -> list[Part]:
    parts: list[Part] = []
    for line in filter(str.strip, text.split("\n")):
        named = None if line[0].isspace() else NAMED.fullmatch(line.rstrip())
        if named:
            parts.append(Part(named["name"].strip(), (named["text"] or "").strip()))
        elif parts:
            last = parts.pop()
            parts.append(last._replace(text="\n".join(filter(None, [last.text, line.strip()]))))
        else:
            parts.append(Part("", line.strip()))
    return parts
