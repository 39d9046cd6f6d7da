"""Forms built from a definition."""

from surveys.forms.worker import HitForm

__all__ = ["HitForm"]
