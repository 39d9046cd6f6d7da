"""Forms built from a definition."""

from surveys.forms.quiz import QuizForm
from surveys.forms.worker import DraftForm, HitForm, Progress, draft_from

__all__ = ["DraftForm", "HitForm", "Progress", "QuizForm", "draft_from"]
