"""Sequences: n texts between n+1 pictures, each named in the file or found by the item's id and a number."""

from collections.abc import Iterator, Sequence

from surveys.protocols.definition import Definition
from surveys.studies.importing.columns import Columns
from surveys.studies.importing.plan import Cell, Problem
from surveys.studies.importing.tables import Row

ANY_ENDING = ".*"


def state_name(subject: str, number: int) -> str:
    """Return the name of a state, from 1, whose picture may be of any kind: `8_1.*`."""
    return f"{subject}_{number}{ANY_ENDING}"


def one_line(steps: Sequence[Cell]) -> str:
    """Return the steps with a line each, whatever line breaks they had."""
    return "\n".join(" ".join(step.text.split()) for step in steps)


def images_of(row: Row, *, columns: Columns, definition: Definition) -> tuple[Cell, ...]:
    """Return the pictures a row names; those of a sequence that names none go by its id."""
    if columns.has_images:
        return tuple(row.parts(columns.image))
    cell = row.cell(columns.id)
    n = len(row.parts(columns.text))
    return tuple(cell._replace(text=state_name(cell.text, k)) for k in range(1, n + 2))


def step_problems(row: Row, *, columns: Columns) -> Iterator[Problem]:
    """Yield what doesn't fit: gaps among the texts, their number against that of the pictures and references."""
    steps = row.parts(columns.text)
    whole = row.cell(columns.text)
    for n, step in enumerate(steps, 1):
        if not step.text and len(steps) > 1:
            yield whole.warning(f"Text {n} of {len(steps)} is empty; annotators will see a gap.")
    images = len(row.parts(columns.image)) if columns.has_images else len(steps) + 1
    if images != len(steps) + 1:
        yield row.cell(columns.image).error(
            f"There must be one picture more than texts; the row has {images} to {len(steps)}."
        )
    references = len(row.parts(columns.references)) if columns.references else len(steps)
    if references != len(steps):
        yield row.cell(columns.references).warning(
            f"Texts: {len(steps)}, reference texts: {references}; metrics compare them line by line."
        )
