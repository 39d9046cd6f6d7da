"""Forms built from a definition."""

from surveys.forms.worker import DraftForm, HitForm, Progress, draft_from

__all__ = ["DraftForm", "HitForm", "Progress", "draft_from"]
