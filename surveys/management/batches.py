"""Batches as commands name them."""

from django.core.management.base import CommandError

from surveys.models import Batch


def find_batch(name: str) -> Batch:
    """Return the batch with this name, else with this number. Raises CommandError if there is none."""
    batches = Batch.objects.select_related("survey")
    found = batches.filter(name=name).first()
    if found is None and name.isdecimal():
        found = batches.filter(pk=int(name)).first()
    if found is None:
        raise CommandError(f"There is no batch {name!r}.")
    return found
