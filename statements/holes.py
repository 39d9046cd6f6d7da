"""Where the values go that are others each time."""

from datetime import timedelta
from typing import Any

from django.db import connection, models
from django.db.models import Expression

BITS = 63  # and a sign; a cast comes before it, so that PostgreSQL can't read the least number of 64
# Whole numbers are as wide as they come, so that one that no column holds matches none; texts of any length are one.
KINDS = {"integer": "bigint", "smallint": "bigint", "varchar": "text"}
# What needs no making ready for the database, which takes longer than to send it. Exactly these types: an enum, or a
# text of a type of its own, is left to its field, and so is None.
AS_IT_IS: dict[type, type] = {
    models.CharField: str, models.TextField: str, models.FloatField: float, models.BooleanField: bool,
    models.IntegerField: int, models.PositiveIntegerField: int, models.PositiveSmallIntegerField: int,
    models.AutoField: int, models.BigAutoField: int,
}  # fmt: skip


def kind_as_it_is(field: Any) -> type | None:
    """Return of what type a field's values are sent as they are, if there is one."""
    return AS_IT_IS.get(type(getattr(field, "target_field", field)))


class Hole(Expression):
    """Where a value goes, by name. It is made ready for the database as one of its field."""

    def __init__(self, name: str, field: Any) -> None:
        super().__init__(output_field=field)
        self.name = name
        self.kind_as_it_is = kind_as_it_is(field)

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self]

    def ready(self, value: Any) -> Any:
        """Return it for the database. Raises OverflowError of a number beyond 64 bits, as SQLite's driver would."""
        is_ready = type(value) is self.kind_as_it_is
        stored = value if is_ready else self.output_field.get_db_prep_value(value, connection=connection)
        if type(stored) is int and stored.bit_length() > BITS:
            raise OverflowError(f"{self.name}: {stored}")
        return stored

    @property
    def kind(self) -> str:
        """What PostgreSQL calls it, without a length: a cast to varchar(9) cuts the text that such a column refuses."""
        name = str(self.output_field.db_type(connection)).partition("(")[0]
        return KINDS.get(name, name)


class Moment(Hole):
    """Where a time goes; a timedelta more or less makes another, which is so much later or earlier."""

    def __init__(self, name: str, after: timedelta = timedelta(0)) -> None:
        super().__init__(name, models.DateTimeField())
        self.after = after

    def __add__(self, other: Any) -> Any:
        return self._later(other) if isinstance(other, timedelta) else super().__add__(other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._later(-other) if isinstance(other, timedelta) else super().__sub__(other)

    def _later(self, by: timedelta) -> "Moment":
        return Moment(self.name, self.after + by)

    def ready(self, value: Any) -> Any:
        if value is None or value.tzinfo is None:
            return super().ready(value and value + self.after)
        # All that the field would do with it.
        return connection.ops.adapt_datetimefield_value(value + self.after)


class Column(Hole):
    """Where all values of a column go, for many rows in one PostgreSQL statement."""

    @property
    def kind(self) -> str:
        return f"{super().kind}[]"
