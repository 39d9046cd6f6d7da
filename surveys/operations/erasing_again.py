"""After a restore: whoever was erased since the backup is in it again, and is erased once more."""

from collections import defaultdict
from collections.abc import Iterable

from django.db import transaction

from annotators.models import Worker
from surveys import audit
from surveys.operations import erasing, own_data
from surveys.operations.erased import Deed, Line, about


@transaction.atomic
def erase_again(lines: Iterable[Line]) -> int:
    """Erase whom these lines are about and who is here as before; return how many.

    Nothing is in its way: when it was done, all was settled that the books of the backup show as open.
    """
    noted: dict[str, list[Line]] = defaultdict(list)
    for line in lines:
        noted[line.whom].append(line)
    workers = Worker.objects.order_by("pk").iterator() if noted else iter(())
    due = [(worker, deed) for worker in workers if (deed := about(worker, noted=noted))]
    for worker, deed in due:
        _erase(worker, deed)
        audit.record(audit.Kind.PURGE, "again", worker=Worker.objects.get(pk=worker.pk))
    return len(due)


def _erase(worker: Worker, deed: Deed) -> None:
    if deed in {Deed.FORGET, Deed.UNTRACEABLE}:
        own_data.erase_person(worker, is_untraceable=deed == Deed.UNTRACEABLE)
    else:
        erasing.erase(worker, comments=deed == Deed.COMMENTS)
