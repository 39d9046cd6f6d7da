"""Statements about workers."""

from typing import Any

from annotators.models import Worker
from statements import Hole, Statement


def column(name: str) -> Any:
    return Worker._meta.get_field(name)


def named() -> Statement[Worker]:
    return Statement(
        lambda: Worker.objects.filter(worker_id=Hole("name", column("worker_id")), standing="ok").order_by(
            "pk"
        )
    )


def new(*names: str) -> list[Worker]:
    return [Worker(worker_id=name, source="embedded") for name in names]
