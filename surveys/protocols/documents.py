"""Protocol files: a survey type as a YAML document, read into its definition or refused line by line.

A document is a mapping whose keys are the definition's fields, and so on down; `protocol` stands for its key, and
`scales` may name lists of choices that several criteria share. Texts are taken as they are written, so that `yes` is a
word. A score may be a fraction (2/3). Docs: docs/protocol-files.md; its schema for editors: surveys.protocols.schema.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, Field, asdict, fields, is_dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import yaml

from surveys.protocols import translations
from surveys.protocols.criteria import Choice, Criterion, Path, Problem
from surveys.protocols.definition import ALL, WORDS, Definition, DefinitionError
from surveys.protocols.languages import standard
from surveys.protocols.texts import why_no_summary, why_no_title, why_not
from surveys.protocols.translations import SCALES

MOST_BYTES = 500_000
DEEPEST = 20
MOST_NODES = 20_000
MOST_PROBLEMS = 20
MOST_QUESTIONS = 50
MOST_LISTED = 100
MOST_NAME = 64  # Rating.criterion
MOST_VALUE = 200
MOST_SHOWN = 100
PROTOCOL_KEY = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
QUESTION_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
KEY = "protocol"  # of the document, for the definition's `key`
TRUTHS = {"true": True, "yes": True, "false": False, "no": False}


Check = Callable[[Definition], Iterable[Problem]]


def key_of(field: Field[Any]) -> str:
    """Return what a field is called in a document: `is` where Python has to write `is_`."""
    return field.name.rstrip("_")


class DocumentError(ValueError):
    """A document that is no protocol. `problems`: a sentence each, with file, line and key.

    `places` has the same with the place each is about; none where the document could not be read at all.
    """

    def __init__(self, problems: list[str], *, places: Iterable[Problem] = ()) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
        self.places = tuple(places)


class Trouble(Exception):
    """Something at a node that can't be taken."""

    def __init__(self, sentence: str, node: yaml.Node) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.node = node


def read(text: str | bytes, *, name: str, also: Check | None = None) -> Definition:
    """Return the definition that a document describes. `name` is the file's, for the messages; `also` asks for more.

    Raises DocumentError with a sentence for each thing that is wrong, up to twenty of them.
    """
    document = _Document(name)
    values = document.definition(composed(text, name=name))
    if not document.problems:
        try:
            definition = Definition(**values)
        except DefinitionError as error:
            document.contradicted(error.problems)
        else:
            document.contradicted([*limits(definition), *(also(definition) if also else ())])
            definition = document.translated(definition)
    if document.problems:
        raise DocumentError(document.problems[:MOST_PROBLEMS], places=document.places[:MOST_PROBLEMS])
    return definition


def limits(definition: Definition) -> Iterator[Problem]:
    """Yield what is too long for a page, a column or a form's field. What was published before is not asked."""
    if not PROTOCOL_KEY.fullmatch(definition.key):
        yield Problem(
            ("key",), f"{definition.key!r} is no name: small letters, digits and hyphens, up to 64."
        )
    yield from _names(definition)
    yield from _texts(asdict(definition), ())
    for n, criterion in enumerate(definition.criteria, 1):
        yield from _values(criterion, path=("criteria", n))
    if sentence := why_no_title(definition.title):
        yield Problem(("title",), sentence)
    if sentence := why_no_summary(definition.instructions.summary):
        yield Problem(("instructions", "summary"), sentence)
    if (code := standard(definition.language)) != definition.language:
        wanted = f"is written {code}" if code else "is no language, such as en or pt-BR"
        yield Problem(("language",), f"{definition.language[:50]!r} {wanted}.")
    for name, least in (("outputs_per_item", ALL), ("items_per_hit", 1)):
        if not least <= getattr(definition, name) <= MOST_SHOWN:
            yield Problem((name,), f"A page shows 1 to {MOST_SHOWN}.")


def _names(definition: Definition) -> Iterator[Problem]:
    keys: list[tuple[Path, str]] = [
        (("criteria", n, "key"), one.key) for n, one in enumerate(definition.criteria, 1)
    ]
    if definition.preference:
        keys.append((("preference", "key"), definition.preference.key))
    for path, key in keys:
        if not QUESTION_KEY.fullmatch(key):
            yield Problem(path, f"{key!r} is no name: small letters, digits and _, a letter first, up to 40.")
    if len(keys) > MOST_QUESTIONS:
        yield Problem(("criteria",), f"A page asks up to {MOST_QUESTIONS} questions.")


def _values(criterion: Criterion, *, path: Path) -> Iterator[Problem]:
    """A checklist's option is a rating of its own, called by the question and the option together."""
    most = MOST_NAME - len(criterion.key) - 1 if criterion.is_checklist else MOST_VALUE
    for n, choice in enumerate(criterion.choices, 1):
        if len(choice.value) > most:
            yield Problem((*path, "choices", n, "value"), f"A value here has up to {most} characters.")


def _texts(value: Any, path: Path) -> Iterator[Problem]:
    """Look at every text and list in a definition's plain data."""
    if isinstance(value, str):
        if sentence := why_not(value):
            yield Problem(path, sentence)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _texts(one, (*path, key))
    elif isinstance(value, tuple | list):
        if len(value) > MOST_LISTED:
            yield Problem(path, f"The list has {len(value):,} entries; {MOST_LISTED} are the most.")
            return
        for n, one in enumerate(value, 1):
            yield from _texts(one, (*path, n))


def _decoded(text: str | bytes, name: str) -> str:
    if len(text) > MOST_BYTES:
        raise DocumentError([f"{name}: The file is larger than {MOST_BYTES // 1000} kB."])
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise DocumentError([f"{name}, line {line}: The file is not UTF-8 text."]) from None


def composed(text: str | bytes, *, name: str) -> yaml.MappingNode:
    """Return a document's nodes; DocumentError unless it is one modest mapping without aliases and tags."""
    text = _decoded(text, name)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _check_size(yaml.parse(text, Loader=loader), name)
        root = yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}" if mark else ""
        raise DocumentError([f"{name}{where}: This is not YAML: {error.problem}."]) from None
    except yaml.YAMLError as error:  # a character that no YAML may hold
        raise DocumentError([f"{name}: This is not YAML: {' '.join(str(error).split())}."]) from None
    if not isinstance(root, yaml.MappingNode):
        raise DocumentError([f"{name}: A protocol is a mapping of keys such as “{KEY}: my-study”."])
    return root


def _check_size(events: Iterator[yaml.Event], name: str) -> None:
    """Refuse what would be far larger than its text: nodes inside nodes, and names for nodes."""
    depth = n_nodes = 0
    for event in events:
        line = event.start_mark.line + 1 if event.start_mark else 1
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        n_nodes += isinstance(event, yaml.NodeEvent)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise DocumentError([f"{name}, line {line}: Anchors and aliases (& and *) are not taken."])
        if getattr(event, "tag", None):
            raise DocumentError([f"{name}, line {line}: Types (!) are not taken."])
        if depth > DEEPEST or n_nodes > MOST_NODES:
            raise DocumentError([f"{name}, line {line}: No protocol is that large or that deep."])


class _Document:
    """One document while it is read: what is wrong with it, and where each value stands."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[str] = []
        self.places: list[Problem] = []
        self.lines: dict[Path, int] = {}
        self.scales: dict[str, tuple[Choice, ...]] = {}
        self.uses: dict[str, list[Path]] = {}
        self.translations: yaml.Node | None = None

    def definition(self, root: yaml.MappingNode) -> dict[str, Any]:
        """Return the definition's fields; what could not be read is missing and stands in `problems`."""
        pairs = self._pairs(root, ())
        if scales := pairs.pop(SCALES, None):
            self._read_scales(scales)
        self.translations = pairs.pop(translations.SECTION, None)
        if "key" in pairs:
            self._note(f"A protocol has no “key”; its own is called “{KEY}”.", pairs.pop("key"), ("key",))
        if KEY in pairs:
            pairs["key"] = pairs.pop(KEY)
        return self._fields(Definition, pairs, root, ())

    def translated(self, definition: Definition) -> Definition:
        """Return the definition with its translations, which are read beside it."""
        if self.translations is None:
            return definition
        translated = translations.read(
            self.translations, definition, scales=self.scales, uses=self.uses, note=self._note
        )
        return replace(definition, translations=translated)

    def contradicted(self, problems: Iterable[Problem]) -> None:
        """Note contradictions, each with the line of what it is about, or of the nearest thing around that."""
        for problem in problems:
            path = problem.path
            while path not in self.lines and path:
                path = path[:-1]
            sentence = problem.sentence[:1].upper() + problem.sentence[1:]
            self.places.append(Problem(problem.path, sentence))
            self.problems.append(f"{self.name}, line {self.lines.get(path, 1)}: {sentence}")

    def _note(self, sentence: str, node: yaml.Node, path: Path) -> None:
        self.places.append(Problem(path, sentence))
        self.problems.append(f"{self.name}, line {node.start_mark.line + 1}: {_named(path)}{sentence}")

    def _pairs(self, node: yaml.Node, path: Path) -> dict[str, yaml.Node]:
        if not isinstance(node, yaml.MappingNode):
            raise Trouble("Here belong keys with values.", node)
        pairs: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = key.value if isinstance(key, yaml.ScalarNode) else ""
            if not name or name in pairs:
                self._note(f"“{name}” stands here twice." if name else "A key is a word.", key, path)
            else:
                pairs[name] = value
        return pairs

    def _read_scales(self, node: yaml.Node) -> None:
        try:
            for name, choices in self._pairs(node, (SCALES,)).items():
                self.scales[name] = self._value(tuple[Choice, ...], choices, (SCALES, name))
        except Trouble as trouble:
            self._note(trouble.sentence, trouble.node, (SCALES,))

    def _fields(self, kind: type, pairs: dict[str, yaml.Node], node: yaml.Node, path: Path) -> dict[str, Any]:
        hints, known = get_type_hints(kind), {key_of(field): field for field in fields(kind)}
        values: dict[str, Any] = {}
        for name, value in pairs.items():
            self.lines[*path, name] = value.start_mark.line + 1
            if name not in known:
                self._note(f"There is no such key.{_closest(name, known, path)}", value, (*path, name))
                continue
            try:
                values[known[name].name] = self._of_field(known[name], hints, value, (*path, name))
            except Trouble as trouble:
                self._note(trouble.sentence, trouble.node, (*path, name))
        for name, field in known.items():
            if name not in pairs and field.default is MISSING:
                wanted = KEY if not path and name == "key" else name
                self._note(f"“{wanted}” is missing.", node, path)
        return values

    def _of_field(self, field: Field[Any], hints: dict[str, Any], node: yaml.Node, path: Path) -> Any:
        """Return the value of a node, or what it stands for where it is one of the words of its field."""
        words = field.metadata.get(WORDS, {})
        word = node.value if isinstance(node, yaml.ScalarNode) else None
        return words[word] if word in words else self._value(hints[field.name], node, path)

    def _value(self, hint: Any, node: yaml.Node, path: Path) -> Any:
        """Return the value of a node as the field's type has it; Trouble says why it can't be."""
        self.lines.setdefault(path, node.start_mark.line + 1)
        if is_dataclass(hint):
            return self._structure(hint, node, path)  # type: ignore[arg-type]
        if get_origin(hint) is tuple:
            return self._list(get_args(hint)[0], node, path)
        if get_origin(hint) in {Union, UnionType}:
            (kind,) = (one for one in get_args(hint) if one is not NoneType)
            return None if _is_null(node) else self._value(kind, node, path)
        if get_origin(hint) is Literal:
            return _one_of(get_args(hint), node)
        return _scalar(hint, node)

    def _structure(self, kind: type, node: yaml.Node, path: Path) -> Any:
        n_before = len(self.problems)
        values = self._fields(kind, self._pairs(node, path), node, path)
        return kind(**values) if len(self.problems) == n_before else None

    def _list(self, kind: Any, node: yaml.Node, path: Path) -> tuple[Any, ...]:
        if kind is Choice and isinstance(node, yaml.ScalarNode) and not _is_null(node):
            return self._scale(node, path)
        if not isinstance(node, yaml.SequenceNode):
            raise Trouble("Here belongs a list, a line with “- ” for each.", node)
        return tuple(self._value(kind, one, (*path, n)) for n, one in enumerate(node.value, 1))

    def _scale(self, node: yaml.ScalarNode, path: Path) -> tuple[Choice, ...]:
        if node.value not in self.scales:
            known = f" Known: {', '.join(self.scales)}." if self.scales else ""
            raise Trouble(f"There is no scale {node.value!r} under “{SCALES}”.{known}", node)
        self.uses.setdefault(node.value, []).append(path)
        return self.scales[node.value]


def _scalar(kind: type, node: yaml.Node) -> Any:
    if not isinstance(node, yaml.ScalarNode):
        raise Trouble(f"Here belongs {WANTED[kind]}.", node)
    if kind is str:
        return "" if _is_null(node) else node.value.strip()
    try:
        return SCALARS[kind](node.value)
    except (ValueError, KeyError, ZeroDivisionError, OverflowError):
        raise Trouble(f"Here belongs {WANTED[kind]}, not {node.value[:50]!r}.", node) from None


def _one_of(words: tuple[str, ...], node: yaml.Node) -> str:
    word: str = _scalar(str, node)
    if word not in words:
        raise Trouble(f"Here belongs one of {', '.join(words)}, not {word[:50]!r}.", node)
    return word


def _number(text: str) -> float:
    number = float(Fraction(text)) if "/" in text else float(text)
    if not isfinite(number):
        raise ValueError(text)
    return number


SCALARS: dict[type, Callable[[str], Any]] = {
    int: int,
    float: _number,
    bool: lambda text: TRUTHS[text.lower()],
}
WANTED = {str: "text", int: "a whole number", float: "a number or a fraction", bool: "true or false"}


def _is_null(node: yaml.Node) -> bool:
    """Tell whether nothing is written: a plain scalar that is empty, null or ~."""
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _named(path: Path) -> str:
    """Return a place in words: criteria 2, choices 1, score."""
    words = ""
    for part in path:
        words += f" {part}" if isinstance(part, int) else f"{', ' if words else ''}{part}"
    return f"{words}: " if words else ""


def _closest(name: str, known: dict[str, Any], path: Path) -> str:
    names = [KEY if not path and one == "key" else one for one in known] + ([] if path else [SCALES])
    closest = get_close_matches(name, names, n=1)
    return f" Do you mean “{closest[0]}”?" if closest else f" Known are: {', '.join(names)}."
