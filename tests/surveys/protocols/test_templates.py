"""Templates are survey types without a fault, and each comes with three items that it can import."""

import pytest

from surveys.protocols.registry import DEFINITIONS
from surveys.protocols.templates import FOLDER, ORDER, templates
from surveys.studies.importing.reading import read_items


@pytest.mark.parametrize("key", ORDER)
def test_a_template_reads_and_its_items_are_imported(key: str) -> None:
    template = templates()[key]
    plan = read_items(template.items.encode(), definition=template.definition)
    assert (plan.problems, len(plan.items)) == ((), 3)


def test_every_file_is_offered_and_no_name_is_a_built_in_one() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.yaml")) == sorted(ORDER)
    assert {one.definition.key for one in templates().values()}.isdisjoint(DEFINITIONS)


def test_what_can_be_skipped_stands_alone_in_its_hit() -> None:
    """Else no batch of it can be published."""
    definitions = [one.definition for one in templates().values()]
    assert {one.items_per_hit for one in definitions if one.skip_reasons} == {1}
