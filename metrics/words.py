"""How a text becomes words: letters made canonical, marks removed, tokens, dictionary forms, stems.

The metrics compare words, so every rule about what a word is stands here. Sources: the FusionBrain Challenge 2.0
metrics document (lower case, no punctuation, no extra spaces, normal forms) and its published evaluation code.
"""

import re
import string
import unicodedata
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

LONGEST_WORD: Final = 64
"""A longer run of letters, in characters, is taken as it stands: no dictionary or stemmer knows it."""
CACHED_WORDS: Final = 100_000

_CYRILLIC: Final = re.compile("[\u0400-\u04ff]")
_STRESS: Final = {0x300: None, 0x301: None}


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


@lru_cache(maxsize=CACHED_WORDS)
def lemma(word: str) -> str:
    """Return the dictionary form of a lower-case Cyrillic word: pymorphy3's first reading. Other words stay."""
    # pymorphy3 2.0.6 raises ValueError at a character without a Unicode name.
    if (
        len(word) > LONGEST_WORD
        or not _CYRILLIC.search(word)
        or not all(unicodedata.name(c, "") for c in word)
    ):
        return word
    return str(_dictionary().parse(word)[0].normal_form)


@lru_cache(maxsize=CACHED_WORDS)
def stem(word: str) -> str:
    """Return the Snowball stem of a lower-case word, Russian if it has a Cyrillic letter, else English; ё folded."""
    if len(word) > LONGEST_WORD:
        return word
    language = "russian" if _CYRILLIC.search(word) else "english"
    # A Snowball stemmer keeps the word in itself: one for each call, so that threads cannot meet in it.
    return fold_yo(str(import_module("snowballstemmer").stemmer(language).stemWord(word)))


def tokens(text: str) -> list[str]:
    """Return razdel's tokens of a canonical text; `-5` and `2.5` are one token, bare punctuation is none."""
    return [token for token in razdel_tokens(text) if not all(map(is_punctuation, token))]


def razdel_tokens(text: str) -> list[str]:
    """Return all of razdel's tokens, punctuation among them."""
    return [token.text for token in _razdel().tokenize(text)]


@lru_cache(maxsize=1)
def _dictionary() -> Any:
    return import_module("pymorphy3").MorphAnalyzer(lang="ru")


@lru_cache(maxsize=1)
def _razdel() -> Any:
    return import_module("razdel")
