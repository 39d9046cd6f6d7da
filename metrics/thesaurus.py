"""Synonyms for METEOR, from whatever the reader has: none of these files is part of Assent.

A thesaurus says which senses a lower-case dictionary form has; words that share a sense are synonyms. Letters ё are
looked up as е, as RuWordNet prints them. Every thesaurus has a `name`, which results carry.
"""

import sqlite3
import warnings
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from xml.etree import ElementTree

from metrics import words
from metrics.inputs import MetricError

Senses = Collection[Hashable]


class Thesaurus(Protocol):
    """What METEOR needs of a thesaurus."""

    @property
    def name(self) -> str:
        """What results are marked with."""

    def senses(self, lemma: str) -> Senses:
        """Return the senses of a dictionary form; an unknown word has none."""


Synonyms = Thesaurus | Mapping[str, Iterable[str]] | None
"""What callers may give: a thesaurus, a dict of synonyms, or none."""


class ListedThesaurus:
    """A thesaurus in memory, from (sense, word) pairs."""

    def __init__(self, pairs: Iterable[tuple[Hashable, str]], *, name: str) -> None:
        self.name = name
        found: dict[str, set[Hashable]] = defaultdict(set)
        for sense, word in pairs:
            found[looked_up(word)].add(sense)
        self._senses = {word: frozenset(senses) for word, senses in found.items()}

    def __len__(self) -> int:
        """Return how many words it knows."""
        return len(self._senses)

    def senses(self, lemma: str) -> Senses:
        """Return the senses of a dictionary form."""
        return self._senses.get(looked_up(lemma), frozenset())


class WordNet:
    """English WordNet through nltk, from an unpacked WordNet folder (`data.noun`, `index.noun` ...)."""

    def __init__(self, folder: Path) -> None:
        self.name = f"WordNet ({folder.name})"
        self._reader = _wordnet_reader(folder)
        self.senses = lru_cache(maxsize=words.CACHED_WORDS)(self._read_senses)

    def _read_senses(self, lemma: str) -> Senses:
        return frozenset(synset.name() for synset in self._reader.synsets(lemma))


def looked_up(word: str) -> str:
    """Return a word as thesauri are asked for it: lower case, ё as е."""
    return words.fold_yo(words.canonical(word))


def from_mapping(groups: Mapping[str, Iterable[str]], *, name: str = "") -> ListedThesaurus:
    """Make a thesaurus of a dict: each key and its values are synonyms of one another."""
    pairs = ((key, word) for key, synonyms in groups.items() for word in (key, *synonyms))
    return ListedThesaurus(pairs, name=name or f"dict of {len(groups)}")


def as_thesaurus(given: Synonyms) -> Thesaurus | None:
    """Return a thesaurus for what callers may give; raise MetricError for anything else."""
    if isinstance(given, Mapping):
        return from_mapping(given)
    if given is not None and not hasattr(given, "senses"):
        raise MetricError(
            f"the thesaurus is {type(given).__name__}: open_thesaurus(path), a dict or None is meant"
        )
    return given


def open_thesaurus(path: Path) -> Thesaurus:
    """Open a thesaurus by what it is.

    A folder with `senses*.xml` or such a file: RuWordNet's XML. `.db`, `.sqlite`, `.sqlite3`: RuWordNet's SQLite,
    whose table `sense` has `synset_id`, `lemma` and `name`. `.dat`: a MyThes file. A folder with `data.noun`: WordNet,
    through nltk.
    Raises MetricError when it is none of these or cannot be read.
    """
    if not path.exists():
        raise MetricError(f"there is no thesaurus at {path}")
    if (path / "data.noun").is_file():
        return WordNet(path)
    reader, kind = _reader_for(path)
    try:
        return ListedThesaurus(reader(path), name=f"{kind} ({path.name})")
    except MetricError:
        raise
    except (sqlite3.Error, ElementTree.ParseError, UnicodeError, LookupError, ValueError) as error:
        raise MetricError(f"{path} cannot be read as {kind}: {error}") from error


def _reader_for(path: Path) -> tuple[Any, str]:
    if path.is_dir() or path.suffix == ".xml":
        return _ruwordnet_xml, "RuWordNet"
    if path.suffix in (".db", ".sqlite", ".sqlite3"):
        return _ruwordnet_sqlite, "RuWordNet"
    if path.suffix == ".dat":
        return _mythes, "MyThes"
    raise MetricError(
        f"{path}: a thesaurus is a .db, .sqlite, .xml or .dat file, or a folder of XML or WordNet files"
    )


def _ruwordnet_sqlite(path: Path) -> Iterator[tuple[Hashable, str]]:
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as base:
        yield from base.execute("SELECT synset_id, coalesce(nullif(lemma, ''), name) FROM sense")


def _ruwordnet_xml(path: Path) -> Iterator[tuple[Hashable, str]]:
    files = sorted(path.glob("senses*.xml")) if path.is_dir() else [path]
    if not files:
        raise MetricError(f"{path} holds neither senses*.xml nor data.noun")
    for file in files:
        for _event, element in ElementTree.iterparse(file):  # noqa: S314 (a file the caller chose; expat bounds entities)
            if element.tag == "sense":
                yield element.attrib["synset_id"], element.get("lemma") or element.attrib["name"]
            element.clear()


def _mythes(path: Path) -> Iterator[tuple[Hashable, str]]:
    """Read `encoding`, then for each entry `word|n` and n lines `(part of speech)|synonym|synonym`."""
    with path.open("rb") as stream:
        encoding = stream.readline().decode("ascii").strip()
        lines = iter(stream.read().decode(encoding).splitlines())
    for line in lines:
        word, _bar, count = line.rpartition("|")
        for meaning in range(int(count)):
            synonyms = next(lines, "").split("|")[1:]
            yield from (((word, meaning), one.split(" (")[0]) for one in (word, *synonyms) if one)


def _wordnet_reader(folder: Path) -> Any:
    try:
        known, reader = import_module("nltk.data").path, import_module("nltk.corpus.reader.wordnet")
    except ImportError as error:
        raise MetricError("WordNet needs nltk: pip install nltk") from error
    # nltk 3.10 opens only what lies under a folder of nltk.data.path.
    place = str(folder.resolve())
    if place not in known:
        known.append(place)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The multilingual functions")
        return _opened_wordnet(reader.WordNetCorpusReader, place)


def _opened_wordnet(reader: Any, place: str) -> Any:
    # The reader maps its synsets to another WordNet's, for multilingual data that nothing here asks for.
    alone = type("WordNetReader", (reader,), {"map_wn": lambda _self: None})
    try:
        return alone(place, None)
    except (LookupError, OSError, ValueError) as error:
        raise MetricError(f"{place} cannot be read as WordNet: {error}") from error
