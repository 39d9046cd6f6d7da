"""The latest calls of the API, kept while the control API is open."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import DatabaseError

from marketplace import clock
from marketplace.models import LoggedCall, Requester

MOST_KEPT = 5_000
LOOK_EVERY = 100
LONGEST_VALUE = 200
SECRET = frozenset({"AnswerKey"})
logger = logging.getLogger(__name__)


@dataclass
class Trace:
    """What became known of a call on its way; a refusal may end it anywhere."""

    requester: Requester | None = None
    operation: str = ""
    body: Mapping[str, Any] = field(default_factory=dict)
    now: datetime | None = None  # the marketplace's time at which it was carried out


def write(trace: Trace, *, status: int, code: str) -> None:
    """Keep a call and forget the oldest. Never fails: a log is no reason to refuse."""
    try:
        row = LoggedCall.objects.create(
            requester=trace.requester,
            operation=trace.operation,
            status=status,
            code=code,
            request=json.dumps({name: _shown(name, value) for name, value in trace.body.items()}),
            called_at=clock.now(),
        )
        if row.pk % LOOK_EVERY == 0:
            LoggedCall.objects.filter(pk__lte=row.pk - MOST_KEPT).delete()
    except DatabaseError:
        logger.warning("A call was not logged", exc_info=True)


def _shown(name: str, value: Any) -> Any:
    if name in SECRET:
        return "(not kept)"
    text = json.dumps(value)
    return value if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."


def as_dict(row: LoggedCall) -> dict[str, Any]:
    """Return a call as the control API shows it; `status` 0 means that the connection was cut."""
    return {
        "number": row.pk,
        "time": row.called_at.isoformat(),
        "requester": row.requester.name if row.requester else None,
        "operation": row.operation,
        "status": row.status,
        "code": row.code,
        "request": json.loads(row.request),
    }
