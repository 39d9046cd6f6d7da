"""Upload, look, confirm: nothing before the last step, and that one once."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from surveys.models import Item, Picture, Survey
from surveys.studies import protocols
from surveys.studies.packages import Package
from tests.factories import make_draft, make_survey
from tests.people import client_of
from tests.surveys.pages.study.import_pages import TWO, preview_of, researcher, said, staged, upload
from tests.surveys.protocols.test_blocks import DOCUMENT as TYPE
from tests.surveys.protocols.test_blocks import ROW
from tests.surveys.studies.importing_cases import (
    archive,
    batch_csv,
    jsonl,
    long_csv,
    png,
    slot,
    vtt_row,
    xai_row,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def folders(settings, tmp_path: Path) -> Path:
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path, tmp_path / "media"
    return tmp_path


def test_nothing_is_created_before_the_confirmation(folders: Path) -> None:
    client = researcher()
    url = preview_of(client, batch_csv([slot(1), slot(2)]), pictures=TWO)
    response = client.get(url)
    assert response.status_code == 200
    plan = response.context["plan"]
    assert (plan.n_items, plan.n_outputs, plan.n_pictures, plan.problems) == (2, 4, 2, ())
    assert (Survey.objects.count(), Item.objects.count(), (folders / "media").exists()) == (0, 0, False)


def test_a_sequence_is_shown_state_by_state_and_imported() -> None:
    client = researcher()
    states = {f"8/{n}.png": png() for n in (1, 2, 3)}
    vtt = {"definition_key": "vtt", "name": "VTT"}
    url = preview_of(client, jsonl([vtt_row(8), vtt_row(8)]), pictures=states, **vtt)
    response = client.get(url)
    (shown,) = response.context["items"]
    assert (shown.question, len(shown.thumbnails), shown.n_missing) == ("", 3, 0)
    assert shown.hidden == [("reference text", "grind the beans\nbrew the coffee")]
    assert "<dd>add coffee<br>pour milk</dd>" in response.content.decode()
    client.post(url)
    item = Survey.objects.get(slug="vtt").items.get()
    assert list(item.pictures.values_list("position", "name")) == [(n, f"8_{n}.*") for n in (1, 2, 3)]


def test_whether_the_model_is_right_is_for_the_researcher_alone() -> None:
    client = researcher()
    rows = [xai_row("a", model_correct="0"), xai_row("b", model_correct="yes")]
    pictures = {"a.png": png(), "b.png": png()}
    response = client.get(preview_of(client, long_csv(rows), pictures=pictures, definition_key="xai"))
    assert [item.hidden for item in response.context["items"]] == [
        [("lime decided", "wrong")],
        [("lime decided", "right")],
    ]
    assert "Label the system gave:</span> goldfish" in response.content.decode()


def test_the_preview_shows_what_annotators_read_and_marks_the_answer() -> None:
    client = researcher()
    response = client.get(preview_of(client, batch_csv([slot(1, question="A <b>& B?")]), pictures=TWO))
    shown = response.context["items"][0]
    assert shown.choices == [("bat", False), ("cat", True), ("dog", False)]
    assert shown.outputs == [("ofa-x", "it has whiskers 1"), ("ground_truth", "it purrs 1")]
    assert [uri[:23] for uri in shown.thumbnails] == ["data:image/jpeg;base64,"]
    html = response.content.decode()
    assert "A &lt;b&gt;&amp; B?" in html
    assert "A <b>" not in html
    assert '<li class="gold">cat <b>right answer</b></li>' in html


def test_confirming_imports_and_removes_the_files(folders: Path) -> None:
    client = researcher()
    url = preview_of(client, batch_csv([slot(1), slot(2)]), pictures=TWO)
    response = client.post(url, follow=True)
    survey = Survey.objects.get()
    link = '<a href="/studies/my-study/">My Study</a>'
    assert said(response) == [f"Imported 2 items into {link}."]
    assert (survey.slug, survey.definition_key, survey.items.count()) == ("my-study", "evil-vqax", 2)
    assert set(survey.items.values_list("outputs__system", flat=True)) == {"ofa-x", "ground_truth"}
    assert Picture.objects.exclude(file="").count() == 2
    assert staged(folders) == []


def test_from_items_one_goes_on_to_the_launch() -> None:
    client = client_of("Researcher")
    first = client.post(preview_of(client, batch_csv([slot(1)]), pictures=TWO))
    assert first["Location"] == "/studies/my-study/launch/"
    survey = Survey.objects.get()
    make_draft(survey)
    more = {"survey": survey.pk, "name": "", "definition_key": ""}
    again = client.post(preview_of(client, batch_csv([slot(2)]), pictures=TWO, **more))
    assert again["Location"] == "/studies/my-study/"


def test_a_second_click_imports_nothing_more() -> None:
    client = researcher()
    url = preview_of(client, batch_csv([slot(1)]), pictures=TWO)
    client.post(url)
    response = client.post(url, follow=True)
    assert said(response)[-1] == "This import is done already, is under way, or was left for more than a day."
    assert Item.objects.count() == 1
    assert client.get(url)["Location"] == reverse("import_items")


def test_a_second_click_while_the_first_runs(folders: Path) -> None:
    client = researcher()
    url = preview_of(client, batch_csv([slot(1)]), pictures=TWO)
    folder = next((folders / "imports").glob("*"))
    folder.rename(folder.with_suffix(".claimed"))
    assert client.post(url)["Location"] == reverse("import_items")
    assert Item.objects.count() == 0


def test_warnings_need_the_box() -> None:
    client = researcher()
    url = preview_of(
        client, batch_csv([slot(1, other_answer2="bat"), slot(2, explanation="<i>so</i>")]), pictures=TWO
    )
    page = client.get(url)
    assert "I accept these 2 warnings" in page.content.decode()
    refused = client.post(url)
    assert (refused.status_code, Item.objects.count()) == (422, 0)
    assert "Accept the warnings to go on." in refused.content.decode()
    assert client.post(url, {"accept_warnings": "on"}).status_code == 302
    assert Item.objects.count() == 2


def test_errors_leave_nothing_to_confirm() -> None:
    client = researcher()
    url = preview_of(client, batch_csv([slot(1), slot(2, question="")]), pictures=TWO)
    page = client.get(url).content.decode()
    assert "Confirm" not in page
    assert "<code>question_1</code></td><td>The cell is empty.</td>" in page
    assert client.post(url, {"accept_warnings": "on"}).status_code == 422
    assert Survey.objects.count() == 0


def test_a_missing_picture_is_an_error_unless_allowed() -> None:
    client = researcher()
    url = preview_of(client, batch_csv([slot(1), slot(3)]), pictures=TWO)
    assert [(p.row, p.column) for p in client.get(url).context["plan"].errors] == [(1, "img_name_1")]
    url = preview_of(client, batch_csv([slot(1), slot(3)]), pictures=TWO, allow_missing="on")
    assert client.get(url).context["items"][1].n_missing == 1
    assert said(client.post(url, follow=True))[0].endswith("</a>. 1 pictures are still missing.")
    assert list(Picture.objects.filter(file="").values_list("name", flat=True)) == ["3.png"]


def test_pictures_come_later() -> None:
    client = researcher()
    client.post(preview_of(client, batch_csv([slot(1), slot(3)]), allow_missing="on"))
    page = client.get(reverse("import_items"))
    assert page.context["attach_form"] is not None
    data = {
        "attach-survey": Survey.objects.get().pk,
        "attach-archive": SimpleUploadedFile("p.zip", archive(TWO)),
    }
    response = client.post(reverse("import_pictures"), data, follow=True)
    assert said(response)[-1] == "1 pictures attached, 1 still missing."
    assert list(Picture.objects.filter(file="").values_list("name", flat=True)) == ["3.png"]


def test_broken_pictures_are_told_beside_the_field() -> None:
    client = researcher()
    client.post(preview_of(client, batch_csv([slot(1)]), allow_missing="on"))
    survey = Survey.objects.get().pk
    cases = [
        (archive({"1.png": b"x"}), 'The picture "1.png": It is not a JPEG, PNG, GIF, WebP or SVG picture.'),
        (b"x", "The archive of pictures is not a ZIP that can be read."),
    ]
    for data, message in cases:
        upload = {"attach-survey": survey, "attach-archive": SimpleUploadedFile("p.zip", data)}
        response = client.post(reverse("import_pictures"), upload)
        assert (response.status_code, response.context["attach_form"].errors) == (422, {"archive": [message]})
    response = client.post(reverse("import_pictures"), {"attach-survey": survey})
    assert response.context["attach_form"].errors == {"archive": ["Choose a ZIP or give an address."]}


def test_a_broken_archive_is_an_error_in_the_preview() -> None:
    client = researcher()
    response = upload(client, batch_csv([slot(1)]), archive=SimpleUploadedFile("p.zip", b"no zip"))
    page = client.get(response["Location"])
    assert [str(p) for p in page.context["plan"].errors] == [
        "column pictures: The archive of pictures is not a ZIP that can be read."
    ]
    assert client.post(response["Location"]).status_code == 422


def test_into_a_survey_that_is_there() -> None:
    survey = Survey.objects.create(name="Old", slug="old", definition_key="evil-vqax", is_shared=True)
    survey.items.create(external_id="item-2", position=1)
    client = researcher()
    options = {"pictures": TWO, "survey": survey.pk, "name": "", "definition_key": ""}
    plan = client.get(preview_of(client, batch_csv([slot(1), slot(2)]), **options)).context["plan"]
    assert [str(p) for p in plan.errors] == [
        'row 1 (line 2), column id_1: The survey has an item "item-2" already.'
    ]
    client.post(preview_of(client, batch_csv([slot(1)]), **options))
    assert list(survey.items.values_list("external_id", "position")) == [("item-2", 1), ("item-1", 2)]


def test_a_survey_of_that_name_came_in_between() -> None:
    client = researcher()
    url = preview_of(client, batch_csv([slot(1)]), pictures=TWO)
    Survey.objects.create(name="Other", slug="my-study", definition_key="evil-vcr")
    response = client.post(url)
    assert response.status_code == 422
    assert [str(p) for p in response.context["refused"]] == [
        'A survey with the short name "my-study" exists already.'
    ]
    assert Item.objects.count() == 0


TABS = ["Batches", "Items", "Design", "Launch", "People", "Review", "Results", "Files", "Settings"]


def head(client: Client, url: str) -> tuple[list[str], str, str, str]:
    """Return what stands above a page: the tabs, the one it is, whose they are and the step."""
    study = client.get(url).context["study"]
    here = next(tab.label for tab in study.tabs if tab.is_here)
    return [tab.label for tab in study.tabs], here, study.survey.name, study.step.text


def test_a_study_that_is_to_be_has_the_head_of_a_study_from_its_upload_on() -> None:
    client = client_of("Researcher")
    assert head(client, reverse("import_items")) == (TABS, "Items", "", "Choose a file")
    preview = preview_of(client, batch_csv([slot(1), slot(2)]), pictures=TWO, name="Dogs")
    assert head(client, preview) == (TABS, "Items", "Dogs", "Look, and confirm")
    assert head(client, f"{preview}columns") == (TABS, "Items", "Dogs", "Say what its columns mean")
    launch = client.post(preview)["Location"]
    assert head(client, launch) == (TABS, "Launch", "Dogs", "Look at the price, and publish")


def test_an_import_into_a_study_stands_in_its_place() -> None:
    client, survey = client_of("Researcher"), make_survey()
    step = client.get(reverse("study_items", args=[survey.slug])).context["study"].tabs[1]
    address = f"{reverse('import_items')}?survey={survey.pk}"
    assert head(client, address) == (TABS, "Items", survey.name, "Choose a file")
    assert client.get(address).context["study"].tabs[1].url == step.url
    assert address in client.get(reverse("study", args=[survey.slug])).text


def test_who_may_only_import_sees_no_head_of_a_study_that_is_there() -> None:
    survey = make_survey()
    page = researcher().get(f"{reverse('import_items')}?survey={survey.pk}")
    assert (page.status_code, page.context["survey"]) == (200, None)
    assert 'class="tabs"' not in page.text
    assert researcher("bob").get(f"{reverse('import_items')}?survey=0x1").context["survey"].pk is None


def test_the_preview_shows_the_texts_of_an_item_that_annotators_read() -> None:
    client = client_of("Researcher")
    protocols.keep(Package("protocol.yaml", TYPE.encode()), by=User.objects.get())
    rows = [ROW | {"source": "Answer: skateboarding", "target": ""}]
    page = client.get(preview_of(client, long_csv(rows), definition_key="replies", layout="auto"))
    (item,) = page.context["items"]
    assert item.blocks[:2] == [("Source", "Answer: skateboarding"), ("chat", ROW["chat"])]
    assert "Answer: skateboarding" in page.content.decode()
