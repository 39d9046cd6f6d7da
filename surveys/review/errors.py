"""What a person asks for and can't have."""

from annotators.outbox.market import FEEDBACK_MAX


class CannotDecide(Exception):
    """A person asked for a decision that is not possible now; the message says why."""


def check_reason(
    reason: str, *, what: str, reader: str = "the worker reads it", longest: int = FEEDBACK_MAX
) -> str:
    """Return a reason without the spaces around it. Raises CannotDecide if it is empty or longer than MTurk takes."""
    if not reason.strip():
        raise CannotDecide(f"{what} needs a reason: {reader}.")
    if len(reason) > longest:
        raise CannotDecide(f"MTurk passes on {longest} characters of a reason; this one is longer.")
    return reason.strip()
