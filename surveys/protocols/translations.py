"""The section `translations` of a protocol's document: for each language the texts that people read, and no more.

What has a name of its own (criteria by key, choices by value, blocks by column) is called by it; any other list has an
entry for each of the original's. A text alone is a label. What is missing is no mistake, and an empty text is missing.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from typing import Any, cast

import yaml

from surveys.protocols.criteria import Choice, Path, numbered
from surveys.protocols.definition import Definition, Place, TranslatedText, Translation
from surveys.protocols.languages import NAMED, READ, names_in, standard
from surveys.protocols.texts import why_no_summary, why_no_title, why_not

SECTION = "translations"
SCALES = "scales"
MOST_LANGUAGES = 20
MOST_NAMED = 12
Note = Callable[[str, yaml.Node, Path], None]


def read(
    section: yaml.Node,
    definition: Definition,
    *,
    scales: Mapping[str, Sequence[Choice]],
    uses: Mapping[str, Collection[Path]],
    note: Note,
) -> tuple[Translation, ...]:
    """Return what a section says; `note` is told what is wrong: a sentence, its node and its path.

    `scales` are the document's lists of choices by name, `uses` the paths of those lists that are one of them.
    """
    translations: dict[str, Translation] = {}
    for name, key, tree in _pairs(section, (SECTION,), note):
        if sentence := _why_no_language(name, definition, translations):
            note(sentence, key, (SECTION, name))
            continue
        texts = _Texts(definition, note)
        texts.read(tree, (SECTION, name), scales=scales, uses=uses)
        kept = tuple(TranslatedText(at, text) for at, text in texts.found.items())
        translations[standard(name)] = Translation(standard(name), kept)
    return tuple(translations.values())


def _why_no_language(name: str, definition: Definition, known: Mapping[str, Translation]) -> str:
    code = standard(name)
    if not code:
        return f"{name[:50]!r} is no language, such as ru or pt-BR."
    if code in known:
        return "This language stands here twice."
    if code == definition.language:
        return "The protocol itself is in this language."
    if len(known) == MOST_LANGUAGES:
        return f"A protocol has up to {MOST_LANGUAGES} translations."
    return ""


class _Texts:
    """The texts of one language, read beside the original."""

    def __init__(self, definition: Definition, note: Note) -> None:
        self.definition = definition
        self.note = note
        self.found: dict[Place, str] = {}

    def read(
        self,
        tree: yaml.Node,
        path: Path,
        *,
        scales: Mapping[str, Sequence[Choice]],
        uses: Mapping[str, Collection[Path]],
    ) -> None:
        """Read a language's tree. A scale's texts stand wherever its list does, unless a question has its own."""
        pairs = list(_pairs(tree, path, self.note))
        for name, _, node in pairs:
            if name == SCALES:
                self._scales(node, (*path, SCALES), scales=scales, uses=uses)
        self._known(self.definition, [one for one in pairs if one[0] != SCALES], (), path)

    def _scales(
        self,
        tree: yaml.Node,
        path: Path,
        *,
        scales: Mapping[str, Sequence[Choice]],
        uses: Mapping[str, Collection[Path]],
    ) -> None:
        for name, key, node in _pairs(tree, path, self.note):
            if name not in scales:
                self.note(_unknown(name, scales), key, (*path, name))
                continue
            shared = _Texts(self.definition, self.note)
            shared._part(tuple(scales[name]), node, (), (*path, name))
            for used in uses.get(name, ()):
                place = _place(self.definition, used)
                self.found |= {(*place, *at): text for at, text in shared.found.items()}

    def _part(self, original: Any, node: yaml.Node, place: Place, path: Path) -> None:
        """Read what stands for a part of the original: a text, a list, or something with keys; nothing is a gap."""
        if _is_nothing(node):
            return
        if isinstance(original, str):
            self._text(original, node, place, path)
        elif not original:
            self.note("The protocol itself has none.", node, path)
        elif isinstance(original, tuple):
            self._list(original, node, place, path)
        elif isinstance(node, yaml.ScalarNode) and "label" in READ[type(original)]:
            self._text(original.label, node, (*place, "label"), path)
        else:
            self._known(original, _pairs(node, path, self.note), place, path)

    def _known(
        self, original: Any, pairs: "Iterator[Pair] | Sequence[Pair]", place: Place, path: Path
    ) -> None:
        for name, key, value in pairs:
            if name in READ[type(original)]:
                self._part(getattr(original, name), value, (*place, name), (*path, name))
            else:
                self.note(_no_text(name, type(original)), key, (*path, name))

    def _list(self, original: tuple[Any, ...], node: yaml.Node, place: Place, path: Path) -> None:
        parts = dict(zip(names_in(original), original, strict=True))
        if isinstance(node, yaml.MappingNode) and type(original[0]) in NAMED:
            self._by_name(parts, node, place, path)
        elif not isinstance(node, yaml.SequenceNode):
            self.note("Here belongs a list, a line with “- ” for each.", node, path)
        elif len(node.value) != len(parts):
            self.note(f"The protocol has {len(parts)} here, the translation {len(node.value)}.", node, path)
        else:
            for n, (name, value) in enumerate(zip(parts, node.value, strict=True), 1):
                self._part(parts[name], value, (*place, name), (*path, n))

    def _by_name(self, parts: Mapping[str, Any], node: yaml.Node, place: Place, path: Path) -> None:
        for name, key, value in _pairs(node, path, self.note):
            if name in parts:
                self._part(parts[name], value, (*place, name), (*path, name))
            else:
                self.note(_unknown(name, parts), key, (*path, name))

    def _text(self, original: str, node: yaml.Node, place: Place, path: Path) -> None:
        if not isinstance(node, yaml.ScalarNode):
            self.note("Here belongs text.", node, path)
            return
        text = node.value.strip()
        if text and (sentence := _why_not(text, original, place)):
            self.note(sentence, node, path)
        elif text:
            self.found[place] = text


Pair = tuple[str, yaml.Node, yaml.Node]


def _is_nothing(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _pairs(node: yaml.Node, path: Path, note: Note) -> Iterator[Pair]:
    """Yield (name, its node, what it says) of a mapping, each name once; of nothing there is nothing."""
    if _is_nothing(node):
        return
    if not isinstance(node, yaml.MappingNode):
        note("Here belong keys with values.", node, path)
        return
    seen = set[str]()
    for key, value in node.value:
        name = key.value if isinstance(key, yaml.ScalarNode) else ""
        if not name or name in seen:
            note(f"“{name}” stands here twice." if name else "A key is a word.", key, path)
        else:
            seen.add(name)
            yield name, key, value


def _place(definition: Definition, path: Path) -> Place:
    """Return a path in a document, where entries of lists are numbers, as a place by their names."""
    place, part = list[str](), cast(Any, definition)
    for step in path:
        if isinstance(step, int):
            place.append(list(names_in(part))[step - 1])
            part = part[step - 1]
        else:
            place.append(step)
            part = getattr(part, step)
    return tuple(place)


def _why_not(text: str, original: str, place: Place) -> str:
    """Return a sentence on what is wrong with a translation, "" if nothing is."""
    if not original:
        return "The protocol itself says nothing here, so there is nothing to translate."
    if place == ("title",):
        return why_not(text) or why_no_title(text)
    if place == ("instructions", "summary"):
        return why_not(text) or why_no_summary(text)
    if place[-1:] == ("output_label",):
        return why_not(text) or _why_no_label(text, original)
    return why_not(text)


def _why_no_label(text: str, original: str) -> str:
    if "{n}" in original and "{n}" not in text:
        return "{n}, the output's number, is missing."
    if set("{}") & set(numbered(text, 1)):
        return "The only thing in braces is {n}, the output's number."
    return ""


def _no_text(name: str, kind: type) -> str:
    known = [*READ[kind], *([SCALES] if kind is Definition else [])]
    if name in {field.name for field in fields(kind)} or name == "protocol":
        return f"This is no text that people read, and is not translated. What is: {', '.join(known)}."
    return _unknown(name, known)


def _unknown(name: str, known: Collection[str]) -> str:
    if close := get_close_matches(name, known, n=1):
        return f"The protocol has no such key. Do you mean “{close[0]}”?"
    more = ", ..." if len(known) > MOST_NAMED else ""
    return f"The protocol has no such key. Known are: {', '.join([*known][:MOST_NAMED]) or 'none'}{more}."
