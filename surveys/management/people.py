"""The person that somebody names on the command line."""

from django.core.management.base import CommandError
from django.db.models import QuerySet

from annotators.models import Worker
from annotators.people.names import WHOLE
from annotators.people.pseudonyms import called, known_worker


def the_person(text: str, *, source: str | None) -> Worker:
    """Return who has this pseudonym or id. Raises CommandError unless it is exactly one."""
    found = [worker for worker in _named(text) if source in {None, worker.source}]
    if not found:
        raise CommandError(f"Nobody has the pseudonym or id {text}.")
    if len(found) > 1:
        crowds = ", ".join(worker.source for worker in found)
        raise CommandError(f"Several have it; say whom you mean by --source: {crowds}.")
    return found[0]


def _named(text: str) -> QuerySet[Worker]:
    """Return who has this pseudonym, all of it, or this id; several where crowds give the same id."""
    everybody = Worker.objects.all()
    sources = everybody.order_by().values_list("source", flat=True).distinct()
    by_id = [known_worker(text, source=source) for source in sources]
    pseudonymous = called(text, among=everybody) if len(text) == WHOLE else []
    return everybody.filter(pk__in=[*pseudonymous, *(one.pk for one in by_id if one)]).order_by("pk")
