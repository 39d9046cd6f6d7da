"""All or nothing: what an import leaves behind when it works, and when it doesn't."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext

from surveys.models import Item, Output, Picture, Survey
from surveys.studies.importing import writing
from surveys.studies.importing.pictures import FolderPictures, check_pictures
from surveys.studies.importing.plan import Plan
from surveys.studies.importing.reading import read_items
from surveys.studies.importing.writing import ImportRefused, attach_pictures, taken_ids, write_items
from tests.protocols import VQAX
from tests.surveys.studies.importing_cases import batch_csv, long_csv, long_rows, png, slot

pytestmark = pytest.mark.django_db


@pytest.fixture
def media(settings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media"


@pytest.fixture
def pictures(tmp_path: Path) -> FolderPictures:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for n in range(1, 4):
        (folder / f"{n}.png").write_bytes(png(["red", "green", "blue"][n - 1]))
    return FolderPictures(folder)


def new_survey(slug: str = "study") -> Survey:
    return Survey(name=slug.title(), slug=slug, definition_key=VQAX.key)


def plan_of(*slots: dict[str, str], pictures=None, allow_missing: bool = False, taken=()) -> Plan:
    plan = read_items(batch_csv(list(slots)), definition=VQAX, taken=taken)
    return check_pictures(plan, pictures=pictures, allow_missing=allow_missing)


def files(media: Path) -> list[str]:
    return sorted(str(path.relative_to(media)) for path in media.rglob("*") if path.is_file())


def test_everything_is_written(media: Path, pictures) -> None:
    survey = new_survey()
    assert write_items(plan_of(slot(1), slot(2), pictures=pictures), survey=survey, pictures=pictures) == 2
    items = list(Item.objects.filter(survey=survey))
    assert [(item.external_id, item.position, item.source_row, item.gold) for item in items] == [
        ("item-1", 1, 1, "cat"),
        ("item-2", 2, 1, "cat"),
    ]
    assert items[0].choices == [{"value": v, "label": v} for v in ("bat", "cat", "dog")]
    assert items[0].payload["columns"] == slot(1)
    assert list(items[0].outputs.values_list("system", "text", "answer")) == [
        ("model", "it has whiskers 1", "cat"),
        ("ground_truth", "it purrs 1", "cat"),
    ]
    picture = items[0].pictures.get()
    digest = hashlib.sha256(png("red")).hexdigest()
    assert picture.file.name == f"pictures/{digest[:2]}/{digest}.png"
    assert (picture.name, picture.content_type, picture.width, picture.height) == ("1.png", "image/png", 3, 2)
    assert (media / picture.file.name).read_bytes() == png("red")


def test_items_are_numbered_on_from_part_to_part(media: Path, pictures, monkeypatch) -> None:
    monkeypatch.setattr(writing, "AT_ONCE", 2)
    survey = new_survey()
    write_items(plan_of(slot(1), pictures=pictures), survey=survey, pictures=pictures)
    plan = plan_of(*map(slot, range(2, 7)), allow_missing=True, taken=taken_ids(survey))
    write_items(plan, survey=survey, pictures=pictures)
    items = Item.objects.filter(survey=survey).order_by("pk")
    assert list(items.values_list("external_id", "position")) == [(f"item-{n}", n) for n in range(1, 7)]
    outputs = Output.objects.filter(item__survey=survey, system="model").order_by("pk")
    assert list(outputs.values_list("item__position", "text")) == [
        (n, f"it has whiskers {n}") for n in range(1, 7)
    ]
    assert list(Picture.objects.order_by("pk").values_list("item__position", "name")) == [
        (n, f"{n}.png") for n in range(1, 7)
    ]


def test_a_failure_in_a_later_part_leaves_nothing_of_the_first(media: Path, pictures, monkeypatch) -> None:
    monkeypatch.setattr(writing, "AT_ONCE", 2)
    plan = plan_of(slot(1), slot(2), slot(3), pictures=pictures)
    broken = replace(plan.items[2], outputs=plan.items[2].outputs * 2)
    with pytest.raises(IntegrityError):
        write_items(replace(plan, items=(*plan.items[:2], broken)), survey=new_survey(), pictures=pictures)
    assert (Survey.objects.count(), Item.objects.count(), Output.objects.count(), files(media)) == (
        0,
        0,
        0,
        [],
    )


def test_codes_tell_nothing_and_differ(media: Path, pictures) -> None:
    write_items(plan_of(slot(1), slot(2), pictures=pictures), survey=new_survey(), pictures=pictures)
    codes = [*Picture.objects.values_list("code", flat=True), *Output.objects.values_list("code", flat=True)]
    assert len(set(codes)) == 6
    assert {len(code) for code in codes} == {16}


def test_the_same_bytes_are_stored_once(media: Path, pictures) -> None:
    (pictures.folder / "copy.png").write_bytes(png("red"))
    plan = plan_of(slot(1), slot(2, img_name="copy.png"), pictures=pictures)
    write_items(plan, survey=new_survey(), pictures=pictures)
    assert len(files(media)) == 1
    assert len(set(Picture.objects.values_list("file", flat=True))) == 1
    assert Picture.objects.count() == 2


def test_a_second_import_goes_on_counting(media: Path, pictures) -> None:
    survey = new_survey()
    write_items(plan_of(slot(1), pictures=pictures), survey=survey, pictures=pictures)
    write_items(
        plan_of(slot(2), taken=taken_ids(survey), pictures=pictures), survey=survey, pictures=pictures
    )
    assert list(survey.items.values_list("external_id", "position")) == [("item-1", 1), ("item-2", 2)]


def test_errors_are_refused(media: Path, pictures) -> None:
    plan = plan_of(slot(1), slot(9), pictures=pictures)
    with pytest.raises(ImportRefused) as refused:
        write_items(plan, survey=new_survey(), pictures=pictures, accept_warnings=True)
    assert refused.value.problems == plan.errors
    assert (Survey.objects.count(), files(media)) == (0, [])


def test_warnings_are_refused_until_accepted(media: Path, pictures) -> None:
    plan = plan_of(slot(1, other_answer2="bat"), pictures=pictures)
    with pytest.raises(ImportRefused) as refused:
        write_items(plan, survey=new_survey(), pictures=pictures)
    assert refused.value.problems == plan.warnings
    assert Survey.objects.count() == 0
    write_items(plan, survey=new_survey(), pictures=pictures, accept_warnings=True)
    assert [c["value"] for c in Item.objects.get().choices] == ["bat", "cat"]


def test_an_id_that_came_in_between_is_refused_and_leaves_no_file(media: Path, pictures) -> None:
    survey = new_survey()
    late = plan_of(slot(3, id="item-1"), pictures=pictures)
    write_items(plan_of(slot(1), pictures=pictures), survey=survey, pictures=pictures)
    before = files(media)
    with pytest.raises(ImportRefused) as refused:
        write_items(late, survey=survey, pictures=pictures)
    assert str(refused.value) == 'The survey has an item "item-1" already.'
    assert files(media) == before
    assert Item.objects.count() == 1


def test_a_failure_keeps_files_that_were_there_before(media: Path, pictures) -> None:
    survey = new_survey()
    write_items(plan_of(slot(1), pictures=pictures), survey=survey, pictures=pictures)
    with pytest.raises(ImportRefused):
        write_items(plan_of(slot(1), pictures=pictures), survey=survey, pictures=pictures)
    assert len(files(media)) == 1


def test_a_survey_name_taken_in_between_is_refused(media: Path, pictures) -> None:
    new_survey().save()
    with pytest.raises(ImportRefused, match='A survey with the short name "study" exists already'):
        write_items(plan_of(slot(1), pictures=pictures), survey=new_survey(), pictures=pictures)
    assert (Item.objects.count(), files(media)) == (0, [])


def test_a_picture_that_went_away_is_refused(media: Path, pictures) -> None:
    plan = plan_of(slot(1), slot(2), pictures=pictures)
    (pictures.folder / "2.png").unlink()
    with pytest.raises(ImportRefused, match=r'The picture "2\.png": The picture can\'t be read'):
        write_items(plan, survey=new_survey(), pictures=pictures)
    assert (Survey.objects.count(), files(media)) == (0, [])


def test_missing_pictures_are_marked_and_attached_later(media: Path, pictures) -> None:
    survey = new_survey()
    plan = plan_of(slot(1), slot(8), slot(9), pictures=pictures, allow_missing=True)
    write_items(plan, survey=survey, pictures=pictures)
    waiting = Picture.objects.filter(item__survey=survey, file="")
    assert list(waiting.values_list("name", flat=True)) == ["8.png", "9.png"]
    codes = list(Picture.objects.values_list("code", flat=True))

    (pictures.folder / "8.png").write_bytes(png(size=(9, 9)))
    attached = attach_pictures(survey, pictures=FolderPictures(pictures.folder))
    assert (attached.n_attached, attached.missing) == (1, ("9.png",))
    assert list(waiting.values_list("name", flat=True)) == ["9.png"]
    arrived = Picture.objects.get(name="8.png")
    assert (arrived.width, arrived.height, arrived.content_type) == (9, 9, "image/png")
    assert (media / arrived.file.name).read_bytes() == png(size=(9, 9))
    assert list(Picture.objects.values_list("code", flat=True)) == codes

    again = attach_pictures(survey, pictures=FolderPictures(pictures.folder))
    assert (again.n_attached, again.missing) == (0, ("9.png",))


def test_a_broken_picture_is_not_attached(media: Path, pictures) -> None:
    survey = new_survey()
    write_items(plan_of(slot(8), slot(9), allow_missing=True), survey=survey, pictures=None)
    (pictures.folder / "8.png").write_bytes(png(size=(9, 9)))
    (pictures.folder / "9.png").write_bytes(b"no picture")
    with pytest.raises(ImportRefused, match=r'The picture "9\.png": It is not a JPEG'):
        attach_pictures(survey, pictures=FolderPictures(pictures.folder))
    assert Picture.objects.filter(file="").count() == 2
    assert files(media) == []


class Slow(FolderPictures):
    """Does something of a test's before it reads 9.png, the second picture."""

    def __init__(self, folder: Path, before: Callable[[], object]) -> None:
        super().__init__(folder)
        self.before = before

    def read(self, path: str, *, kind: str = "picture") -> bytes:
        if path == "9.png":
            self.before()
        return super().read(path, kind=kind)


@pytest.mark.django_db(transaction=True)
def test_an_import_that_fails_leaves_what_another_is_about_to_use(media: Path, tmp_path: Path) -> None:
    """Both have 8.png, the first of them writes it; the second finds it there, and has no row for it yet."""
    first, second = new_survey("first"), new_survey("second")
    for survey in (first, second):
        write_items(plan_of(slot(8), slot(9), allow_missing=True), survey=survey, pictures=None)
    for name, broken in (("broken", True), ("whole", False)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "8.png").write_bytes(png(size=(9, 9)))
        (tmp_path / name / "9.png").write_bytes(b"no picture" if broken else png("red"))
    has_written, has_found = Event(), Event()

    def fail() -> None:
        pictures = Slow(tmp_path / "broken", lambda: (has_written.set(), has_found.wait(30)))
        try:
            with pytest.raises(ImportRefused):
                attach_pictures(first, pictures=pictures)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as other:
        failing = other.submit(fail)
        assert has_written.wait(30)

        def after_a_while() -> None:
            has_found.set()
            wait([failing], timeout=0.5)  # it can't end before this import has

        attach_pictures(second, pictures=Slow(tmp_path / "whole", after_a_while))
        failing.result(timeout=30)
    arrived = Picture.objects.get(name="8.png", item__survey=second)
    assert (media / arrived.file.name).read_bytes() == png(size=(9, 9))
    assert len(files(media)) == 2


def test_other_surveys_are_left_alone(media: Path, pictures) -> None:
    first, second = new_survey("first"), new_survey("second")
    for survey in (first, second):
        write_items(plan_of(slot(1), allow_missing=True), survey=survey, pictures=None)
    attach_pictures(first, pictures=pictures)
    assert list(Picture.objects.filter(file="").values_list("item__survey__slug", flat=True)) == ["second"]


def statements(n: int, *, slug: str) -> int:
    plan = plan_of(*(slot(k) for k in range(n)), allow_missing=True)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        write_items(plan, survey=new_survey(slug), pictures=None)
    return len(queries)


def test_the_number_of_queries_does_not_grow_with_the_items(media: Path) -> None:
    assert statements(2, slug="two") == statements(50, slug="fifty")


def test_two_thousand_items_are_written_in_bulk(media: Path) -> None:
    """SQLite takes 999 values a statement, so it needs about one for every 100 items; never one an item."""
    rows = [[slot(hit * 5 + k) for k in range(5)] for hit in range(400)]
    plan = check_pictures(read_items(batch_csv(*rows), definition=VQAX), pictures=None, allow_missing=True)
    with CaptureQueriesContext(connection) as queries:
        assert write_items(plan, survey=new_survey(), pictures=None) == 2000
    assert Output.objects.count() == 4000
    assert len(queries) < 100


def test_what_two_imports_at_once_say_of_columns_is_kept_of_both(media: Path) -> None:
    """Each read the study before the other wrote."""
    new_survey().save()
    for n, survey in enumerate([Survey.objects.get(), Survey.objects.get()]):
        rows = [row | {"uid": row.pop("item_id")} for row in long_rows(f"item-{n}")]
        data = long_csv([{f"c{n}": "", **row} for row in rows])
        plan = read_items(data, definition=VQAX, columns={"item_id": "uid"})
        plan = check_pictures(plan, pictures=None, allow_missing=True)
        write_items(plan, survey=survey, pictures=None, accept_warnings=True)
    known = [one["header"][0] for one in Survey.objects.get().columns]
    assert sorted(known) == ["answer", "answer"]
    assert {name for one in Survey.objects.get().columns for name in one["header"]} >= {"c0", "c1"}
