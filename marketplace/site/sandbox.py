"""What the document of a task may do in its frame."""

from django.conf import settings


def permissions(*, has_origin: bool) -> str:
    """Return the tokens of the HTML `sandbox` attribute. Without an origin a document can reach nothing of ours.

    Templates written for MTurk tell workers what is missing with alert(), and psiTurk works in a window of its own;
    strict frames allow neither.
    """
    tokens = ["allow-scripts", *(["allow-same-origin"] if has_origin else []), "allow-forms"]
    tokens += [] if settings.MARKETPLACE_STRICT_FRAMES else ["allow-popups", "allow-modals"]
    return " ".join(tokens)
