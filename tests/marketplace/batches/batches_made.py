"""Template batches the tests make, as drafts and published, without the admin's pages."""

from django.utils import timezone

from marketplace.batches import drafts, publishing, tables
from marketplace.engine import assignments
from marketplace.models import HIT, TemplateBatch

TEMPLATE = '<crowd-form><p>${question}</p><img src="${picture}" alt=""><input name="answer"></crowd-form>'
TABLE = b'picture,question\n1.jpg,"Who, and where?"\n2.jpg,<b>Why?</b>\n'


def draft(requester, *, template=TEMPLATE, table=TABLE, **values):
    """Store a draft of the table's rows."""
    read = tables.read(table)
    terms = {
        "title": "Look at pictures",
        "description": "Short questions.",
        "keywords": "image",
        "reward_cents": 38,
        "duration_seconds": 3600,
        "auto_approval_seconds": 259_200,
        "lifetime_seconds": 86_400,
        "max_assignments": 5,
    }
    made = TemplateBatch(requester=requester, template=template, columns=read.columns, **{**terms, **values})
    return drafts.save(made, rows=read.rows, now=timezone.now())


def published(requester, *, now=None, **values):
    batch = draft(requester, **values)
    publishing.publish(batch, now=now or timezone.now())
    return batch


def hits(batch):
    return list(HIT.objects.filter(batch_row__batch=batch).order_by("batch_row__number"))


def work(hit, *, worker, answer, now=None):
    """Accept and submit; return the assignment."""
    now = now or timezone.now()
    assignment = assignments.accept(hit, worker=worker, now=now)
    assignments.submit(assignment, answer=answer, now=now)
    assignment.refresh_from_db()
    return assignment
