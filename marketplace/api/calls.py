"""What every operation is given."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from marketplace import engine, engine_hits
from marketplace.models import HIT, Assignment, Requester

Body = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """Who asks, with which values, at which time of the marketplace."""

    requester: Requester
    body: Body
    now: datetime

    def hit(self) -> HIT:
        return engine_hits.find_hit(self.body["HITId"], requester=self.requester)

    def assignment(self) -> Assignment:
        return engine.find_assignment(self.body["AssignmentId"], requester=self.requester)
