"""What was installed at 4230ae0 opens in this version, and says what it said there: data/4230ae0/README.md."""

import csv
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.upgrade.installations import DATA, copied, empty

VERSION, KEY = "4230ae0", "the data of 4230ae0 open nothing"
EXPECTED = DATA / VERSION / "expected"
FACTS: dict[str, list[Any]] = json.loads((EXPECTED / "facts.json").read_text(encoding="utf-8"))
DOORS: dict[str, list[Any]] = json.loads((EXPECTED / "doors.json").read_text(encoding="utf-8"))
# What 0.1.0 infers by another test than 4230ae0, and so tells otherwise in two of its files (CHANGELOG).
INFERRING = ("table.csv", "summary.json")
INFERRED = {"format", "comparison", "p", "dagger", "interval", "low", "high"}
FILES = sorted(path.relative_to(EXPECTED).as_posix() for path in EXPECTED.glob("*/**/*.*"))
# What to tell a panel of its people, and how metrics go with ratings within systems (CHANGELOG).
ADDED = ["demo-vtt/correlations_within.csv", "demo-vtt/panel.csv", "demo-xai/correlations_within.csv"]
pytestmark = pytest.mark.processes
WRITTEN_BY_MIGRATE = {"django_content_type", "auth_permission"}
Rows = dict[str, dict[Any, dict[str, Any]]]


@pytest.fixture(scope="module", params=["migrated", "restored"])
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What this version tells after `migrate` of the SQLite database, or `restore` of the archive on PostgreSQL."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "migrated":
        installation = copied(VERSION, key=KEY, folder=folder)
        installation.manage("migrate", "--noinput")
    else:
        installation = empty(key=KEY, folder=folder)
        installation.manage("restore", DATA / VERSION / "backup.zip")
    return installation.tell(keys=DATA / VERSION / "keys.json")


@pytest.mark.parametrize("what", FACTS)
def test_what_is_told_of_the_data(told: Path, what: str) -> None:
    facts = json.loads((told / "facts.json").read_text())
    assert facts.keys() == FACTS.keys()
    assert facts[what] == FACTS[what]


@pytest.mark.parametrize("name", [name for name in FILES if not name.endswith(INFERRING)])
def test_exported_files_to_the_byte(told: Path, name: str) -> None:
    assert (told / name).read_bytes() == (EXPECTED / name).read_bytes()


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(INFERRING)])
def test_results_but_what_is_inferred(told: Path, name: str) -> None:
    """Every number that only describes is what it was; more may stand beside it."""
    now, then = numbers_in(told / name), numbers_in(EXPECTED / name)
    assert {place: now.get(place) for place in then} == then


def test_no_exported_file_more(told: Path) -> None:
    assert sorted(path.relative_to(told).as_posix() for path in told.glob("*/**/*.*")) == sorted(
        FILES + ADDED
    )


def test_every_row(told: Path) -> None:
    """Columns and tables may be added; only `migrate` adds rows, of models and permissions that are new."""
    now, then = rows_of(told / "all.zip"), rows_of(DATA / VERSION / "backup.zip")
    for table, rows in then.items():
        found = {key: now[table][key] for key in now[table] if key in rows or table not in WRITTEN_BY_MIGRATE}
        columns = {name: None for row in rows.values() for name in row}
        assert {key: {name: row[name] for name in columns} for key, row in found.items()} == rows, table


def test_every_media_file(told: Path) -> None:
    assert media_of(told / "all.zip") == media_of(DATA / VERSION / "backup.zip")


def test_every_content_type_belongs_to_a_model(told: Path) -> None:
    assert json.loads((told / "stale.json").read_text()) == []


@pytest.mark.parametrize("key", DOORS)
def test_what_people_hold_opens_what_it_opened(told: Path, key: str) -> None:
    assert json.loads((told / "doors.json").read_text())[key] == DOORS[key]


def numbers_in(path: Path) -> dict[tuple[Any, ...], Any]:
    """Return every cell of a table, or value of a JSON file, by its place; without what is inferred."""
    text = path.read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines())) if path.suffix == ".csv" else json.loads(text)
    return dict(values(rows))


def values(found: Any, *, place: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    inner = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    if not isinstance(found, dict | list):
        yield place, found
    for name, value in inner:
        if name not in INFERRED:
            yield from values(value, place=(*place, name))


def rows_of(path: Path) -> Rows:
    """Return an archive's rows as {table: {key: {column: value}}}."""
    with zipfile.ZipFile(path) as archive:
        columns = json.loads(archive.read("manifest.json"))["columns"]
        lines = {table: archive.read(f"database/{table}.jsonl").splitlines() for table in columns}
    rows = {table: [json.loads(line) for line in lines[table]] for table in columns}
    return {
        table: {row[0]: dict(zip(columns[table], row, strict=True)) for row in rows[table]}
        for table in columns
    }


def media_of(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if name.startswith("media/")}
