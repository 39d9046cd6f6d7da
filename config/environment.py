"""Reading the environment; an empty value means the default. What can't be read is an ImproperlyConfigured."""

import os
from decimal import Decimal, InvalidOperation

from django.core.exceptions import ImproperlyConfigured


def env(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def env_bool(name: str, default: bool = False) -> bool:
    return env(name, "1" if default else "0").lower() in {"1", "true", "yes", "on"}


def env_list(name: str, default: str = "") -> list[str]:
    return [part.strip() for part in env(name, default).split(",") if part.strip()]


def env_int(name: str, default: int) -> int:
    try:
        return int(env(name, str(default)))
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a whole number.") from error


def env_decimal(name: str, default: str) -> Decimal:
    try:
        return Decimal(env(name, default))
    except InvalidOperation as error:
        raise ImproperlyConfigured(f"{name} must be a number.") from error


def env_pairs(name: str) -> dict[str, str]:
    """Read `a=b,c=d`; what comes after the first = belongs to the value."""
    pairs = [part.partition("=") for part in env_list(name)]
    if not all(key and value for key, _, value in pairs):
        raise ImproperlyConfigured(f"{name} must be name=value, with commas between.")
    return {key.strip(): value.strip() for key, _, value in pairs}


def env_rates(name: str) -> dict[str, float]:
    """Read `*=5,CreateHIT=1`: numbers above zero by name."""
    try:
        rates = {key: float(value) for key, value in env_pairs(name).items()}
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must give numbers.") from error
    if not all(0 < rate < float("inf") for rate in rates.values()):
        raise ImproperlyConfigured(f"{name} must give numbers above zero.")
    return rates
