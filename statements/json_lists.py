"""Questions about a list that is in a column as JSON, which Django has no words for."""

from typing import Any

from django.db.models import Func, IntegerField


class PlaceIn(Func):
    """Where, from 0, a text stands in a list of texts: `PlaceIn(list, text)`. None where it is not in it.

    Of a list with numbers in it the databases say different things.
    """

    template = "(SELECT MIN(key) FROM JSON_EACH(%(expressions)s)"
    arg_joiner = ") WHERE value = "
    arity = 2
    output_field = IntegerField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "(SELECT MIN(place) - 1 FROM JSONB_ARRAY_ELEMENTS_TEXT(%(expressions)s)"
        joiner = ") WITH ORDINALITY AS one(value, place) WHERE value = "
        return self.as_sql(compiler, connection, template=template, arg_joiner=joiner, **context)
