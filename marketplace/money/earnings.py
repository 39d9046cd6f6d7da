"""What a worker has earned and may still earn."""

from dataclasses import dataclass

from django.db.models import Count, Q, Sum

from marketplace.models import Assignment, Entry, Worker

Account = Entry.Account


@dataclass(frozen=True)
class Earnings:
    """Cents: `rewards` and `bonuses` were paid; `pending` is for the `waiting` assignments not decided yet."""

    rewards: int
    bonuses: int
    waiting: int
    pending: int

    @property
    def paid(self) -> int:
        return self.rewards + self.bonuses


def of(worker: Worker) -> Earnings:
    """Add a worker's money up. Two queries."""
    # Rewards come out of what is held, bonuses out of what is available (`ledger`).
    paid = Entry.objects.filter(assignment__worker=worker, target=Account.WORKERS).aggregate(
        rewards=Sum("cents", filter=Q(source=Account.HELD), default=0),
        bonuses=Sum("cents", filter=Q(source=Account.AVAILABLE), default=0),
    )
    open_rows = Assignment.objects.filter(worker=worker, status=Assignment.Status.SUBMITTED)
    undecided = open_rows.aggregate(
        waiting=Count("pk"), pending=Sum("hit__hit_type__reward_cents", default=0)
    )
    return Earnings(**paid, **undecided)
