"""What can be wrong with a file of answers, said so that the place can be found."""


class SourceError(ValueError):
    """A file can't be read as answers. `row` counts as a spreadsheet does: the header is row 1."""

    def __init__(self, problem: str, *, row: int | None = None, column: str = "") -> None:
        place = [f"row {row}"] if row is not None else []
        place += [f"column {column!r}"] if column else []
        super().__init__(f"{', '.join(place)}: {problem}" if place else problem)
        self.row = row
        self.column = column
