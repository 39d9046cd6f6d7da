"""Columns as numbers: large studies say a handful of things again and again, and each is kept, and worked on, once."""

from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

Codes = npt.NDArray[np.int32]


class Numbered(dict[str, int]):
    """{text: number}, filled as texts turn up, in their order."""

    def __missing__(self, text: str) -> int:
        self[text] = len(self)
        return self[text]


class Cells(Sequence[str]):
    """A column of a file that grows while the file is read."""

    @abstractmethod
    def extend(self, cells: Iterable[str]) -> None: ...


class Column(Cells):
    """A column of a file, that of every cell the number of its text. Texts are numbered as they first turn up."""

    __slots__ = ("_codes", "_known", "_texts")

    def __init__(self, cells: Iterable[str] = ()) -> None:
        self._known, self._codes = Numbered(), array("i")
        self._texts: list[str] = []
        self.extend(cells)

    def extend(self, cells: Iterable[str]) -> None:
        self._codes.extend(map(self._known.__getitem__, cells))

    @property
    def texts(self) -> list[str]:
        if len(self._texts) != len(self._known):
            self._texts = list(self._known)
        return self._texts

    @property
    def codes(self) -> Codes:
        return np.frombuffer(self._codes, dtype=np.int32)

    def __len__(self) -> int:
        return len(self._codes)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self.texts[code] for code in self._codes[place]]
        return self.texts[self._codes[place]]

    def place(self, text: str) -> int:
        """Return where a text stands first."""
        return self._codes.index(self._known[text])


@dataclass(frozen=True, slots=True)
class Coded:
    """Cells of any shape: `codes` says which of `values` each holds."""

    values: Sequence[Any]
    codes: Codes

    def map(self, change: Callable[[Any], Any]) -> "Coded":
        return Coded([change(value) for value in self.values], self.codes)

    def numbered(self, numbers: Numbered, *, nothing: int) -> Codes:
        """Return the numbers of the texts themselves, by which cells of several columns can be compared."""
        known = [nothing if value is None else numbers[value] for value in self.values]
        return np.array(known, dtype=np.int32)[self.codes]


def spread(values: Sequence[Any], places: npt.NDArray[np.integer[Any]], *, dtype: str = "str") -> Any:
    """Return the value at each place; missing where the place is negative."""
    known = _array(values, dtype)
    if not len(known):
        return _array([None] * len(places), dtype)
    return known.take(places, allow_fill=True)


def _array(values: Sequence[Any], dtype: str) -> Any:
    return pd.Series(list(values), dtype=cast(Any, dtype)).array
