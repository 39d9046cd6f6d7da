"""Drafts of template batches, and how far published ones have come."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count, F, Q, Sum

from marketplace.models import HIT, BatchRow, TemplateBatch

CHUNK = 500


@dataclass(frozen=True)
class Progress:
    """Assignments of a batch by what became of them; `asked` is how many there are in all."""

    hits: int
    done_hits: int
    asked: int
    pending: int
    submitted: int
    approved: int
    rejected: int

    @property
    def received(self) -> int:
        return self.submitted + self.approved + self.rejected


@transaction.atomic
def save(draft: TemplateBatch, *, rows: list[list[str]], now: datetime) -> TemplateBatch:
    """Store a draft with its rows, numbered from 1."""
    draft.created_at = now
    draft.save()
    new = (BatchRow(batch=draft, number=number, values=row) for number, row in enumerate(rows, start=1))
    BatchRow.objects.bulk_create(new, batch_size=CHUNK)
    return draft


def discard(batch: TemplateBatch) -> bool:
    """Delete a draft; return False when it was published meanwhile."""
    return TemplateBatch.objects.filter(pk=batch.pk, published_at=None).delete()[0] > 0


def progress(batch: TemplateBatch) -> Progress:
    """Count a published batch in one query, however many rows it has."""
    full = Q(max_assignments=F("submitted") + F("approved") + F("rejected"))
    counts = HIT.objects.filter(batch_row__batch=batch).aggregate(
        hits=Count("pk"),
        done_hits=Count("pk", filter=full),
        asked=Sum("max_assignments", default=0),
        **{name: Sum(name, default=0) for name in ("pending", "submitted", "approved", "rejected")},
    )
    return Progress(**counts)
