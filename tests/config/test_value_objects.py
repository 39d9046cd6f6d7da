"""What the core works out can't be changed by whoever is handed it, nor get an attribute by a slip of the pen."""

import dataclasses
import importlib
import inspect
from collections.abc import Iterator

from tests.mutants.targets import TARGETS, files

CHANGED = {"Report", "Sums"}  # totals that are added up
WITH_DICT = {"Day", "Earnings", "Offer", "Standing", "Statement", "Sums", "TypeValues"}


def of_the_core() -> Iterator[type]:
    for target in TARGETS:
        for path in files(target):
            module = importlib.import_module(".".join(path.with_suffix("").parts))
            for _, one in inspect.getmembers(module, dataclasses.is_dataclass):
                if isinstance(one, type) and one.__module__ == module.__name__:
                    yield one


def test_values_are_frozen_but_for_totals() -> None:
    found = {one.__name__ for one in of_the_core() if not one.__dataclass_params__.frozen}  # type: ignore[attr-defined]
    assert found == CHANGED


def test_values_have_their_fields_and_no_other_attribute() -> None:
    assert {one.__name__ for one in of_the_core() if "__slots__" not in vars(one)} == WITH_DICT


def test_no_class_of_fields_is_a_plain_one() -> None:
    """Without its decorator a class with annotated fields has no constructor."""
    plain = {
        f"{module.__name__}.{one.__name__}"
        for module in map(inspect.getmodule, of_the_core())
        if module
        for _, one in inspect.getmembers(module, inspect.isclass)
        if one.__module__ == module.__name__ and "__annotations__" in vars(one)
        if not (dataclasses.is_dataclass(one) or issubclass(one, tuple))
    }
    assert plain == set()
