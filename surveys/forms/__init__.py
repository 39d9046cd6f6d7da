"""Forms built from a definition."""

from surveys.forms.worker import DraftForm, HitForm, Progress

__all__ = ["DraftForm", "HitForm", "Progress"]
