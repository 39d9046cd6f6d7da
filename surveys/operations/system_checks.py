"""What `manage.py check` says about settings that only a survey would stumble over."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from annotators import failpoints
from metrics import METRICS

TEXTS = ("prediction", "references")


@register()
def check_metrics(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Refuse metrics that don't exist or don't compare texts, and a thesaurus that isn't there."""
    known = [name for name, metric in METRICS.items() if metric.inputs == TEXTS]
    errors: list[CheckMessage] = [
        Error(f"ASSENT_METRICS: {name!r} is none of {', '.join(known)}.", id="surveys.E001")
        for name in settings.METRICS_IN_USE
        if name not in known
    ]
    if settings.METRICS_THESAURUS and not Path(settings.METRICS_THESAURUS).exists():
        errors.append(
            Error(f"ASSENT_THESAURUS: there is no {settings.METRICS_THESAURUS}.", id="surveys.E002")
        )
    return errors


@register(Tags.security, deploy=True)
def check_failpoints(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Warn where processes can be killed by whoever writes into a folder."""
    text = "ASSENT_FAILPOINTS is set: it lets the crash tests kill this site's processes."
    return [Warning(text, id="surveys.W001")] if failpoints.FOLDER else []
