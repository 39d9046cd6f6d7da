"""The person that somebody names on the command line."""

from django.core.management.base import CommandError

from annotators.models import Worker
from surveys.operations.own_data import called


def the_person(text: str, *, source: str | None) -> Worker:
    """Return who has this pseudonym or id. Raises CommandError unless it is exactly one."""
    found = [worker for worker in called(text) if source in {None, worker.source}]
    if not found:
        raise CommandError(f"Nobody has the pseudonym or id {text}.")
    if len(found) > 1:
        crowds = ", ".join(worker.source for worker in found)
        raise CommandError(f"Several have it; say whom you mean by --source: {crowds}.")
    return found[0]
