"""What a file's columns mean: shown with their first values, guessed, chosen, kept."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from surveys.models import Item, Output, Survey
from tests.surveys.pages.study.import_pages import researcher, said, upload
from tests.surveys.studies.importing_cases import png

pytestmark = pytest.mark.django_db

FILE = "Nr;Foto;Klasse;Bemerkung;Erklärung\nа1;a.png;кот;-;<b>Уши</b> 🐈\n".encode()
XAI = {"definition_key": "xai", "name": "Cats"}
CHOSEN = {"column-0": "item_id", "column-1": "image", "column-2": "question", "column-4": "explanation"}


@pytest.fixture(autouse=True)
def folders(settings, tmp_path) -> None:
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path, tmp_path / "media"


def test_a_file_with_columns_of_its_own_is_imported() -> None:
    client = researcher()
    response = upload(client, FILE, pictures={"a.png": png()}, **XAI)
    address = response["Location"]
    assert address.endswith("/columns")
    page = client.get(address)
    assert [(c.name, c.values, c.role) for c in page.context["page"].columns] == [
        ("Nr", ("а1",), "item_id"),
        ("Foto", ("a.png",), ""),
        ("Klasse", ("кот",), ""),
        ("Bemerkung", ("-",), ""),
        ("Erklärung", ("<b>Уши</b> 🐈",), ""),
    ]
    assert page.context["page"].missing == ["image", "Label the system gave", "Explanation"]
    assert "&lt;b&gt;Уши&lt;/b&gt;" in page.content.decode()
    preview = client.post(address, CHOSEN)["Location"]
    client.post(preview, {"accept_warnings": "on"})
    item = Item.objects.get()
    assert (item.external_id, item.payload["question"]) == ("а1", "кот")
    assert (Output.objects.get().system, Output.objects.get().text) == ("ofa-x", "<b>Уши</b> 🐈")


def test_what_was_chosen_can_be_looked_at_again() -> None:
    client = researcher()
    address = upload(client, FILE, pictures={"a.png": png()}, **XAI)["Location"]
    preview = client.get(client.post(address, CHOSEN)["Location"])
    assert preview.context["plan"].errors == ()
    assert "Say what they mean" in preview.content.decode()
    page = client.get(preview.context["columns_address"]).context["page"]
    assert [column.role for column in page.columns] == ["item_id", "image", "question", "", "explanation"]


def test_one_role_for_two_columns_and_one_without_are_told() -> None:
    client = researcher()
    address = upload(client, FILE, **XAI)["Location"]
    page = client.post(address, {**CHOSEN, "column-3": "item_id", "column-4": "", "column-2": "nonsense"})
    assert page.status_code == 422
    assert [problem.partition(";")[0] for problem in page.context["page"].problems] == [
        "“item_id” was chosen for several columns: Nr, Bemerkung.".replace("item_id", "item id"),
        'There is no role "nonsense"',
        "No column is “Label the system gave”",
        "No column is “Explanation”",
    ]
    assert Survey.objects.count() == 0


def test_a_column_that_is_not_used_stays_unused_though_it_has_our_name() -> None:
    client = researcher()
    data = b"item_id,image,label,rationale,system\n1,a.png,cat,It has ears.,lime\n"
    address = upload(client, data, pictures={"a.png": png()}, **XAI)["Location"]
    chosen = {"column-0": "item_id", "column-1": "image", "column-2": "question", "column-3": "explanation"}
    client.post(client.post(address, chosen)["Location"])
    assert Output.objects.get().system == "ofa-x"


def test_a_file_we_understand_needs_no_questions() -> None:
    client = researcher()
    data = b"item_id,image,label,explanation,system\n1,a.png,cat,It has ears.,lime\n"
    assert not upload(client, data, **XAI)["Location"].endswith("/columns")


def test_the_columns_of_somebody_else_are_not_there() -> None:
    address = upload(researcher(), FILE, **XAI)["Location"]
    assert researcher("eve").get(address).status_code == 404


def test_a_csv_to_fill_in_can_be_sent_back_as_it_is() -> None:
    client = researcher(permission="view_survey")
    response = client.get(reverse("import_template", args=["xai"]))
    assert response["Content-Disposition"] == 'attachment; filename="xai-items.csv"'
    assert response.content.startswith(b"\xef\xbb\xbfitem_id,image,question,explanation,system,")
    assert client.get(reverse("import_template", args=["none"])).status_code == 404
    sender = researcher("eve")
    files = {"items": SimpleUploadedFile("t.csv", response.content)}
    data = {"name": "T", "definition_key": "xai", "system": "m", "layout": "auto", "allow_missing": "on"}
    preview = sender.post(reverse("import_items"), {**data, **files})["Location"]
    sender.post(preview)
    assert Output.objects.get().text == "Your explanation here"
    assert said(sender.get(reverse("import_items"))) != []


def test_a_column_that_is_not_used_is_not_taken_for_what_its_name_says_elsewhere() -> None:
    client, file = researcher(), "Nr,Foto,Klasse,exp,why,reference\n1,a.png,cat,run-7,Ears.,A gold text.\n"
    address = upload(client, file.encode(), pictures={"a.png": png()}, **XAI)["Location"]
    preview = client.post(address, {**CHOSEN, "column-3": ""})["Location"]
    client.post(preview, {"accept_warnings": "on"})
    assert (Output.objects.get().system, Output.objects.get().text) == ("ofa-x", "Ears.")
    assert "references" not in Item.objects.get().payload
