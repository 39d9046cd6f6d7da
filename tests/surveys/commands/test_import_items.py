"""The command: what it prints, what it exits with, and that it writes all or nothing."""

from collections import Counter
from io import StringIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from surveys.models import Batch, Invitation, Item, Picture, Survey
from surveys.publishing import preconditions
from tests.surveys.studies.importing_cases import (
    archive,
    batch_csv,
    jsonl,
    long_csv,
    long_rows,
    png,
    slot,
    vtt_row,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def media(settings, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path / "media"
    return tmp_path / "media"


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A folder with items.csv (two items) and pictures/."""
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures/1.png").write_bytes(png("red"))
    (tmp_path / "pictures/2.png").write_bytes(png("blue"))
    (tmp_path / "items.csv").write_bytes(batch_csv([slot(1), slot(2)]))
    return tmp_path


def run(*args: object) -> tuple[str, str, str]:
    """Return what the command printed, its problem table, and the message it failed with."""
    out, err, message = StringIO(), StringIO(), ""
    try:
        call_command("import_items", *map(str, args), stdout=out, stderr=err)
    except CommandError as error:
        message = str(error) if error.returncode == 1 else f"exit code {error.returncode}"
    return out.getvalue(), err.getvalue(), message


def test_a_new_survey(study: Path) -> None:
    images = study / "pictures"
    options = ("--survey", "mine", "--definition", "evil-vqax", "--name", "My study", "--system", "ofa-x")
    assert run(study / "items.csv", *options, "--images", images) == (
        'Imported 2 items, 4 outputs, 2 pictures into "mine".\n',
        "",
        "",
    )
    survey = Survey.objects.get()
    assert (survey.slug, survey.name, survey.definition_key) == ("mine", "My study", "evil-vqax")
    assert {output.system for item in survey.items.all() for output in item.outputs.all()} == {
        "ofa-x",
        "ground_truth",
    }


def test_from_a_zip_and_again_into_the_same_survey(study: Path) -> None:
    (study / "p.zip").write_bytes(archive({"deep/1.png": png(), "deep/2.png": png(), "deep/a.png": png()}))
    run(study / "items.csv", "--survey", "mine", "--definition", "evil-vqax", "--images", study / "p.zip")
    (study / "more.csv").write_bytes(long_csv(long_rows("a")))
    assert run(study / "more.csv", "--survey", "mine", "--images", study / "p.zip") == (
        'Imported 1 item, 2 outputs, 1 picture into "mine".\n',
        "",
        "",
    )
    assert list(Item.objects.values_list("external_id", "position")) == [
        ("item-1", 1),
        ("item-2", 2),
        ("a", 3),
    ]


def test_errors_are_a_table_and_nothing_is_written(study: Path, media: Path) -> None:
    (study / "items.csv").write_bytes(batch_csv([slot(1), slot(3)], [slot(1), slot(2, question="")]))
    out, err, message = run(
        study / "items.csv", "--survey", "mine", "--definition", "evil-vqax", "--images", study / "pictures"
    )
    assert (out, message) == ("", "2 errors. Nothing was written.")
    assert err.splitlines() == [
        "            row   line  column               problem",
        "error         2      3  question_1           The cell is empty.",
        'error         2      3  id_0                 The id "item-1" stands in row 1, column id_0 already.',
    ]
    assert (Survey.objects.count(), media.exists()) == (0, False)


def test_a_missing_picture_stops_everything(study: Path) -> None:
    (study / "pictures/2.png").unlink()
    _, err, message = run(
        study / "items.csv", "--survey", "mine", "--definition", "evil-vqax", "--images", study / "pictures"
    )
    assert message == "1 error. Nothing was written."
    assert err.splitlines()[1:] == [
        'error         1      2  img_name_1           The picture "2.png" is missing.'
    ]
    assert Survey.objects.count() == 0


def test_missing_pictures_are_attached_later(study: Path) -> None:
    assert (
        run(study / "items.csv", "--survey", "mine", "--definition", "evil-vqax", "--allow-missing-images")[0]
        == 'Imported 2 items, 4 outputs, 2 pictures (2 to be attached later) into "mine".\n'
    )
    (study / "pictures/2.png").unlink()
    assert run("--attach", "--survey", "mine", "--images", study / "pictures")[0] == (
        "1 picture attached, 1 still missing.\n"
    )
    assert list(Picture.objects.filter(file="").values_list("name", flat=True)) == ["2.png"]


def test_warnings_wait_for_acceptance(study: Path) -> None:
    (study / "items.csv").write_bytes(batch_csv([slot(1, other_answer2="bat")]))
    options = ("--survey", "mine", "--definition", "evil-vqax", "--images", study / "pictures")
    assert run(study / "items.csv", *options)[2] == (
        "1 warning. Nothing was written; repeat with --accept-warnings if they are fine."
    )
    assert Survey.objects.count() == 0
    assert run(study / "items.csv", *options, "--accept-warnings")[2] == ""
    assert Item.objects.count() == 1


def test_a_dry_run_writes_nothing(study: Path, media: Path) -> None:
    options = ("--survey", "mine", "--definition", "evil-vqax", "--images", study / "pictures")
    assert run(study / "items.csv", *options, "--dry-run")[0] == (
        'Would import 2 items, 4 outputs, 2 pictures into "mine".\n'
    )
    assert (Survey.objects.count(), media.exists()) == (0, False)


def test_a_long_table_is_cut(study: Path) -> None:
    (study / "items.csv").write_bytes(batch_csv([slot(n) for n in range(60)]))
    _, err, message = run(study / "items.csv", "--survey", "mine", "--definition", "evil-vqax")
    assert (err.splitlines()[-1], len(err.splitlines()), message) == (
        "... and 10 more.",
        52,
        "60 errors. Nothing was written.",
    )


def test_what_cant_be_asked_for(study: Path) -> None:
    Survey.objects.create(name="Mine", slug="mine", definition_key="evil-vqax")
    items = study / "items.csv"
    assert run(items, "--survey", "other")[2].startswith(
        'There is no survey "other". Create it with --definition '
    )
    assert run(items, "--survey", "mine", "--definition", "evil-vcr")[2] == (
        'The survey "mine" is of type evil-vqax, not evil-vcr.'
    )
    assert run("--survey", "mine")[2] == "Name the file to import, or --attach to bring missing pictures."
    assert (
        run(study / "none.csv", "--survey", "mine")[2]
        == f"{study / 'none.csv'} can't be read: No such file or directory."
    )
    assert (
        run(items, "--survey", "mine", "--images", study / "none")[2]
        == f"{study / 'none'} is no folder, ZIP or URL."
    )
    assert (
        run("--attach", "--survey", "mine")[2] == "Say where the pictures are: --images FOLDER, ZIP or URL."
    )
    assert run("--attach", "--survey", "other", "--images", study)[2] == 'There is no survey "other".'
    assert Item.objects.count() == 0


def test_published_vqax_with_its_pictures(shared, media: Path) -> None:
    folder = shared / "data/ofax"
    options = ("--survey", "vqax", "--definition", "evil-vqax", "--images", folder / "images_vqa")
    out, _, message = run(folder / "vqa.csv", *options, "--accept-warnings")
    assert (out, message) == ('Imported 300 items, 600 outputs, 300 pictures into "vqax".\n', "")
    assert Picture.objects.exclude(file="").count() == 300
    assert Item.objects.filter(source_row=60).count() == 5


def test_published_esnlive_with_the_pictures_there_are(shared) -> None:
    folder = shared / "data/ofax"
    options = ("--survey", "esnlive", "--definition", "evil-esnlive", "--images", folder / "images_esnlive")
    _, err, message = run(folder / "esnlive.csv", *options)
    assert message == "260 errors. Nothing was written."
    assert err.splitlines()[1] == (
        'error         9     10  img_name_0           The picture "3518443604.jpg#0r1e.jpg" is missing.'
    )
    assert run(folder / "esnlive.csv", *options, "--allow-missing-images")[0] == (
        'Imported 300 items, 600 outputs, 300 pictures (260 to be attached later) into "esnlive".\n'
    )
    assert Picture.objects.exclude(file="").count() == 40


def test_the_demo_is_published_once(monkeypatch, django_capture_on_commit_callbacks) -> None:
    queued: list[int] = []
    simulated, looked = set[int](), list[bool]()
    monkeypatch.setattr("surveys.sync.publish_batch.delay", lambda pk: queued.append(pk))
    monkeypatch.setattr("surveys.sync.simulate.delay", lambda pk, turn: simulated.add(pk))
    monkeypatch.setattr("surveys.sync.score_surveys.delay", lambda: looked.append(True))
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            call_command("load_demo", "--publish", stdout=StringIO())
    of_simulated = Batch.objects.filter(is_simulated=True)
    assert simulated == set(of_simulated.values_list("pk", flat=True))
    assert of_simulated.count() == 5
    assert looked, "nobody looks at the results of a demo after a quarter of an hour to find its metrics"
    assert Batch.objects.get(name="Demo: a draft").status == "draft"
    batches = list(Batch.objects.filter(is_simulated=False).exclude(name="Demo: a draft").order_by("pk"))
    assert ([batch.status for batch in batches], queued) == (["publishing"] * 3, [b.pk for b in batches])
    sizes = [[q.items.count() for q in batch.questionnaires.all()] for batch in batches]
    assert sizes == [[5, 5, 5], [4, 4, 4], [1] * 12]


DEMO_LINES = [
    '"Demo: VQA-X": 15 items. "Demo batch": Draft.',
    '"Demo: XAI": 12 items. "Demo batch: XAI": Draft.',
    '"Demo: VTT": 12 items. "Demo batch: VTT by link": Draft.',
]


def test_the_demo_loads_once(settings) -> None:
    printed = [StringIO(), StringIO()]
    for out in printed:
        call_command("load_demo", stdout=out)
    lines = [out.getvalue().splitlines() for out in printed]
    assert [line[:3] for line in lines] == [DEMO_LINES] * 2
    assert [line[3].split("/links/")[0] for line in lines] == [f"  For an annotator: {settings.APP_URL}"] * 2
    assert Invitation.objects.count() == 1
    assert Picture.objects.filter(file="").count() == 0
    sizes = Picture.objects.values_list("item__survey__slug", "content_type", "width", "height")
    assert Counter(sizes) == {
        (slug, "image/svg+xml", 480, 360): n
        for slug, n in (("demo-vqa-x", 15), ("demo-xai", 12), ("demo-vtt", 44))
    }
    batch = Batch.objects.get(survey__slug="demo-vqa-x")
    assert (batch.survey.slug, str(batch.reward), batch.auto_approval_delay.days) == ("demo-vqa-x", "0.38", 3)
    assert (batch.items_per_hit, batch.assignments_per_hit, batch.endpoint) == (5, 5, "embedded")


def test_the_demo_has_what_its_survey_types_need() -> None:
    call_command("load_demo", stdout=StringIO())
    xai, vtt = (Survey.objects.get(slug=f"demo-{name}") for name in ("xai", "vtt"))
    assert [item.subject for item in xai.items.all()] == [f"x{n}" for n in range(1, 7) for _ in "ab"]
    right = xai.items.values_list("outputs__system", "outputs__model_correct")
    assert Counter(right) == {(s, c): 3 for s in ("feature-list", "chatty") for c in (True, False)}
    assert [len(item.references) for item in xai.items.all()] == [1] * 12
    states = [(item.pictures.count(), len(item.outputs.get().text.split("\n"))) for item in vtt.items.all()]
    assert states == [(n, n - 1) for n in (3, 4, 4, 3, 4, 4) for _ in "ab"]
    assert [len(item.references[0].split("\n")) for item in vtt.items.all()] == [n - 1 for n, _ in states]
    batches = {batch.survey.slug: batch for batch in Batch.objects.select_related("survey")}
    assert [preconditions.problems(batch) for batch in batches.values()] == [[], [], []]
    assert (batches["demo-xai"].uses_quiz, batches["demo-vtt"].endpoint) == (True, "link")


@pytest.fixture
def two_systems(tmp_path: Path) -> Path:
    for system in ("cst", "ttnet"):
        (tmp_path / f"{system}.jsonl").write_bytes(jsonl([vtt_row(8, exp=system), vtt_row(9, exp=system)]))
    for name in ("8_1", "8_2", "8_3", "9_1", "9_2", "9_3"):
        (tmp_path / f"{name}.png").write_bytes(png())
    return tmp_path


def test_several_files_are_one_import(two_systems: Path) -> None:
    files = [two_systems / "cst.jsonl", two_systems / "ttnet.jsonl"]
    assert run(*files, "--survey", "v", "--definition", "vtt", "--images", two_systems) == (
        'Imported 4 items, 4 outputs, 6 pictures into "v".\n',
        "",
        "",
    )
    assert list(Item.objects.values_list("external_id", "subject", "position")) == [
        ("8/cst", "8", 1),
        ("9/cst", "9", 2),
        ("8/ttnet", "8", 3),
        ("9/ttnet", "9", 4),
    ]


def test_of_several_files_one_that_is_wrong_stops_all(two_systems: Path) -> None:
    bad = two_systems / "bad.jsonl"
    bad.write_bytes(jsonl([vtt_row(10, exp="bad"), vtt_row(8, exp="cst")]))
    (two_systems / "8_2.png").unlink()
    (two_systems / "8_4.png").write_bytes(png())
    options = ("--survey", "v", "--definition", "vtt", "--images", two_systems)
    out, err, message = run(two_systems / "cst.jsonl", bad, *options)
    assert (out, message, Item.objects.count()) == ("", "1 error. Nothing was written.", 0)
    assert err.splitlines()[1:] == [
        "error         2      2  index                "
        'bad.jsonl: The survey has an output by "cst" on item "8" already.'
    ]
    out, err, message = run(two_systems / "cst.jsonl", two_systems / "ttnet.jsonl", *options)
    assert [line[45:] for line in err.splitlines()[1:]] == [
        'cst.jsonl: The picture "8_2.*" is missing.',
        'cst.jsonl: There must be one picture more than texts; "8_4.*" is one too many.',
        'ttnet.jsonl: The picture "8_2.*" is missing.',
        'ttnet.jsonl: There must be one picture more than texts; "8_4.*" is one too many.',
    ]


def test_the_folder_of_a_data_set_brings_its_pictures(tmp_path: Path, media: Path) -> None:
    rows = long_rows("a")
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    columns["image"] = [{"bytes": png(), "path": "a.png"}] * 2
    (tmp_path / "set").mkdir()
    pq.write_table(pa.table(columns), tmp_path / "set" / "train-00000-of-00001.parquet")
    out, _, _ = run(tmp_path / "set", "--survey", "mine", "--definition", "evil-vqax")
    assert out == 'Imported 1 item, 2 outputs, 1 picture into "mine".\n'
    assert Item.objects.get().pictures.get().file.read() == png()
