"""Archives of an older version are migrated; those of a newer one are refused."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps.registry import Apps
from django.contrib.auth.models import Permission
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from surveys import migrations
from surveys.models import Survey
from surveys.operations.backups import upgrading
from surveys.operations.backups.archive import Reader
from surveys.operations.backups.making import backup
from surveys.operations.backups.restoring import restore
from surveys.operations.backups.state import SingleMigrations
from tests.surveys.operations.backup_state import (
    destroy,
    everything,
    refused,
    remade,
    vouched,
    without_hold,
)

pytestmark = pytest.mark.django_db(transaction=True)
LATER = """
from django.db import migrations, models


def write(apps, schema_editor):
    for survey in apps.get_model("surveys", "Survey").objects.all():
        survey.motto = survey.name.upper()
        survey.save()


def read(apps, schema_editor):
    for survey in apps.get_model("surveys", "Survey").objects.all():
        survey.name = survey.motto + "!" * {marks}
        survey.save()


class Migration(migrations.Migration):
    dependencies = [("surveys", {last!r})]
    operations = [
        migrations.AddField("survey", "motto", models.CharField(max_length=200, default="")),
        migrations.RunPython(write),
        migrations.RunPython(read),
        migrations.RemoveField("survey", "motto"),
    ]
"""
Later = Callable[..., None]
Databases = dict[frozenset[str], tuple[Path, Apps]]


@pytest.fixture(autouse=True)
def _version(settings: Any) -> None:
    settings.VERSION = "0.1.0"


@pytest.fixture
def later(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Later]:
    """A function that makes this a later version: with one more migration, by which this database is."""
    recorder = MigrationRecorder(connection)

    def make(*, marks: str = "1") -> None:
        (last,) = {name for app, name in MigrationLoader(None).graph.leaf_nodes("surveys")}
        folder = tmp_path / f"later_{tmp_path.name}"
        folder.mkdir()
        (folder / "__init__.py").write_text(f"__path__ = [{str(folder)!r}, *{list(migrations.__path__)!r}]\n")
        (folder / "later.py").write_text(LATER.replace("{marks}", marks).replace("{last!r}", repr(last)))
        monkeypatch.syspath_prepend(tmp_path)
        settings.MIGRATION_MODULES = {"surveys": folder.name}
        recorder.record_applied("surveys", "later")

    yield make
    recorder.record_unapplied("surveys", "later")


@pytest.fixture(scope="module")
def migrated_databases() -> Databases:
    return {}


@pytest.fixture
def quickly_older(
    migrated_databases: Databases, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Migrate an empty database to an archive's migrations once for the file, and copy it; other tests do migrate."""
    migrate_to = upgrading.migrate_to

    def kept(archive: Reader) -> Apps:
        key, place = frozenset(archive.manifest["migrations"]), Path(connection.settings_dict["NAME"])
        if key not in migrated_databases:
            registry = migrate_to(archive)
            copy = shutil.copy(place, tmp_path_factory.mktemp("older"))
            migrated_databases[key] = Path(copy), registry
            return registry
        path, registry = migrated_databases[key]
        connection.close()
        shutil.copy(path, place)
        return registry

    monkeypatch.setattr(upgrading, "migrate_to", kept)


def migrations_but(*left_out: str) -> Callable[..., None]:
    def change(members: Any, manifest: dict[str, Any]) -> None:
        manifest["migrations"] = [name for name in manifest["migrations"] if name not in left_out]

    return change


def test_an_older_archive_goes_through_later_migrations(
    made: Path, media: Path, later: Later, tmp_path: Path, capsys: Any
) -> None:
    """It says so; and an archive of what it became is of today."""
    tables, files = everything()
    name = Survey.objects.get().name
    later()
    destroy()
    call_command("restore", str(made))
    assert capsys.readouterr().out.endswith("An older version had made them: 1 migration was run on them.\n")
    assert Survey.objects.get().name == f"{name.upper()}!"
    backup(tmp_path / "again.zip")
    assert restore(tmp_path / "again.zip", force=True).n_migrations == 0
    Survey.objects.update(name=name)
    assert without_hold(everything()) == without_hold((tables, files))
    assert [path.name for path in media.iterdir()] == ["pictures"]


def test_what_an_older_archive_has_of_a_squash_is_made_at_once(
    an_archive: Path, later: Later, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[tuple[str, str]] = []
    applied = MigrationExecutor.apply_migration
    monkeypatch.setattr(
        MigrationExecutor,
        "apply_migration",
        lambda self, state, migration, **how: (
            ran.append((migration.app_label, migration.name)) or applied(self, state, migration, **how)
        ),
    )
    later()
    assert restore(an_archive, force=True).n_migrations == 1
    ours = [name for app, name in ran if app == "surveys"]
    on_disk = MigrationLoader(None).disk_migrations
    since = sorted(name for app, name in on_disk if app == "surveys" and "0033" <= name < "1")
    assert since[:1] == ["0033_only_new_people"]
    assert ours == ["0001_squashed_0032_appeals_told", *since, "later"]


@pytest.mark.usefixtures("quickly_older")
def test_rights_the_older_version_did_not_know_are_there(an_archive: Path, later: Later) -> None:
    def change(members: Any, manifest: dict[str, Any]) -> None:
        name = "database/auth_permission.jsonl"
        lines = members[name].splitlines(keepends=True)
        known = [line for line in lines if b"view_alarm" not in line]
        manifest["tables"]["auth_permission"] = len(lines) - 1
        vouched(members, manifest, name=name, data=b"".join(known))

    before = set(Permission.objects.values_list("content_type__model", "codename"))
    later()
    assert restore(remade(an_archive, change=change), force=True).n_migrations == 1
    assert set(Permission.objects.values_list("content_type__model", "codename")) == before


@pytest.mark.usefixtures("quickly_older")
def test_a_migration_that_fails_changes_nothing(an_archive: Path, media: Path, later: Later) -> None:
    later(marks="(1 // 0)")
    assert refused(an_archive) == (
        "The archive's rows can't be migrated, and nothing was changed: integer division or modulo by zero"
    )
    assert [path.name for path in media.iterdir()] == ["pictures"]


@pytest.mark.usefixtures("quickly_older")
def test_rows_the_older_tables_do_not_take(an_archive: Path, later: Later) -> None:
    later()
    changed = remade(an_archive, change=lambda _, manifest: manifest["columns"]["surveys_survey"].pop())
    assert refused(changed) == (
        "The archive is not sound: its tables or their columns are not those of its migrations."
    )


def test_a_newer_archive(an_archive: Path) -> None:
    changed = remade(
        an_archive, change=lambda _, manifest: manifest["migrations"].append("surveys.0999_later")
    )
    assert refused(changed) == (
        "The archive was made by a newer version: this one, 0.1.0, does not have surveys.0999_later. "
        "Install the version it was made with or a later one, then restore."
    )


@pytest.mark.parametrize("version", ["0.1.1", "0.10.0", "1.0.0"])
def test_an_archive_that_calls_itself_newer(an_archive: Path, version: str) -> None:
    changed = remade(an_archive, change=lambda _, manifest: manifest["versions"].update(assent=version))
    assert refused(changed) == (
        f"The archive was made by Assent {version}, and this is 0.1.0: "
        "install that version or a later one, then restore."
    )


@pytest.mark.parametrize(
    "version", [17, None, "", "newest", "0.1", "0.1.0\n", "0.1.0.1", "٠.١.٠", {}, "9" * 99]
)
def test_a_version_that_is_none(an_archive: Path, version: Any) -> None:
    changed = remade(an_archive, change=lambda _, manifest: manifest["versions"].update(assent=version))
    assert refused(changed) == "The archive is not sound: its manifest names no version of Assent."


@pytest.mark.parametrize("name", ["versions", "migrations", "columns", "tables"])
@pytest.mark.parametrize("value", [17, None, "x", ["x"], {"x": 1}])
def test_facts_that_are_none(an_archive: Path, name: str, value: Any) -> None:
    changed = remade(an_archive, change=lambda _, manifest: manifest.update({name: value}))
    if (name, value) == ("versions", {"x": 1}):
        assert restore(changed, force=True).n_migrations == 0
    else:
        assert refused(changed).startswith("The archive ")


def test_an_older_version_does_not_make_the_migrations_older(made: Path, later: Later) -> None:
    """The migrations decide: 4230ae0 named no version at all, and between two releases many states have one."""
    before = without_hold(everything())
    restore(remade(made, change=lambda _, manifest: manifest.pop("versions")), force=True)
    restore(remade(made, change=lambda _, manifest: manifest["versions"].update(assent="0.0.1")), force=True)
    assert without_hold(everything()) == before


def test_an_archive_names_migrations_one_by_one(made: Path) -> None:
    """As it did before there was a squash, which this database has recorded too."""

    def check(members: Any, manifest: dict[str, Any]) -> None:
        assert manifest["migrations"] == sorted(map(".".join, SingleMigrations().disk_migrations))

    remade(made, change=check)
    assert set(MigrationRecorder(connection).applied_migrations()) >= SingleMigrations().replacements.keys()


def test_a_squash_in_an_archive_counts_for_nothing(an_archive: Path, later: Later) -> None:
    """An older version lists all that is recorded, such as after a return to it."""
    squashes = list(map(".".join, SingleMigrations().replacements))
    changed = remade(an_archive, change=lambda _, manifest: manifest["migrations"].extend(squashes))
    assert restore(changed, force=True).n_migrations == 0
    later()
    assert restore(changed, force=True).n_migrations == 1


def test_migrations_that_others_need_are_left_out(an_archive: Path) -> None:
    changed = remade(an_archive, change=migrations_but("surveys.0001_initial"))
    assert refused(changed) == (
        "The archive is not sound: its manifest leaves out migrations that others need."
    )


def test_a_database_that_is_not_up_to_date(an_archive: Path) -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("surveys", "0002_append_only")
    try:
        assert refused(an_archive) == (
            "This database has not the migrations of this version, 0.1.0: surveys.0002_append_only. "
            "Run migrate with the version that is to serve it, then restore."
        )
    finally:
        recorder.record_applied("surveys", "0002_append_only")


def test_a_database_of_a_later_version(an_archive: Path) -> None:
    recorder = MigrationRecorder(connection)
    recorder.record_applied("surveys", "0999_later")
    try:
        assert "0.1.0: surveys.0999_later. Run migrate" in refused(an_archive)
    finally:
        recorder.record_unapplied("surveys", "0999_later")


def test_the_version_is_in_the_archive(made: Path) -> None:
    def check(members: Any, manifest: dict[str, Any]) -> None:
        assert manifest["versions"]["assent"] == "0.1.0"

    remade(made, change=check)
