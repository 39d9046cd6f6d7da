"""How lines of the log look, and what never stands in them: tokens, access codes, queries, worker ids, rows."""

import json
import logging
import re
from datetime import UTC, datetime

from surveys.operations import log_context

HIDDEN = "***"
# Whoever knows such an address is let in. Numbers and words that follow are other pages of the same name.
SECRET_PATH = re.compile(
    r"""(/(?:
        links/(?!sign-in/) | panel/ | invitations/ | appeals/(?!open/|\d+/) | shared/ | samples/
        | team/(?!\d+/|(?:invite|add)(?:[\s?"']|$))
        | import/(?:pictures/)?(?!pictures(?:[\s?"']|$))
    ))[^/\s?"']+""",
    re.VERBOSE,
)
QUERY = re.compile(r"(/[^\s?\"']*)\?[^\s\"']+")
# MTurk's WorkerIds and AWS's access key ids: a capital A, then capitals and digits.
WORKER_ID = re.compile(r"\bA(?=[A-Z]*\d)[0-9A-Z]{9,19}\b")
# PostgreSQL quotes whole rows in the detail of an error.
ROW = re.compile(r"DETAIL: .*")
EXTRAS = ("method", "path", "view", "status", "duration_ms")


def mask(text: str) -> str:
    """Return `text` without what lets somebody in, tells who somebody is, or is an answer."""
    text = SECRET_PATH.sub(rf"\1{HIDDEN}", text)
    text = QUERY.sub(rf"\1?{HIDDEN}", text)
    return ROW.sub(f"DETAIL: {HIDDEN}", WORKER_ID.sub(HIDDEN, text))


class PlainFormatter(logging.Formatter):
    """A line of text for people."""

    def format(self, record: logging.LogRecord) -> str:
        return mask(super().format(record))


class JsonFormatter(logging.Formatter):
    """One JSON object a line; of what a record carries, only EXTRAS and what `log_context` knows."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **log_context.facts(),
            **{name: getattr(record, name) for name in EXTRAS if hasattr(record, name)},
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        masked = {name: mask(value) if isinstance(value, str) else value for name, value in line.items()}
        return json.dumps(masked, default=str)
