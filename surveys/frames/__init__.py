"""From stored or downloaded answers to one pandas frame, by two doors: the database and MTurk's batch CSV."""

from surveys.frames.base import Frame, column, rating_keys
from surveys.frames.errors import SourceError
from surveys.frames.pseudonyms import Pseudonyms, names_for_raw

__all__ = ["Frame", "Pseudonyms", "SourceError", "column", "names_for_raw", "rating_keys"]
