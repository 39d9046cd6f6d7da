"""A duration as people say it: a number and a unit."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django import forms

UNITS = {
    "minutes": timedelta(minutes=1),
    "hours": timedelta(hours=1),
    "days": timedelta(days=1),
}


def in_words(duration: timedelta) -> str:
    """Return `duration` in the largest unit that divides it, for example "36 hours"."""
    number, unit = split(duration)
    return f"{number.normalize():f} {unit if number != 1 else unit[:-1]}"


def split(duration: timedelta) -> tuple[Decimal, str]:
    """Return (number, unit) in the largest unit that holds a whole number, else in minutes with decimals."""
    for unit, one in reversed(UNITS.items()):
        if duration and not duration % one:
            return Decimal(duration // one), unit
    return round(Decimal(duration.total_seconds()) / 60, 2), "minutes"


class DurationWidget(forms.MultiWidget):
    """A number field and a menu of units side by side."""

    def __init__(self, attrs: dict[str, Any] | None = None) -> None:
        number = forms.NumberInput(attrs={"min": 0, "step": "any", "class": "duration-number"})
        unit = forms.Select(choices=[(unit, unit) for unit in UNITS], attrs={"class": "duration-unit"})
        super().__init__({"number": number, "unit": unit}, attrs)

    def decompress(self, value: timedelta | None) -> list[Any]:
        return list(split(value)) if value is not None else [None, "hours"]

    def id_for_label(self, id_: str) -> str:
        return f"{id_}_0" if id_ else id_

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        unit = context["widget"]["subwidgets"][1]
        unit["attrs"]["aria-label"] = f"Unit of {name.replace('_', ' ')}"
        return context


class DurationField(forms.MultiValueField):
    """Cleans to a timedelta between `shortest` and `longest`, both allowed."""

    widget = DurationWidget

    def __init__(self, *, shortest: timedelta, longest: timedelta, **kwargs: Any) -> None:
        self.shortest, self.longest = shortest, longest
        number = forms.DecimalField(min_value=0, max_digits=12)
        unit = forms.ChoiceField(choices=[(unit, unit) for unit in UNITS])
        super().__init__((number, unit), **kwargs)

    def compress(self, data_list: Sequence[Any]) -> timedelta | None:
        if not data_list:
            return None
        number, unit = data_list
        try:
            return timedelta(seconds=round(float(number) * UNITS[unit].total_seconds()))
        except OverflowError:
            return timedelta.max

    def validate(self, value: timedelta | None) -> None:
        super().validate(value)
        if value is not None and value < self.shortest:
            raise forms.ValidationError(f"At least {in_words(self.shortest)}.", code="too_short")
        if value is not None and value > self.longest:
            raise forms.ValidationError(f"At most {in_words(self.longest)}.", code="too_long")
