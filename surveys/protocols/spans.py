"""Marks in a text: what a page or a marketplace's copy sends is checked against that text and put into one form.

Offsets count code points of the text as it is stored, from 0, the end excluded. A mark begins and ends between
characters as people see them (extended grapheme clusters, Unicode Standard Annex 29): one that would cut through such a
character is widened to hold it. With its offsets a mark carries the words it is about, so that one made on another
version of the text is found out; without offsets they say where it is, if they stand in the text once.
"""

import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from surveys.protocols.criteria import Spans

MOST_WRITTEN = 500_000  # characters of an answer
MOST_NOTE = 500
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # what XML 1.0 can't carry
Say = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Mark:
    """One mark: from `start` to before `end`, or of the whole text where both are None. `text` is what is marked.

    `column` names the block it is in, "" the text that is judged.
    """

    severity: str
    category: str = ""
    column: str = ""
    start: int | None = None
    end: int | None = None
    note: str = ""
    text: str = ""

    @property
    def is_whole(self) -> bool:
        return self.start is None


def read(value: str) -> tuple[Mark, ...]:
    """Return the marks of a stored value."""
    return tuple(Mark(**{str(k): v for k, v in one.items()}) for one in json.loads(value))


def written(marks: Iterable[Mark]) -> str:
    """Return marks in the one form in which they are stored: in the order of the text, without what is empty."""
    order = sorted(set(marks), key=lambda m: (m.column, m.start is not None, m.start or 0, m.end or 0, m.severity,
                                              m.category, m.note))  # fmt: skip
    plain = [{k: v for k, v in asdict(mark).items() if v not in ("", None)} for mark in order]
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def part_of(severity: str, category: str = "") -> str:
    """Return what stands in a stored value just where it has a mark of this severity and category."""
    kind = {"severity": severity, **({"category": category} if category else {})}
    return json.dumps(kind, ensure_ascii=False, separators=(",", ":"))[1:-1]


def checked(given: str, *, spans: Spans, texts: Mapping[str, str], say: Say = str) -> str:
    """Return what was given in its stored form. ValueError says, by `say`, what is wrong with the first mark that is.

    `texts`: the texts that can be marked, by column. No marks at all are an answer: there is nothing to mark.
    """
    entries = list(_entries(given, say))
    if len(entries) > spans.most:
        raise ValueError(say("Mark at most %(most)d places.") % {"most": spans.most})
    return written(_checked(entry, spans, texts, say) for entry in entries)


def is_stored_form(given: str, *, spans: Spans, texts: Mapping[str, str]) -> bool:
    """Tell whether this is how an answer about these texts is stored."""
    try:
        return checked(given, spans=spans, texts=texts) == given
    except ValueError:
        return False


def without_notes(value: str) -> str:
    """Return a stored value without what somebody wrote in their own words."""
    return written(replace(mark, note="") for mark in read(value))


FIELDS: Mapping[str, type] = {one.name: int if one.name in {"start", "end"} else str for one in fields(Mark)}


def _entries(given: str, say: Say) -> Iterator[dict[str, Any]]:
    try:
        entries = listed(given) if len(given) <= MOST_WRITTEN else None
    except ValueError:
        entries = None
    if entries is None:
        raise ValueError(say("These marks can’t be read. Please mark again."))
    for entry in entries:
        known = entry.items() if isinstance(entry, dict) else [("", None)]
        if any(type(value) is not FIELDS.get(name) for name, value in known):
            raise ValueError(say("These marks can’t be read. Please mark again."))
        yield entry


def listed(given: str) -> list[Any]:
    """Return the list that JSON holds. ValueError where there is none, or one that no page could show: half of a
    character of UTF-16.
    """
    try:
        entries = json.loads(given)
        json.dumps(entries, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("too deep") from None
    if not isinstance(entries, list):
        raise ValueError("no list")
    return entries


def _checked(entry: dict[str, Any], spans: Spans, texts: Mapping[str, str], say: Say) -> Mark:
    mark = Mark(**{"severity": "", **entry})
    if mark.column not in spans.columns or CONTROL.search(mark.note):
        raise ValueError(say("These marks can’t be read. Please mark again."))
    placed = _placed(mark, spans, texts.get(mark.column, ""), say)
    _check_kind(placed, spans, say)
    if len(placed.note) > MOST_NOTE:
        raise ValueError(say("Write at most %(most)d characters.") % {"most": MOST_NOTE})
    return replace(placed, note=placed.note.strip())


def _check_kind(mark: Mark, spans: Spans, say: Say) -> None:
    about = {"text": shortened(mark.text) or say("the whole text")}
    if mark.severity not in [severity.value for severity in spans.severities]:
        raise ValueError(say("“%(text)s”: say how bad it is.") % about)
    if spans.categories and mark.category not in [category.value for category in spans.categories]:
        raise ValueError(say("“%(text)s”: say what is wrong with it.") % about)
    if mark.category and not spans.categories:
        raise ValueError(say("These marks can’t be read. Please mark again."))


def shortened(text: str, most: int = 60) -> str:
    """Return a text in one line, the middle of a long one left out."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most // 2].rstrip()} … {line[-most // 2 :].lstrip()}"


def _placed(mark: Mark, spans: Spans, text: str, say: Say) -> Mark:
    """Return the mark with the place it is about: as given, as found by its words, or none, of the whole text."""
    if mark.start is None and mark.end is None:
        if mark.text:
            return _found(mark, text, say)
        if not spans.takes_whole or mark.column != spans.of:
            raise ValueError(say("Say which words you mean."))
        return mark
    if mark.start is None or mark.end is None or not 0 <= mark.start < mark.end <= len(text):
        raise ValueError(say("A mark lies outside the text. Please mark it again."))
    if text[mark.start : mark.end] != mark.text:
        raise ValueError(
            say("“%(text)s” does not stand where it was marked. Please mark it again.")
            % {"text": shortened(mark.text)}
        )
    return _within(mark, text, mark.start, mark.end)


def _within(mark: Mark, text: str, start: int, end: int) -> Mark:
    """Return the mark with these offsets, widened to whole characters."""
    borders = character_borders(text)
    start, end = borders[bisect_right(borders, start) - 1], borders[bisect_left(borders, end)]
    return replace(mark, start=start, end=end, text=text[start:end])


def character_borders(text: str) -> list[int]:
    """Return the offsets between characters as people see them, the text's ends too."""
    return [0, *(character.end() for character in _characters(text))]


def _characters(text: str) -> Iterator[Any]:
    """Yield a match for each character as people see it."""
    import regex  # 16 ms to load, and the worker and most commands read no marks

    return regex.finditer(r"\X", text)


def _found(mark: Mark, text: str, say: Say) -> Mark:
    """Return the mark at the one place where its words stand, however they are spaced and composed."""
    wanted, places = {"text": shortened(mark.text)}, list(_places(mark.text, text))
    if not places:
        raise ValueError(say("“%(text)s” does not stand in the text. Copy the words as they are.") % wanted)
    if len(places) > 1:
        raise ValueError(
            say("“%(text)s” stands in the text %(n)d times. Add the words beside it.")
            % {**wanted, "n": len(places)}
        )
    return _within(mark, text, *places[0])


def _places(words: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield where words stand, overlapping places too."""
    plain, offsets = _plain(text)
    wanted = _plain(words)[0].strip()
    at = plain.find(wanted) if wanted else -1
    while at != -1:
        yield offsets[at][0], offsets[at + len(wanted) - 1][1]
        at = plain.find(wanted, at + 1)


def _plain(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text composed and singly spaced, and of each of its code points the character it comes of."""
    plain, offsets = "", list[tuple[int, int]]()
    for character in _characters(text):
        part = " " if character[0].isspace() else unicodedata.normalize("NFC", character[0])
        if part == " " and plain.endswith(" "):
            offsets[-1] = (offsets[-1][0], character.end())
            continue
        plain += part
        offsets += [character.span()] * len(part)
    return plain, offsets
