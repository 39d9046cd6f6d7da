"""An empty database is migrated by squashes to what the single migrations make, one by one: docs/adr/0027."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from pytest_django import DjangoDbBlocker

from surveys.operations.backups.state import Migrations, SingleMigrations
from surveys.operations.backups.upgrading import another_database, file_of_its_own
from tests.services_template import migrated_file
from tests.upgrade.installations import new_database
from tests.upgrade.shapes import shape

SQUASHES = {
    ("marketplace", "0001_squashed_0002_open_hits"),
    ("surveys", "0001_squashed_0032_appeals_told"),
}
MIDDLE = [("marketplace", "0001_initial"), ("surveys", "0016_webhooks")]
on_sqlite = settings.DATABASES["default"]["ENGINE"].endswith("sqlite3")
SERVERS = [
    "sqlite",
    pytest.param("postgresql", marks=pytest.mark.skipif(on_sqlite, reason="there is no PostgreSQL")),
]


@dataclass(frozen=True)
class Pair:
    """Where two databases of today are: made by the squashes, and by the single ones, that had stopped in the middle.

    `behind` is what had not been run in the middle, and `plan` what `migrate` ran then.
    """

    fresh: dict[str, Any]
    upgraded: dict[str, Any]
    behind: Migrations
    plan: Migrations


@pytest.fixture(scope="module", params=SERVERS)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, django_db_setup: None
) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("squashed")
    blocker: DjangoDbBlocker = request.getfixturevalue("django_db_blocker")
    with blocker.unblock():
        fresh, empty = on_server(folder) if request.param == "postgresql" else in_files(folder)
        with another_database(empty):
            to_the_middle()
            behind = SingleMigrations().disk_migrations.keys() - applied()
            plan = planned()
            call_command("migrate", verbosity=0)
        yield Pair(fresh=fresh, upgraded=empty, behind=behind, plan=plan)


def on_server(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tests' own database, which is migrated when it is made, and an empty one."""
    own = connection.settings_dict
    return own, own | {"NAME": urlsplit(new_database()).path[1:]}


def in_files(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    shutil.copy(migrated_file(), folder / "fresh")
    return file_of_its_own(folder / "fresh"), file_of_its_own(folder / "empty")


def to_the_middle() -> None:
    executor = MigrationExecutor(connection)
    executor.loader = SingleMigrations(connection)
    executor.migrate(MIDDLE)


def planned() -> Migrations:
    """Return what `migrate` would run."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return {(migration.app_label, migration.name) for migration, _ in plan}


def applied() -> Migrations:
    return set(MigrationRecorder(connection).applied_migrations())


def test_both_have_the_same_shape(pair: Pair) -> None:
    with another_database(pair.fresh):
        fresh = shape()
    with another_database(pair.upgraded):
        assert shape() == fresh
    assert len(fresh) > 1000


def test_both_know_the_same_models_and_rights(pair: Pair) -> None:
    told = []
    for place in (pair.fresh, pair.upgraded):
        with another_database(place):
            kinds = set(ContentType.objects.values_list("app_label", "model"))
            right = ("content_type__app_label", "content_type__model", "codename", "name")
            told.append((kinds, set(Permission.objects.values_list(*right))))
    assert told[0] == told[1]


def test_both_have_recorded_all_of_them(pair: Pair) -> None:
    """An older archive names the single ones, and so does whoever rolls back."""
    for place in (pair.fresh, pair.upgraded):
        with another_database(place):
            assert applied() == SingleMigrations().disk_migrations.keys() | SQUASHES


def test_who_stands_in_the_middle_goes_on_one_by_one(pair: Pair) -> None:
    assert pair.plan == pair.behind
    assert {("marketplace", "0002_open_hits"), ("surveys", "0017_drafts_of_protocols")} <= pair.plan


def test_who_has_all_single_ones_has_nothing_to_run(pair: Pair) -> None:
    with another_database(pair.upgraded):
        for squash in SQUASHES:
            MigrationRecorder(connection).record_unapplied(*squash)
        call_command("migrate", check_unapplied=True, verbosity=0)
        assert not SQUASHES & applied()
        call_command("migrate", verbosity=0)
        assert applied() >= SQUASHES


@pytest.mark.django_db
def test_an_empty_database_takes_the_short_way(tmp_path: Path) -> None:
    with another_database(file_of_its_own(tmp_path / "empty")):
        plan = planned()
    on_disk = MigrationLoader(None).disk_migrations
    single = {key for squash in SQUASHES for key in on_disk[squash].replaces}
    assert plan >= SQUASHES
    assert (len(single), plan & single) == (34, set())


@pytest.mark.django_db
def test_the_short_way_leads_back(tmp_path: Path) -> None:
    shutil.copy(migrated_file(), tmp_path / "fresh")
    with another_database(file_of_its_own(tmp_path / "fresh")):
        before = shape()
        call_command("migrate", "surveys", "zero", verbosity=0)
        assert [part for part in shape() if "surveys_" in repr(part)] == []
        call_command("migrate", verbosity=0)
        assert shape() == before


def test_models_are_in_the_same_state() -> None:
    """From it the next migration is made, whichever way a database came."""
    squashed, single = MigrationLoader(None).project_state(), SingleMigrations().project_state()
    assert squashed.models == single.models
    columns = [
        {key: list(model.fields) for key, model in state.models.items()} for state in (squashed, single)
    ]
    assert columns[0] == columns[1]


def test_an_archive_takes_a_squash_for_all_that_it_replaces() -> None:
    """One of less goes one by one, in that app alone."""
    every = SingleMigrations().disk_migrations.keys()
    assert SingleMigrations(quick=every).standing >= SQUASHES
    less = every - {("surveys", "0032_appeals_told")}
    found = SingleMigrations(quick=less).standing
    assert found & SQUASHES == {("marketplace", "0001_squashed_0002_open_hits")}
    assert {key for key in found if key[0] == "surveys"} == {key for key in less if key[0] == "surveys"}


def test_every_squash_is_tried_here() -> None:
    assert SingleMigrations().replacements.keys() == SQUASHES
