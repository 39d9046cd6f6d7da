"""What a file's columns mean: shown with their first values, guessed, chosen, kept."""

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from surveys.models import Item, Output, Survey
from surveys.studies.importing.arrow import BROKEN
from surveys.studies.importing.roles import remember, remembered
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
        ("Foto", ("a.png",), "image"),
        ("Klasse", ("кот",), "question"),
        ("Bemerkung", ("-",), ""),
        ("Erklärung", ("<b>Уши</b> 🐈",), "explanation"),
    ]
    assert page.context["page"].missing == []
    assert "&lt;b&gt;Уши&lt;/b&gt;" in page.content.decode()
    preview = client.post(address, CHOSEN)["Location"]
    client.post(preview, {"accept_warnings": "on"})
    item = Item.objects.get()
    assert (item.external_id, item.payload["question"]) == ("а1", "кот")
    assert (Output.objects.get().system, Output.objects.get().text) == ("ofa-x", "<b>Уши</b> 🐈")


def test_what_no_name_tells_is_guessed_by_the_values_and_what_is_not_alike_is_asked() -> None:
    client = researcher()
    data = (
        b"Nr,a,b,c,d\n1,x/1.PNG,dog,It has a tail and barks.,1\n2,2.jpg,dog,Its ears hang down like that.,1\n"
    )
    page = client.get(upload(client, data, **XAI)["Location"]).context["page"]
    assert [column.role for column in page.columns] == ["item_id", "image", "question", "explanation", ""]
    unclear = b"Nr,a,b,c\n1,1.png,2.png,dog\n2,3.png,4.png,cat\n"
    page = client.get(upload(client, unclear, **XAI)["Location"]).context["page"]
    assert [column.role for column in page.columns] == ["item_id", "", "", ""]
    assert page.missing == ["image", "Label the system gave", "Explanation"]


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
        "No column is “Label the system gave” (question)",
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


def brought(client: object, data: bytes, **where: object) -> str:
    """Import a file with the columns CHOSEN, and return the address of the page about them."""
    address = upload(client, data, pictures={"a.png": png()}, **where)["Location"]
    client.post(client.post(address, CHOSEN)["Location"], {"accept_warnings": "on"})
    return address


def test_the_next_file_with_the_same_columns_begins_with_what_was_chosen() -> None:
    client = researcher()
    brought(client, FILE, **XAI)
    survey = Survey.objects.get()
    turned = "Erklärung;Nr;Foto;Klasse;Bemerkung\nУши;а2;a.png;кот;-\n".encode()
    page = client.get(upload(client, turned, pictures={"a.png": png()}, survey=survey.pk)["Location"])
    assert [(one.name, one.role) for one in page.context["page"].columns] == [
        ("Erklärung", "explanation"),
        ("Nr", "item_id"),
        ("Foto", "image"),
        ("Klasse", "question"),
        ("Bemerkung", ""),
    ]
    assert "The last file of this study with these columns" in page.content.decode()


def test_the_last_choice_counts_also_where_the_columns_have_our_names() -> None:
    client = researcher()
    data = b"item_id,image,label,explanation,rationale,system\n1,a.png,cat,no,It has ears.,lime\n"
    address = upload(client, data, pictures={"a.png": png()}, **XAI)["Location"].removesuffix("/")
    chosen = {"column-0": "item_id", "column-1": "image", "column-2": "question", "column-4": "explanation"}
    client.post(client.post(f"{address}/columns", chosen)["Location"], {"accept_warnings": "on"})
    again = upload(client, data.replace(b"\n1,", b"\n2,"), survey=Survey.objects.get().pk)["Location"]
    roles = [one.role for one in client.get(again).context["page"].columns]
    assert roles == ["item_id", "image", "question", "", "explanation", ""]


def test_other_columns_are_guessed_again() -> None:
    client = researcher()
    brought(client, FILE, **XAI)
    other = FILE.replace(b"Foto", b"Bild")
    page = client.get(upload(client, other, survey=Survey.objects.get().pk)["Location"]).context["page"]
    assert ([column.role for column in page.columns], page.is_remembered) == (
        ["item_id", "image", "question", "", "explanation"],
        False,
    )


def test_of_each_kind_of_file_the_last_choice_is_kept_and_no_more_kinds_than_twenty() -> None:
    survey = Survey.objects.create(name="Cats", slug="cats", definition_key="xai")
    for n in range(21):
        remember(survey, header=(f"c{n}", "id"), roles={"explanation": f"c{n}"})
    remember(survey, header=("id", "c5"), roles={"explanation": "c5", "system": ""})
    survey.refresh_from_db()
    assert [remembered(survey, header=header) for header in (("c0", "id"), ("c5", "id"), ("id", "c20"))] == [
        {},
        {"explanation": "c5", "system": ""},
        {"explanation": "c20"},
    ]
    assert len(survey.columns) == 20


def test_a_parquet_file_brings_its_pictures() -> None:
    client = researcher()
    pictures = [{"bytes": png(), "path": "a.png"}, {"bytes": png("blue"), "path": None}]
    columns = {"item_id": ["a", "b"], "image": pictures, "label": ["cat", "dog"], "said": ["Ears.", "Tail."]}
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns), buffer)
    address = upload(client, buffer.getvalue(), **XAI)["Location"]
    chosen = {"column-0": "item_id", "column-1": "image", "column-2": "question", "column-3": "explanation"}
    client.post(client.post(address, chosen)["Location"])
    assert [
        (item.external_id, item.payload["question"], item.pictures.get().file.read())
        for item in Item.objects.order_by("external_id")
    ] == [("a", "cat", png()), ("b", "dog", png("blue"))]


def test_a_broken_parquet_file_and_pictures_from_two_sides_are_told() -> None:
    client = researcher()
    buffer = io.BytesIO()
    pq.write_table(pa.table({"item_id": ["a"], "image": [{"bytes": png(), "path": None}]}), buffer)
    both = upload(client, buffer.getvalue(), pictures={"a.png": png()}, **XAI)
    broken = upload(client, buffer.getvalue()[:-8], **XAI)
    assert [(one.status_code, dict(one.context["form"].errors)) for one in (both, broken)] == [
        (422, {"archive": ["The file has its pictures in itself; bring no others."]}),
        (422, {"items": [BROKEN]}),
    ]
