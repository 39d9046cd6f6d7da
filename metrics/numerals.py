"""Russian number words become digits: `двадцать три` 23, `трёх` 3, `две тысячи пятнадцать` 2015."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from metrics import words

_ONES: Final = {
    "ноль": 0,
    "нуль": 0,
    "один": 1,
    "два": 2,
    "три": 3,
    "четыре": 4,
    "пять": 5,
    "шесть": 6,
    "семь": 7,
    "восемь": 8,
    "девять": 9,
    "двое": 2,
    "трое": 3,
    "четверо": 4,
    "пятеро": 5,
    "шестеро": 6,
    "семеро": 7,
    "восьмеро": 8,
    "девятеро": 9,
}
_TEENS: Final = {
    "десять": 10,
    "одиннадцать": 11,
    "двенадцать": 12,
    "тринадцать": 13,
    "четырнадцать": 14,
    "пятнадцать": 15,
    "шестнадцать": 16,
    "семнадцать": 17,
    "восемнадцать": 18,
    "девятнадцать": 19,
    "десятеро": 10,
}
_TENS: Final = {
    "двадцать": 20,
    "тридцать": 30,
    "сорок": 40,
    "пятьдесят": 50,
    "шестьдесят": 60,
    "семьдесят": 70,
    "восемьдесят": 80,
    "девяносто": 90,
}
_HUNDREDS: Final = {
    "сто": 100,
    "двести": 200,
    "триста": 300,
    "четыреста": 400,
    "пятьсот": 500,
    "шестьсот": 600,
    "семьсот": 700,
    "восемьсот": 800,
    "девятьсот": 900,
}
_SMALL: Final = _ONES | _TEENS | _TENS | _HUNDREDS
_SEVEN_OR_FAMILY: Final = "семью"
"""By seven, or a family (accusative): a number only among other number words."""
_THOUSANDS: Final = {"тысяча": 10**3, "миллион": 10**6, "миллиард": 10**9, "триллион": 10**12}

_GROUPED: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?!\d)")
_SPACES: Final = re.compile(r"\s")
_MINUS: Final = "[-\u2010-\u2015\u2212]"
_DIGITS: Final = re.compile(rf"((?<![\w.,]){_MINUS}?\d+(?:[.,]\d+)?(?!\w|[.,]\d))")
_NUMBER: Final = re.compile(r"-?\d+(?:[.,]\d+)?")
_LARGEST_SCALE: Final = 10**15


def numeric_tokens(text: str) -> list[str]:
    """Return a text's tokens with number words, grouped thousands and signs written as plain numbers."""
    plain = _GROUPED.sub(lambda found: _SPACES.sub("", found[0]), words.canonical(text))
    pieces = _DIGITS.split(plain)
    tokens = [
        token for place, piece in enumerate(pieces) for token in _tokens(piece, is_number=place % 2 == 1)
    ]
    return _signed(list(_with_digits(tokens)))


def number(token: str) -> float | None:
    """Return the number a token is, `2,5` and `2.5` alike, or None."""
    return float(token.replace(",", ".")) if _NUMBER.fullmatch(token) else None


def _tokens(piece: str, *, is_number: bool) -> list[str]:
    return [re.sub(_MINUS, "-", piece)] if is_number else words.tokens(piece)


def _signed(tokens: list[str]) -> list[str]:
    """Write `минус 5` as -5."""
    joined: list[str] = []
    for token in tokens:
        if joined and joined[-1] == "минус" and token[0].isdecimal() and number(token) is not None:
            joined[-1] = f"-{token}"
        else:
            joined.append(token)
    return joined


def _with_digits(tokens: Sequence[str]) -> Iterator[str]:
    position = 0
    while position < len(tokens):
        length, value = _numeral(tokens, position) if _may_begin(tokens[position]) else (0, 0)
        yield str(value) if length else tokens[position]
        position += max(length, 1)


@lru_cache(maxsize=words.CACHED_WORDS)
def _may_begin(token: str) -> bool:
    """Say whether a numeral may begin with this token, as most words don't."""
    return (
        token.isdecimal()
        or token == _SEVEN_OR_FAMILY
        or words.lemma(token) in _SMALL
        or words.lemma(token) in _THOUSANDS
    )


def _numeral(tokens: Sequence[str], start: int) -> tuple[int, int]:
    """Return how many tokens from `start` are one numeral, and its value; (0, 0) when there is none."""
    total, position, below = 0, start, _LARGEST_SCALE
    while position < len(tokens):
        length, value = _below_thousand(tokens, position)
        scale = _scale(tokens, position + length)
        if scale is None:
            return position + length - start, total + value
        if scale >= below:
            break
        total += (value if length else 1) * scale
        position += length + 1
        below = scale
    return position - start, total


def _scale(tokens: Sequence[str], position: int) -> int | None:
    return _THOUSANDS.get(words.lemma(tokens[position])) if position < len(tokens) else None


def _below_thousand(tokens: Sequence[str], start: int) -> tuple[int, int]:
    if _scale(tokens, start + 1) and tokens[start].isdecimal() and len(tokens[start]) <= 3:
        return 1, int(tokens[start])
    value, room, position = 0, 1000, start
    while room and position < len(tokens):
        small = _small(tokens, position, is_inside=position > start)
        if small is None or small >= room or (small == 0 and room < 1000):
            break
        value += small
        room = _room_after(small)
        position += 1
    return position - start, value


def _small(tokens: Sequence[str], position: int, *, is_inside: bool) -> int | None:
    small = _SMALL.get(words.lemma(tokens[position]))
    if small is None and tokens[position] == _SEVEN_OR_FAMILY:
        return 7 if is_inside or _scale(tokens, position + 1) else None
    return small


def _room_after(small: int) -> int:
    """Return below what the next word must be: after hundreds a number below 100, after tens one below 10."""
    if small < 20:
        return 0
    return 100 if small >= 100 else 10
