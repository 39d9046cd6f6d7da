"""What every crowd is offered, whoever brings it."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class HITTypeTerms:
    """What a HITType is made of; two equal terms are one HITType."""

    title: str
    description: str
    keywords: str
    reward: Decimal
    assignment_duration: timedelta
    auto_approval_delay: timedelta
