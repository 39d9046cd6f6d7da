"""Who may come without a marketplace: personal links, names with an access code, and people a panel sends."""

from surveys.inviting.admissions import (
    Admission,
    Completion,
    NotAdmitted,
    admit,
    admit_by_code,
    admit_panel,
    completion,
)
from surveys.inviting.invitations import (
    CannotInvite,
    Invited,
    Person,
    address,
    invite,
    panel_address,
    renew_key,
    revoke,
)

__all__ = [
    "Admission",
    "CannotInvite",
    "Completion",
    "Invited",
    "NotAdmitted",
    "Person",
    "address",
    "admit",
    "admit_by_code",
    "admit_panel",
    "completion",
    "invite",
    "panel_address",
    "renew_key",
    "revoke",
]
