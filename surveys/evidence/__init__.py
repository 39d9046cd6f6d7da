"""What the rules look at, read from the database in a constant number of queries. Writes nothing."""

from surveys.evidence.checks import COLUMN, CheckError, read_check
from surveys.evidence.reading import evidence_of_batch, evidence_of_worker
from surveys.evidence.shares import cap_of, has_reached_cap

__all__ = [
    "COLUMN",
    "CheckError",
    "cap_of",
    "evidence_of_batch",
    "evidence_of_worker",
    "has_reached_cap",
    "read_check",
]
