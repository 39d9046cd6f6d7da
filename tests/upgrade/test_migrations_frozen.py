"""A migration that was committed has run on somebody's data: it is never changed, renamed or removed again.

A new one is frozen when it is committed, by one line, which `sha256sum` writes:

    sha256sum surveys/migrations/0003_new.py >> tests/upgrade/migrations.sha256
"""

from hashlib import sha256
from pathlib import Path

from django.apps import apps
from django.conf import settings

FROZEN = Path(__file__).parent / "migrations.sha256"
ROOT = Path(settings.BASE_DIR)


def frozen() -> list[tuple[str, str]]:
    """Return (file, SHA-256) of every migration that was ever committed."""
    lines = [line.split("  ") for line in FROZEN.read_text().splitlines()]
    return [(name, digest) for digest, name in lines]


def present() -> list[Path]:
    """Return the migrations of our own apps."""
    own = [Path(config.path) for config in apps.get_app_configs() if Path(config.path).parent == ROOT]
    return [
        path for folder in own for path in (folder / "migrations").glob("*.py") if path.name != "__init__.py"
    ]


def test_no_committed_migration_is_changed() -> None:
    found = {path.relative_to(ROOT).as_posix(): sha256(path.read_bytes()).hexdigest() for path in present()}
    assert [(name, found.get(name, "is gone")) for name, _ in frozen()] == frozen()


def test_every_migration_is_frozen() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in present()}
    missing = [
        f"sha256sum {name} >> tests/upgrade/migrations.sha256"
        for name in sorted(names - dict(frozen()).keys())
    ]
    assert missing == []


def test_none_is_frozen_twice() -> None:
    """Two lines for one file would let it be changed as long as one of them fits."""
    names = [name for name, _ in frozen()]
    assert sorted(names) == sorted(set(names))
