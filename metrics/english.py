"""English number words as the competition's code reads them, in predictions only, errors included."""

from collections.abc import Iterator, Sequence
from typing import Final

_SMALL: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_UNITS: Final = {word: number for number, word in enumerate(_SMALL)}
_ADDED: Final = _UNITS | {word: number * 10 for number, word in enumerate(_TENS, 2)}
_SCALES: Final = {"thousand": 10**3, "million": 10**6}
_NUMBER_WORDS: Final = {*_ADDED, *_SCALES, "hundred"}


def with_digits(words: Sequence[str]) -> list[str]:
    """Write number words as digits as the package wordtodigits 1.0.2 does, which the code calls.

    A run of them is one number: the words are added up, `hundred` multiplies what is there (alone: 0), `and` before
    a number word is dropped, `one point five` is 1.5.
    """
    return list(_written(words))


def _written(words: Sequence[str]) -> Iterator[str]:
    position = 0
    while position < len(words):
        if words[position] in _NUMBER_WORDS or _leads(words, position, "point"):
            position, found = _number(words, position)
            yield from found
            continue
        if not _leads(words, position, "and"):
            yield words[position]
        position += 1


def _number(words: Sequence[str], start: int) -> tuple[int, list[str]]:
    """Return where the number that begins at `start` ends, and what is written for it."""
    end = start
    while words[end : end + 1] and (words[end] in _NUMBER_WORDS or _leads(words, end, "and")):
        end += 1
    whole = str(_value(words[start:end]))
    if _leads(words, end, "point"):
        return _decimals(words, end + 1, whole)
    return end, [whole]


def _leads(words: Sequence[str], position: int, word: str) -> bool:
    """Say whether `word` stands here before a number word."""
    here = words[position : position + 2]
    return len(here) == 2 and here[0] == word and here[1] in _NUMBER_WORDS


def _value(run: Sequence[str]) -> int:
    total = part = 0
    for word in run:
        if word in _SCALES:
            total, part = total + part * _SCALES[word], 0
        else:
            part = part * 100 if word == "hundred" else part + _ADDED.get(word, 0)
    return total + part


def _decimals(words: Sequence[str], start: int, whole: str) -> tuple[int, list[str]]:
    end = start
    while words[end : end + 1] and (words[end] in _UNITS or _leads(words, end, "and")):
        end += 1
    number = f"{whole}." + "".join(str(_UNITS[word]) for word in words[start:end] if word in _UNITS)
    # The word that ends the decimals is written as it stands, even a number word.
    left = words[end : end + 1]
    return (end + 1, [number, *left]) if left and left[0] in _NUMBER_WORDS else (end, [number])
