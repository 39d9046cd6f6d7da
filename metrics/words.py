"""How a text becomes words: letters made canonical, marks removed, tokens, dictionary forms, stems.

The metrics compare words, so every rule about what a word is stands here. Sources: the FusionBrain Challenge 2.0
metrics document (lower case, no punctuation, no extra spaces, normal forms) and its published evaluation code.
"""

import re
import string
import threading
import unicodedata
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

LONGEST_WORD: Final = 64
"""A longer run of letters, in characters, is taken as it stands: no dictionary or stemmer knows it."""
CACHED_WORDS: Final = 100_000

_CYRILLIC: Final = re.compile("[\u0400-\u04ff]")
_STRESS: Final = {0x300: None, 0x301: None, 0x450: "е", 0x45D: "и"}
"""Stress marks; NFC makes one letter of е or и and a grave one."""


_PLAIN: Final = re.compile(r"\s*(?:(?:(?:[а-яё]+|[a-z]+)[.,!?;:]?|[0-9]+)(?:\s+|$))*", re.IGNORECASE)
_PIECE: Final = re.compile("[а-яё]+|[a-z]+|[0-9]+|[.,!?;:]", re.IGNORECASE)
"""Plain words and their marks: what razdel makes of such a text, at a tenth of its cost (tested beside it)."""

_OF_THREAD: Final = threading.local()


class _Deleting(dict[int, int | None]):
    """A table for `str.translate` that learns, one character at a time, which are punctuation."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if is_punctuation(chr(code)) else code
        return self[code]


def is_punctuation(character: str) -> bool:
    """Say whether a character is Unicode punctuation or one of ASCII's 32 punctuation marks and symbols."""
    return character in string.punctuation or unicodedata.category(character).startswith("P")


_WITHOUT_PUNCTUATION: Final = _Deleting()
_WITHOUT_ASCII_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)


def canonical(text: str) -> str:
    """Return the text in lower case with letters composed (NFC) and stress marks removed: one spelling for one word."""
    return unicodedata.normalize("NFC", text.lower()).translate(_STRESS)


def without_punctuation(text: str) -> str:
    """Delete Unicode punctuation and ASCII symbols; nothing takes their place, so `3.14` becomes `314`."""
    return text.translate(_WITHOUT_PUNCTUATION)


def without_ascii_punctuation(text: str) -> str:
    """Delete the 32 marks of `string.punctuation` only, as the competition's code does: guillemets and dashes stay."""
    return text.translate(_WITHOUT_ASCII_PUNCTUATION)


def fold_yo(word: str) -> str:
    """Write е for ё, as RuWordNet and most printed Russian do."""
    return word.replace("ё", "е")


def lemma(word: str) -> str:
    """Return the dictionary form of a lower-case Cyrillic word: pymorphy3's first reading. Other words stay."""
    return word if len(word) > LONGEST_WORD else _known_lemma(word)


def lemma_of_whole(text: str) -> str:
    """Return what pymorphy3 makes of a text taken for one word, however long: its last word may change."""
    # pymorphy3 2.0.6 raises ValueError at a character without a Unicode name.
    if not _CYRILLIC.search(text) or not all(unicodedata.name(c, "") for c in set(text)):
        return text
    return str(_dictionary().parse(text)[0].normal_form)


def stem(word: str) -> str:
    """Return the Snowball stem of a lower-case word, Russian if it has a Cyrillic letter, else English; ё folded."""
    return _known_stem(word, "russian" if _CYRILLIC.search(word) else "english")


def russian_stem(word: str) -> str:
    """Return the Russian stem of a word with a Cyrillic letter; other words stay."""
    return _known_stem(word, "russian") if _CYRILLIC.search(word) else word


def porter_stem(word: str) -> str:
    """Return the stem of an English word by Porter's first algorithm (1980); words in other letters stay."""
    return _known_stem(word, "porter") if word.isascii() else word


def tokens(text: str) -> list[str]:
    """Return razdel's tokens of a canonical text; `-5` and `2.5` are one token, bare punctuation is none."""
    return [token for token in razdel_tokens(text) if not _is_all_punctuation(token)]


def razdel_tokens(text: str) -> list[str]:
    """Return all of razdel's tokens, punctuation among them."""
    if _PLAIN.fullmatch(text):
        return _PIECE.findall(text)
    return [token.text for token in _razdel().tokenize(text)]


@lru_cache(maxsize=CACHED_WORDS)
def _is_all_punctuation(token: str) -> bool:
    return all(map(is_punctuation, token))


_known_lemma: Final = lru_cache(maxsize=CACHED_WORDS)(lemma_of_whole)


def _known_stem(word: str, language: str) -> str:
    return word if len(word) > LONGEST_WORD else _looked_up_stem(word, language)


@lru_cache(maxsize=CACHED_WORDS)
def _looked_up_stem(word: str, language: str) -> str:
    return fold_yo(str(_stemmer(language).stemWord(word)))


def _stemmer(language: str) -> Any:
    # A Snowball stemmer keeps the word in itself, so each thread has its own.
    mine = _OF_THREAD.__dict__
    if language not in mine:
        mine[language] = import_module("snowballstemmer").stemmer(language)
    return mine[language]


@lru_cache(maxsize=1)
def _dictionary() -> Any:
    return import_module("pymorphy3").MorphAnalyzer(lang="ru")


@lru_cache(maxsize=1)
def _razdel() -> Any:
    return import_module("razdel")
