"""A JSON column that is read only when somebody asks: a definition is 20 to 40 kB, and comes with every batch."""

import json
from typing import Any

from django.db import models
from django.db.models.fields.json import KeyTransform
from django.db.models.query_utils import DeferredAttribute

EMPTY = {"{}", "null"}  # which is read at once, so that nobody takes its text for something


class Unread(str):
    """The text of a column, as `values` and `values_list` give it too."""

    __slots__ = ()


class _Read(DeferredAttribute):
    """Reads the text at the first look at it; each row has data of its own."""

    def __get__(self, instance: Any, cls: Any = None) -> Any:
        found = super().__get__(instance, cls)
        if type(found) is Unread:
            found = instance.__dict__[self.field.attname] = json.loads(found)
        return found

    def __set__(self, instance: Any, value: Any) -> None:
        """Be looked at before what the row holds (a descriptor without this is looked at after)."""
        instance.__dict__[self.field.attname] = value


class UnreadJSONField(models.JSONField):
    """To migrations it is a JSONField, as to the database."""

    descriptor_class = _Read

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        if type(value) is str and value not in EMPTY and not isinstance(expression, KeyTransform):
            return Unread(value)
        return super().from_db_value(value, expression, connection)

    def deconstruct(self) -> Any:
        name, _, arguments, options = super().deconstruct()
        return name, "django.db.models.JSONField", arguments, options
