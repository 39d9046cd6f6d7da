"""Whether a worker may go on: the third decision, apart from pay and from what is used in the analysis."""

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from annotators.models import Worker
from surveys import audit


@transaction.atomic
def change_standing(worker: Worker, *, to: str, was: str, reason: str, by: AbstractBaseUser) -> bool:
    """Change a worker's standing from `was`, with who did so and why; False if it is not that any more.

    Nothing is written down where nothing changes.
    """
    changed = Worker.objects.filter(pk=worker.pk, standing=was).update(standing=to) == 1
    if changed and to != was:
        audit.record(audit.Kind.STANDING, to, worker=worker, by=by, reason=reason, details={"was": was})
    worker.refresh_from_db(fields=["standing"])
    return changed
