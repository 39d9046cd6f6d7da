"""The languages a protocol can be read in: which of its texts people read, and each in the language that is wanted."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, SupportsIndex

from surveys.protocols.blocks import Block
from surveys.protocols.criteria import AnswerQuestion, Choice, Criterion, Number, Preference, Spans
from surveys.protocols.definition import (
    Definition,
    Instructions,
    Passage,
    Place,
    QuizQuestion,
    Translation,
    WorkedExample,
)

# What people who answer read. Names and values are the study's, `name` and `changes` are for researchers, and
# `question_ending` belongs to an item's own text.
READ: Mapping[type, tuple[str, ...]] = {
    Definition: (
        "title", "question_label", "output_label", "criteria", "answer", "preference", "blocks", "skip_reasons",
        "instructions", "quiz",
    ),
    Criterion: ("label", "help", "choices", "number", "spans"),
    Choice: ("label", "description"),
    Number: ("unit",),
    Spans: ("severities", "categories"),
    AnswerQuestion: ("label", "choices"),
    Preference: ("label", "output_label", "none_label", "worst_label"),
    Block: ("label",),
    Instructions: ("summary", "steps", "notes", "examples", "reminder", "background"),
    WorkedExample: ("scene", "question", "answer", "explanation", "verdict", "reason"),
    Passage: ("title", "text", "caption"),
    QuizQuestion: ("scene", "question", "choices", "feedback"),
}  # fmt: skip
NAMED: Mapping[type, str] = {Criterion: "key", Choice: "value", Block: "column"}
# Scripts that are written from right to left (Unicode Standard Annex 9).
RIGHT_TO_LEFT = {
    "Adlm", "Arab", "Aran", "Hebr", "Mand", "Mend", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa", "Yezi",
}  # fmt: skip
# The two-letter codes that are written as they are, and those of a script from right to left (ISO 639-1, CLDR). Most
# protocols need no other; the tables of all languages take 40 ms and 3 MB to load, so only who needs them loads them.
TWO_LETTERS = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en eo es
et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj
kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv
ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti
tk tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
PLAIN = frozenset(TWO_LETTERS.split())
PLAIN_RIGHT_TO_LEFT = {"ar", "dv", "fa", "he", "ks", "ps", "sd", "ug", "ur", "yi"}
Change = Callable[[Place, str], str]


class TextIn(str):
    """A text that says which `language` it is in (BCP 47)."""

    __slots__ = ("language",)
    language: str

    def __new__(cls, text: str, language: str) -> "TextIn":
        self = super().__new__(cls, text)
        self.language = language
        return self

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """Return what a copy is made of."""
        return str(self), self.language

    def replace(self, old: str, new: str, count: SupportsIndex = -1, /) -> "TextIn":
        """Return the text with a part of it replaced, in its language still."""
        return TextIn(super().replace(old, new, count), self.language)


def in_language(definition: Definition, code: str, *, page: str = "") -> Definition:
    """Return the protocol as somebody reads it who wants `code`: ru-RU is looked for as ru-RU, as ru, then as any ru.

    What is translated into none of these stays as it was written. Texts are `TextIn` their language, and numerals in
    any; where the original is in the language that is wanted and in that of the `page` around it, it is returned as it
    is. `language` says which one was found first. Nothing that is stored depends on it.
    """
    order = _order(code, definition)
    if order[0] == definition.language and all(is_in(order[0], one) for one in (code, page or code)):
        return definition
    return _read_in(definition, order)


@lru_cache(64)
def _read_in(definition: Definition, order: tuple[str, ...]) -> Definition:
    """Return a protocol with each text in the first of these languages that has it: made once, a page asks often."""
    known = {one.lang: {text.at: text.text for text in one.texts} for one in definition.translations}

    def best(place: Place, original: str) -> str:
        for lang in order:
            if place in known.get(lang, ()):
                return TextIn(known[lang][place], lang)
        return TextIn(original, definition.language if _has_words(original) else order[0])

    shown: Definition = _changed(definition, (), best)
    return replace(shown, language=order[0], translations=())


def languages_of(definition: Definition) -> tuple[str, ...]:
    """Return the languages a protocol can be read in, its own first."""
    return (definition.language, *(one.lang for one in definition.translations))


def is_read_in(definition: Definition, code: str) -> bool:
    """Tell whether a protocol can be read in this language, of whatever region."""
    return _first(code) in map(_first, languages_of(definition))


def texts_of(definition: Definition) -> dict[Place, str]:
    """Return every text that people read, by its place: ("criteria", "justifies", "choices", "yes", "label")."""
    texts: dict[Place, str] = {}

    def note(place: Place, text: str) -> str:
        texts[place] = text
        return text

    _changed(definition, (), note)
    return texts


def gaps(definition: Definition, translation: Translation) -> list[Place]:
    """Return the places where a translation leaves the original to be read. A text without letters needs none."""
    given = {text.at for text in translation.texts}
    return [place for place, text in texts_of(definition).items() if place not in given and _has_words(text)]


def standard(tag: str) -> str:
    """Return a language's code as it is written, "pt-BR"; "" where it names none (BCP 47)."""
    if tag in PLAIN:
        return tag
    import langcodes

    if "_" in tag or not langcodes.tag_is_valid(tag):
        return ""
    code = langcodes.standardize_tag(tag)
    return "" if langcodes.Language.get(code).language in {None, "und", "mul", "zxx"} else code


@cache
def direction(code: str) -> str:
    """Return "rtl" of a language that is written from right to left, else "ltr"."""
    if code in PLAIN:
        return "rtl" if code in PLAIN_RIGHT_TO_LEFT else "ltr"
    import langcodes

    try:
        script = langcodes.Language.get(code).maximize().script
    except ValueError:  # no code
        return "ltr"
    return "rtl" if script in RIGHT_TO_LEFT else "ltr"


def is_in(language: str, code: str) -> bool:
    """Tell whether a text in `language` is what `code` asks for: en is for en-GB."""
    return language.lower() in _shorter(code)


def _order(code: str, definition: Definition) -> tuple[str, ...]:
    """Return the languages to look for a text in; the original's, which has every text, comes last."""
    offered = {one.lower(): one for one in languages_of(definition)}
    wanted = [offered[one] for one in _shorter(code) if one in offered]
    wanted += [one for one in offered.values() if _first(one) == _first(code)]
    end = wanted.index(definition.language) if definition.language in wanted else len(wanted)
    return (*dict.fromkeys(wanted[:end]), definition.language)


@cache
def _shorter(code: str) -> tuple[str, ...]:
    """Return a code and what is left of it without its last parts (RFC 4647, 3.4): zh-hant-tw, zh-hant, zh."""
    parts = code.lower().split("-")
    return tuple("-".join(parts[:n]) for n in range(len(parts), 0, -1))


def _first(code: str) -> str:
    return code.lower().partition("-")[0]


def _has_words(text: str) -> bool:
    return any(letter.isalpha() for letter in text.replace("{n}", ""))


def _changed(value: Any, place: Place, change: Change) -> Any:
    """Return a part of a definition with its texts changed; what is empty stays empty."""
    if isinstance(value, str):
        return change(place, value) if value else value
    if isinstance(value, tuple):
        names = names_in(value)
        return tuple(_changed(one, (*place, name), change) for name, one in zip(names, value, strict=True))
    if value is None:
        return None
    fields = {name: _changed(getattr(value, name), (*place, name), change) for name in READ[type(value)]}
    return replace(value, **fields)


def names_in(entries: Sequence[Any]) -> Iterator[str]:
    """Yield what the entries of a list are called in a place: their own names, or numbers from 1."""
    for n, one in enumerate(entries, 1):
        yield getattr(one, NAMED[type(one)]) if type(one) in NAMED else str(n)
