"""What any crowd is offered and can do, whoever brings it. Others ask for this, never for a crowd by its name."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db.models import Q

from annotators.models import Assignment, Channel, Endpoint

# What our own marketplace gives, once, beyond the time of an assignment; no other gives any.
MORE_TIME = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class HITTypeTerms:
    """What a HITType is made of; two equal terms are one HITType."""

    title: str
    description: str
    keywords: str
    reward: Decimal
    assignment_duration: timedelta
    auto_approval_delay: timedelta


@dataclass(frozen=True, slots=True)
class Crowd:
    """What goes with people who come one way.

    `has_market`: a marketplace lists the work, names its worker once it is submitted, is told what we decide, and pays.
    Without one, work is handed in and decided here. `is_invited`: we know whom we asked, by name. `is_panel`: a panel
    sent them for one visit and wants them back with a completion code.
    """

    has_market: bool = False
    is_invited: bool = False
    is_panel: bool = False


CROWDS = {
    Channel.MARKETPLACE.value: Crowd(has_market=True),
    Channel.LINK.value: Crowd(is_invited=True),
    Channel.PANEL.value: Crowd(is_panel=True),
}
WHOSE_FEE = {
    Endpoint.EMBEDDED.value: "of this server’s marketplace, as MTurk’s was",
    Endpoint.LINK.value: "none of ours; a panel charges its own",
}
_MARKET_CHANNELS = [channel for channel, crowd in CROWDS.items() if crowd.has_market]
_MARKETS = [endpoint.value for endpoint in Endpoint if endpoint != Endpoint.LINK]


def crowd_of(assignment: Assignment) -> Crowd:
    """Return what the crowd that an assignment came from can do."""
    return CROWDS[assignment.channel]


def by_market(assignment: str = "") -> Q:
    """Tell, in a query, which work came by a marketplace; `assignment` leads to the assignment ("assignment__")."""
    return Q(**{f"{assignment}channel__in": _MARKET_CHANNELS})


def has_market(endpoint: str) -> bool:
    """Tell whether HITs of this endpoint are on a marketplace, which lists them, pays for them and takes a fee."""
    return endpoint in _MARKETS


def whose_fee(endpoint: str) -> str:
    """Return, to stand behind the word fee, who charges one for HITs of this endpoint."""
    return WHOSE_FEE.get(endpoint, "Amazon’s, for MTurk")


def on_market(hit_type: str = "") -> Q:
    """Tell, in a query, which HITs or batches are for a marketplace; `hit_type` leads to what has the endpoint."""
    return Q(**{f"{hit_type}endpoint__in": _MARKETS})
