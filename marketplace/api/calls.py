"""What every operation is given."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from marketplace import refusals
from marketplace.api import visibility
from marketplace.engine import assignments, hits
from marketplace.models import HIT, Assignment, QualificationType, Requester, Worker
from marketplace.qualifications import qualification_types

Body = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """Who asks, with which values, at which time of the marketplace."""

    requester: Requester
    body: Body
    now: datetime

    def hit(self) -> HIT:
        return hits.find_hit(self.body["HITId"], requester=self.requester)

    def assignment(self) -> Assignment:
        """Return the assignment as the requester sees it: open until its submission is visible."""
        found = assignments.find_assignment(self.body["AssignmentId"], requester=self.requester)
        if visibility.is_unseen(found, now=self.now):
            found.status = Assignment.Status.OPEN
        return found

    def worker(self) -> Worker:
        found = Worker.objects.filter(worker_id=self.body["WorkerId"]).first()
        if found is None:
            raise refusals.worker_does_not_exist(self.body["WorkerId"])
        return found

    def own_qualification_type(self) -> QualificationType:
        return qualification_types.find(self.body["QualificationTypeId"], owner=self.requester)
