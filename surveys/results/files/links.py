"""Personal links to mail to people. Cells are made safe to open in a spreadsheet.

Nothing in it stands in any file of results, so that no two files put together say who gave which answers.
"""

import csv
from collections.abc import Iterable
from typing import IO

from surveys.models import Invitation
from surveys.results.files.csv_text import safe_text

HEADER = ("name", "email", "address", "expires_at", "access_code")


def write_links(rows: Iterable[tuple[Invitation, str, str]], stream: IO[str]) -> None:
    """Write one row for each (invitation, address, access code); the code is "" where it is not known any more."""
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(HEADER)
    for invitation, address, access_code in rows:
        cells = (
            invitation.name,
            invitation.email,
            address,
            invitation.expires_at.isoformat(timespec="seconds"),
            access_code,
        )
        writer.writerow([safe_text(cell) for cell in cells])
