"""What an entry may hold: a list of elements with `type` and `content`. Faults are named by file, id and index."""

from collections.abc import Iterator
from typing import Any, Final

from metrics.inputs import MetricError

_NAMES: Final = {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}


def answer(value: Any, *, where: str) -> tuple[str | None, str | None]:
    """Return the first text and the first image of a prediction, None where there is none.

    Which element counts is the competition's rule (README, general rules of the metrics).
    """
    found: dict[str, str] = {}
    for element, place in _elements(value, where):
        content = element["content"]
        if not isinstance(content, str):
            raise MetricError(f"{place}.content is {kind_of(content)}, not text")
        found.setdefault(element["type"], content)
    return found.get("text"), found.get("image")


def accepted(value: Any, *, where: str) -> list[str] | None:
    """Return the accepted answers of a ground truth, or None when it is an image.

    Raises MetricError when there is neither, or the answers are not a list of texts with at least one.
    """
    for element, place in _elements(value, where):
        if element["type"] == "text":
            return _texts(element["content"], f"{place}.content")
        if element["type"] == "image":
            _check_path(element["content"], f"{place}.content")
            return None
    raise MetricError(f"{where} has no element of type text or image")


def kind_of(value: Any) -> str:
    """Name a JSON value's type."""
    return _NAMES.get(type(value), "a number")


def _elements(value: Any, where: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield an entry's elements and their places; one element may stand without a list, as the README's samples do."""
    if not isinstance(value, dict | list):
        raise MetricError(f"{where} is {kind_of(value)}, not a list of elements")
    elements = enumerate(value) if isinstance(value, list) else [(None, value)]
    for index, element in elements:
        place = where if index is None else f"{where}[{index}]"
        _check_element(element, place)
        yield element, place


def _check_element(element: Any, place: str) -> None:
    if not isinstance(element, dict):
        raise MetricError(f"{place} is {kind_of(element)}, not an object with type and content")
    for key in ("type", "content"):
        if key not in element:
            raise MetricError(f"{place} has no {key}")
    if not isinstance(element["type"], str):
        raise MetricError(f"{place}.type is {kind_of(element['type'])}, not text")


def _texts(content: Any, place: str) -> list[str]:
    if not isinstance(content, list):
        raise MetricError(f"{place} is {kind_of(content)}, not a list of texts")
    if not content:
        raise MetricError(f"{place} is empty: there is no accepted answer")
    for index, text in enumerate(content):
        if not isinstance(text, str):
            raise MetricError(f"{place}[{index}] is {kind_of(text)}, not text")
    return content


def _check_path(content: Any, place: str) -> None:
    if not isinstance(content, str):
        raise MetricError(f"{place} is {kind_of(content)}, not the path of an image")
