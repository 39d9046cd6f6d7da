"""What the core works out can't be changed by whoever is handed it, nor get an attribute by a slip of the pen."""

import dataclasses
import runpy
from typing import is_typeddict

from tests.mutants.targets import ROOT, TARGETS, files

CHANGED = {"Report", "Sums"}  # totals that are added up


def of_the_core() -> list[type]:
    """Return the classes with fields of each module, read anew."""
    modules = [
        runpy.run_path(str(ROOT / path), run_name="core") for target in TARGETS for path in files(target)
    ]
    found = [one for module in modules for one in module.values() if isinstance(one, type)]
    return [one for one in found if one.__module__ == "core" and "__annotations__" in vars(one)]


def test_a_class_of_fields_is_a_dataclass_or_a_tuple() -> None:
    """Without its decorator it has no constructor."""
    plain = [one for one in of_the_core() if not (dataclasses.is_dataclass(one) or issubclass(one, tuple))]
    assert [one for one in plain if not is_typeddict(one)] == []


def test_values_are_frozen_but_for_totals() -> None:
    found = [one for one in of_the_core() if dataclasses.is_dataclass(one)]
    assert {one.__name__ for one in found if not one.__dataclass_params__.frozen} == CHANGED  # type: ignore[attr-defined]


def test_values_have_their_fields_and_no_other_attribute() -> None:
    found = [one for one in of_the_core() if dataclasses.is_dataclass(one)]
    assert [one for one in found if "__slots__" not in vars(one)] == []
