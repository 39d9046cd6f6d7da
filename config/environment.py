"""Reading the environment; an empty value means the default. What can't be read is an ImproperlyConfigured.

It names the variable, what it is set to and what it takes; an address that may hold a password is not repeated.
"""

import os
import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import SplitResult, urlsplit
from zoneinfo import ZoneInfo

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

TRUE, FALSE = {"1", "true", "t", "yes", "y", "on"}, {"0", "false", "f", "no", "n", "off"}
OURS = ("ASSENT_", "MARKETPLACE_")
# Read by the crash tests' failpoints, the tests, and scripts that use the API as docs/api.md shows it.
READ_ELSEWHERE = {"ASSENT_FAILPOINTS", "ASSENT_TEST_DATABASE", "ASSENT_URL", "ASSENT_TOKEN"}
DATABASES = {"django.db.backends.postgresql", "django.db.backends.sqlite3"}
ADDRESS = re.compile(r"[^\s@<>]+@[^\s@<>]+|[^@<>]*<[^\s@<>]+@[^\s@<>]+>")
HOST_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", re.IGNORECASE)
_read: set[str] = set()


def env(name: str, default: str = "") -> str:
    _read.add(name)
    return os.environ.get(name, "").strip() or default


def unknown_names() -> dict[str, str]:
    """Return names of ours that are set and that nobody reads, each with the one that was perhaps meant, or ""."""
    known = {_bare(name): name for name in _read | READ_ELSEWHERE if name.startswith(OURS)}
    unknown = sorted(name for name in os.environ if name.startswith(OURS) and name not in known.values())
    meant = {name: get_close_matches(_bare(name), known, n=1) for name in unknown}
    return {name: known[close[0]] if close else "" for name, close in meant.items()}


def env_bool(name: str, default: bool = False) -> bool:
    value = env(name, "1" if default else "0").lower()
    if value not in TRUE | FALSE:
        raise _refusal(name, "1 or 0 (or true or false, yes or no, on or off)")
    return value in TRUE


def env_list(name: str, default: str = "") -> list[str]:
    return [part.strip() for part in env(name, default).split(",") if part.strip()]


def env_int(name: str, default: int, *, least: int, most: int) -> int:
    try:
        number = int(env(name, str(default)))
    except ValueError:
        number = None
    if number is None or not least <= number <= most:
        raise _refusal(name, f"a whole number from {least} to {most}")
    return number


def env_decimal(name: str, default: str) -> Decimal:
    """Read a number that is not below 0."""
    try:
        number = Decimal(env(name, default))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or number < 0:
        raise _refusal(name, "a number that is not below 0, such as 7.25")
    return number


def env_choice(name: str, default: str, choices: Iterable[str]) -> str:
    """Read one of some words, in upper or lower case."""
    value = env(name, default).casefold()
    words = {word.casefold(): word for word in choices}
    if value not in words:
        raise _refusal(name, f"one of {', '.join(words.values())}")
    return words[value]


def env_pairs(name: str) -> dict[str, str]:
    """Read `a=b,c=d`; what comes after the first = belongs to the value."""
    pairs = [part.partition("=") for part in env_list(name)]
    if not all(key and value for key, _, value in pairs):
        raise _refusal(name, "name=value, with commas between", tell=False)
    return {key.strip(): value.strip() for key, _, value in pairs}


def env_rates(name: str) -> dict[str, float]:
    """Read `*=5,CreateHIT=1`: numbers above zero by name."""
    pairs = env_pairs(name)
    try:
        rates = {key: float(value) for key, value in pairs.items()}
    except ValueError:
        rates = {"": 0.0}
    if not all(0 < rate < float("inf") for rate in rates.values()):
        raise _refusal(name, "name=number, with commas between, each number above 0")
    return rates


def env_origin(name: str, default: str) -> str:
    """Read where a site answers: scheme, host and port. Its pages begin at /, so a path would be served by nobody."""
    value = env(name, default).rstrip("/").lower()
    parts = _split(value)
    if parts and "@" in parts.netloc:
        raise _refusal(name, "an address without a name and password", tell=False)
    is_site = parts and parts.scheme in {"http", "https"} and parts.hostname
    if not (parts and is_site and value == f"{parts.scheme}://{parts.netloc}"):
        raise _refusal(name, "an address without a path, such as https://assent.example.org")
    return value


def env_hosts(name: str) -> list[str]:
    hosts = [host.lower() for host in env_list(name)]
    if not all(HOST_NAME.fullmatch(host) or _is_ip(host) for host in hosts):
        raise _refusal(name, "names of hosts without http:// and port, with commas between")
    return hosts


def env_recipients(name: str) -> list[str]:
    recipients = env_list(name)
    if not all(ADDRESS.fullmatch(recipient) for recipient in recipients):
        raise _refusal(name, "e-mail addresses, with commas between")
    return recipients


def env_time_zone(name: str, default: str) -> str:
    value = env(name, default)
    try:
        ZoneInfo(value)
    except (LookupError, ValueError, OSError):
        raise _refusal(name, "the name of a time zone, such as Europe/Berlin") from None
    return value


def env_redis(name: str) -> str:
    """Read the address of a Redis that both Celery and the cache can use; empty: there is none."""
    value = env(name)
    parts = _split(value) if value.lower().startswith(("redis://", "rediss://")) else None
    is_one = parts and (parts.hostname or not parts.netloc)  # without a host it is this machine's
    if value and not is_one:
        raise _refusal(name, "an address such as redis://127.0.0.1:6379/0", tell=False)
    return value


def env_database(name: str, default: str) -> dj_database_url.DBConfig:
    try:
        database = dj_database_url.parse(env(name, default), conn_max_age=60, conn_health_checks=True)
    except ValueError:
        database = {}
    if database.get("ENGINE") not in DATABASES:
        wants = "postgresql://name:password@host:5432/database, each part percent-encoded, or sqlite:////path"
        raise _refusal(name, wants, tell=False)
    return database


def env_folder(name: str, default: Path) -> Path:
    """Return a folder of ours; where it is made now, no other account of the machine can read it."""
    folder = Path(env(name, str(default)))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ImproperlyConfigured(f"{name}: {folder} can't be made: {error.strerror}.") from error
    return folder


def _bare(name: str) -> str:
    """Return a name without what all of ours begin with, by which any two would be alike."""
    return name.partition("_")[2]


def _split(address: str) -> SplitResult | None:
    """Return an address in parts, None where it can't be read or its port is no port."""
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _refusal(name: str, wants: str, *, tell: bool = True) -> ImproperlyConfigured:
    """Return what says so; `tell` whether it may repeat what the variable is set to."""
    return ImproperlyConfigured(
        f"{name} is {env(name)!r}; it takes {wants}." if tell else f"{name} takes {wants}."
    )
