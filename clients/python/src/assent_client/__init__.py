"""A study with Assent from a script."""

from assent_client.client import Client
from assent_client.errors import (
    AssentError,
    Conflict,
    FileRefused,
    Invalid,
    Mistake,
    NotAllowed,
    NotFound,
    NotSignedIn,
    TooManyRequests,
    Unreachable,
)
from assent_client.webhooks import is_signed
from assent_client.work import (
    Assignment,
    Batch,
    Imported,
    Invitation,
    Item,
    Money,
    Price,
    Progress,
    Study,
    SurveyType,
)

__all__ = [
    "AssentError",
    "Assignment",
    "Batch",
    "Client",
    "Conflict",
    "FileRefused",
    "Imported",
    "Invalid",
    "Invitation",
    "Item",
    "Mistake",
    "Money",
    "NotAllowed",
    "NotFound",
    "NotSignedIn",
    "Price",
    "Progress",
    "Study",
    "SurveyType",
    "TooManyRequests",
    "Unreachable",
    "is_signed",
]
