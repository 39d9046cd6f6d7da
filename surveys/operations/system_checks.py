"""What `manage.py check` says about settings that only a survey would stumble over."""

import stat
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from annotators import failpoints
from surveys.operations import disk
from surveys.operations.backups.state import key_prints

TEXTS = ("prediction", "references")
HANGING = (
    "sessions, open forms and personal links; worker pseudonyms in new files, the recognition of purged workers and "
    "the list of deleted ones; the marketplace's access codes, invitations, access keys and its list of erased accounts"
)
VOID = f"Void are: {HANGING}. Name the former key in SECRET_KEY_FALLBACKS to have them back, or delete key_mark there."
KEEP = (
    f"Once a key is taken out of it, what was made under it is void: {HANGING}. To keep the latter two for good, set "
    "ASSENT_PSEUDONYM_KEY to the earliest SECRET_KEY and name it in MARKETPLACE_KEY or MARKETPLACE_KEY_FALLBACKS."
)


@register()
def check_metrics(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Refuse metrics that don't exist or don't compare texts, and a thesaurus that isn't there."""
    from metrics import METRICS  # most commands check nothing

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


@register(Tags.security, deploy=True)
def check_folders(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Warn of folders of ours that other accounts of the machine can read, or that we can't write."""
    opened = [
        Warning(
            f"{name}: other accounts of this machine can read {folder} and what lies in it. Run "
            f"chmod 700 {folder}",
            id="surveys.W006",
        )
        for name, folder in disk.folders().items()
        if _is_open_to_others(folder)
    ]
    locked = [
        Warning(f"{name}: {disk.folders()[name]} can't be written.", id="surveys.W007")
        for name in disk.unwritable()
    ]
    return [*opened, *locked]


@register()
def check_variables(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Name variables that look like ours and that nobody reads: what they were to switch on is off."""
    return [
        Warning(
            f"{name} is set, and there is no such variable.{f' Is {meant} meant?' if meant else ''}",
            id="surveys.W005",
        )
        for name, meant in settings.UNKNOWN_VARIABLES.items()
    ]


@register(Tags.security, deploy=True)
def check_access_key(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Warn where the app calls the marketplace through a proxy with the key that only this machine may use."""
    own = settings.MTURK_ENDPOINTS["embedded"]
    if own["aws_access_key_id"] != settings.PUBLIC_ACCESS_KEY_ID or not own["endpoint_url"].startswith(
        "https:"
    ):
        return []
    text = (
        "MARKETPLACE_ACCESS_KEY_ID is the public one, which the embedded marketplace refuses behind a proxy: batches "
        "there stand still. manage.py marketplace_key NAME --for-app prints a pair of your own."
    )
    return [Warning(text, id="surveys.W008")]


@register()
def check_keys(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Say what hangs on keys that are gone, or will be once the fallbacks are taken away.

    The data folder keeps the mark of the key it began with. Delete it to begin anew.
    """
    known = key_prints()
    if _first_mark(known[0]) not in known:
        return [Warning(f"SECRET_KEY is not the one this data folder began with. {VOID}", id="surveys.W002")]
    if len(known) > 1 and not (settings.PSEUDONYM_KEY and settings.MARKETPLACE_KEY):
        return [Warning(f"SECRET_KEY_FALLBACKS is in use. {KEEP}", id="surveys.W003")]
    return []


@register()
def check_university(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Say what is missing for signing in by a university, and refuse one that others can read along with."""
    needed = {"ISSUER": settings.OIDC_ISSUER, "CLIENT_ID": settings.OIDC_RP_CLIENT_ID}
    needed["CLIENT_SECRET"] = settings.OIDC_RP_CLIENT_SECRET
    missing = [f"ASSENT_OIDC_{name}" for name, value in needed.items() if not value]
    is_wanted = any(needed.values()) or settings.OIDC_CREATE_ACCOUNTS or settings.OIDC_SECOND_FACTORS
    if missing and is_wanted:
        text = f"Signing in by a university is off: {', '.join(missing)} not set."
        return [Warning(text, id="surveys.W004")]
    if is_wanted and not _is_private(settings.OIDC_ISSUER):
        text = f"ASSENT_OIDC_ISSUER: {settings.OIDC_ISSUER} is no https:// address."
        return [Error(text, id="surveys.E003")]
    return []


def _is_private(address: str) -> bool:
    """Tell whether nobody on the way can read what is sent to an address."""
    parts = urlsplit(address)
    return parts.scheme == "https" or (
        parts.scheme == "http" and parts.hostname in {"localhost", "127.0.0.1", "::1"}
    )


def _is_open_to_others(folder: Path) -> bool:
    """Tell whether every account can come as far as the folder, and into it or to its list of files."""
    if not folder.exists():
        return False
    path = folder.resolve()
    is_reached = all(above.stat().st_mode & stat.S_IXOTH for above in path.parents)
    return is_reached and bool(path.stat().st_mode & stat.S_IRWXO)


def _first_mark(present: str) -> str:
    """Return the mark of the key this data folder began with; the present one where it begins, or can't be read.

    A file without a mark is what a full disk or a crash has left between making it and writing it.
    """
    path = Path(settings.DATA_DIR) / "key_mark"
    with suppress(OSError, UnicodeDecodeError):
        if path.is_file() and (mark := path.read_text(encoding="ascii").strip()):
            return mark
        path.write_text(present, encoding="ascii")
    return present
