"""Starting to publish a batch that somebody has confirmed: the account is asked, then a worker writes its HITs."""

from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from annotators.crowds.mturk.gateway import Gateway, MarketError
from surveys.models import Batch
from surveys.publishing import preconditions
from surveys.publishing.questionnaires import CannotPublish, begin
from surveys.publishing.terms.batch_form import is_paying


@dataclass(frozen=True, slots=True)
class Started:
    """Not `is_first`: it was published before. `warning` is what the marketplace did not say, "" if nothing."""

    is_first: bool
    warning: str = ""


def start(batch: Batch, *, by: AbstractBaseUser | AnonymousUser) -> Started:
    """Begin to publish a draft, once; whoever calls has a worker do the rest. Raises CannotPublish. Asks the
    marketplace before any transaction."""
    warning = _check_account(batch)
    return Started(begin(batch, by=by), warning)


def _check_account(batch: Batch) -> str:
    """Raise CannotPublish if the account holds too little, or can't be asked where money is real."""
    if batch.status != Batch.Status.DRAFT or not batch.has_market or preconditions.problems(batch):
        return ""
    try:
        problem = preconditions.balance_problem(batch, gateway=Gateway(batch.endpoint))
    except MarketError as error:
        unknown = f"The marketplace did not say what the account holds: {error}"
        if is_paying(batch):
            raise CannotPublish(f"{unknown} Nothing was published.") from error
        return unknown
    if problem:
        raise CannotPublish(problem)
    return ""
