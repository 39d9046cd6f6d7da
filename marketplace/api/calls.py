"""What every operation is given: who asks, with which values; and the page of a list that is asked for.

Pages go by key, so that one costs the same at the end of a long list as at its start.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeVar

from django.core import signing
from django.db.models import Model, QuerySet

from marketplace import refusals
from marketplace.api import visibility
from marketplace.api.errors import bad_value
from marketplace.engine import assignments, hits
from marketplace.models import HIT, Assignment, QualificationType, Requester, Worker
from marketplace.qualifications import qualification_types

Body = dict[str, Any]
Row = TypeVar("Row", bound=Model)
HIGHEST_CENTS = 100_000_000
DEFAULT_PAGE = 10
SALT = "marketplace.paging"


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
        assignment = assignments.find_assignment(self.body["AssignmentId"], requester=self.requester)
        if visibility.is_unseen(assignment, now=self.now):
            assignment.status = Assignment.Status.OPEN
        return assignment

    def worker(self) -> Worker:
        worker = Worker.objects.filter(worker_id=self.body["WorkerId"]).first()
        if worker is None:
            raise refusals.worker_does_not_exist(self.body["WorkerId"])
        return worker

    def own_qualification_type(self) -> QualificationType:
        return qualification_types.find(self.body["QualificationTypeId"], owner=self.requester)

    def cents(self, parameter: str) -> int:
        """Read an amount of money. Raises ApiError when no payment can be that high."""
        dollars: str = self.body[parameter]
        amount = int(Decimal(dollars) * 100) if len(dollars) <= 12 else HIGHEST_CENTS + 1
        if amount > HIGHEST_CENTS:
            raise bad_value(dollars, parameter)
        return amount

    def page(self, rows: QuerySet[Row], *, scope: str) -> tuple[list[Row], str | None]:
        """Return one page in the order of creation, and the token of the next, given for every non-empty page."""
        after = _position(self.body.get("NextToken"), scope=scope)
        size = self.body.get("MaxResults", DEFAULT_PAGE)
        shown = list(rows.filter(pk__gt=after).order_by("pk")[:size])
        token = signing.dumps([scope, shown[-1].pk], salt=SALT) if shown else None
        return shown, token


def _position(token: str | None, *, scope: str) -> int:
    if token is None:
        return 0
    try:
        given_scope, position = signing.loads(token, salt=SALT)
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise bad_value(token, "NextToken") from error
    if given_scope != scope:
        raise bad_value(token, "NextToken")
    return int(position)


def listing(name: str, structures: list[Body], *, token: str | None) -> Body:
    """The output every List operation shares: the structures, their number, and a token if there are any."""
    answer: Body = {"NumResults": len(structures), name: structures}
    return {**answer, "NextToken": token} if token else answer
