"""Survey types of one's own: written as a file, offered for import, followed by versions, seen by their team."""

import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from surveys.models import Protocol, Survey
from surveys.protocols.registry import DEFINITIONS
from surveys.publishing.questionnaires import start_publishing
from surveys.studies.protocols import built_in
from tests.factories import make_draft
from tests.people import role_of
from tests.policy_data import NEVER
from tests.surveys.pages.study.import_pages import preview_of
from tests.surveys.studies.importing_cases import long_csv, png

pytestmark = pytest.mark.django_db

CAPTIONS = """\
protocol: captions
name: Captions of ours
version: 1
title: Judge captions
question_label: ""
output_label: Caption
outputs_per_item: 1
headline: faithful
criteria:
  - key: faithful
    label: Is it faithful?
    choices:
      - {value: yes, label: Yes, score: 1}
      - {value: no, label: No, score: 0}
instructions:
  summary: You will see captions.
  steps:
    - Read the caption.
"""
WRITE, TYPES = "/survey-types/write", "/survey-types/"


@pytest.fixture(autouse=True)
def folders(settings, tmp_path: Path) -> Path:
    settings.DATA_DIR, settings.MEDIA_ROOT = tmp_path, tmp_path / "media"
    return tmp_path


@pytest.fixture
def ann() -> Client:
    return signed_in("ann")


def signed_in(name: str, *, role: str = "Researcher") -> Client:
    person = User.objects.create_user(name, is_staff=True)
    person.groups.add(role_of(role))
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(person)
    return client


def write(client: Client, document: str = CAPTIONS, **fields: object):
    return client.post(WRITE, {"document": document, **fields})


def type_choices(client: Client) -> list[str]:
    form = client.get(reverse("import_items")).context["form"]
    return [key for key, _ in form.fields["definition_key"].choices]


def test_a_type_is_written_chosen_imported_and_published(ann: Client) -> None:
    assert write(ann).status_code == 302
    assert type_choices(ann)[-1] == "captions"
    rows = [{"item_id": "a", "image": "a.png", "text": "A boat.", "system": "blip"}]
    url = preview_of(
        ann, long_csv(rows), pictures={"a.png": png()}, definition_key="captions", name="Our captions"
    )
    assert ann.get(url).context["definition"].name == "Captions of ours"
    ann.post(url)
    survey = Survey.objects.get(slug="our-captions")
    assert (survey.definition_key, str(survey.protocol)) == ("captions", "captions 1")
    batch = make_draft(survey, items_per_hit=1, review_policy=NEVER)
    start_publishing(batch)
    batch.refresh_from_db()
    assert batch.definition.criterion("faithful").score("yes") == 1.0


def test_a_survey_keeps_its_version_and_a_new_one_gets_the_newest(ann: Client) -> None:
    write(ann)
    old = Survey.objects.create(
        name="Old", slug="old", definition_key="captions", protocol=Protocol.objects.get()
    )
    write(ann, CAPTIONS.replace("version: 1", "version: 2").replace("faithful?", "true?"))
    old.refresh_from_db()
    assert old.definition.criterion("faithful").label == "Is it faithful?"
    ann.post(
        reverse("admin:surveys_survey_add"), {"name": "New", "slug": "new", "definition_key": "captions"}
    )
    assert Survey.objects.get(slug="new").definition.criterion("faithful").label == "Is it true?"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("version: 1", "version: 1"), "“captions” has a version 1. Write a higher number after “version:”."),
        (("protocol: captions", "protocol: xai"), "“xai” is built in. Give yours another name after “protocol:”."),
        (("headline: faithful", "headline: fun"), "protocol.yaml, line 8: The headline &#x27;fun&#x27; is not"),
        (("name:", "  name:"), "protocol.yaml, line 2: This is not YAML"),
    ],
)  # fmt: skip
def test_what_is_refused_says_why_and_keeps_what_was_written(
    ann: Client, change: tuple[str, str], sentence: str
) -> None:
    write(ann)
    answer = write(ann, CAPTIONS.replace(*change))
    page = answer.content.decode()
    assert (answer.status_code, sentence in page) == (422, True)
    assert "Read the caption." in page
    assert Protocol.objects.count() == 1


def test_a_file_is_uploaded_and_downloaded_as_it_was(ann: Client) -> None:
    content = CAPTIONS.replace("Captions of ours", "Подписи 🚢").encode()
    upload = SimpleUploadedFile("mine.yaml", content)
    assert ann.post(WRITE, {"document": "", "file": upload}).status_code == 302
    assert ann.get(TYPES + "captions.yaml").content == content
    assert "Подписи 🚢" in ann.get(TYPES).content.decode()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "The submitted file is empty."),
        (b"\xff\xfe", "mine.yaml, line 1: The file is not UTF-8 text."),
        (b"x" * 5_000_000, "The file is larger than 500 kB."),
        (b"a: &a [x]\nb: *a", "mine.yaml, line 1: Anchors and aliases (&amp; and *) are not taken."),
    ],
)
def test_a_file_that_is_none_leaves_no_trace(ann: Client, content: bytes, sentence: str) -> None:
    answer = ann.post(WRITE, {"document": "", "file": SimpleUploadedFile("mine.yaml", content)})
    assert (answer.status_code, sentence in answer.content.decode()) == (422, True)
    assert Protocol.objects.count() == 0


def test_markup_in_a_text_is_text(ann: Client) -> None:
    write(ann, CAPTIONS.replace("Captions of ours", "<script>alert(1)</script>"))
    page = ann.get(TYPES).content.decode()
    assert ("<script>alert" in page, "&lt;script&gt;alert(1)" in page) == (False, True)


def test_a_copy_of_a_built_in_type_begins_with_its_file(ann: Client) -> None:
    assert ann.get(WRITE + "?from=xai").context["form"]["document"].value() == built_in("xai")
    mine = built_in("xai").replace("protocol: xai", "protocol: xai-mine")
    assert write(ann, mine).status_code == 302
    assert Protocol.objects.get().definition.criteria[0].label == "Fluency"


def test_it_is_its_teams_unless_it_is_shared(ann: Client) -> None:
    bob = signed_in("bob")
    write(ann)
    assert "captions" not in type_choices(bob)
    assert bob.get(TYPES + "captions.yaml").status_code == 404
    assert bob.get(WRITE + "?from=captions").context["form"]["document"].value() == ""
    later = CAPTIONS.replace("version: 1", "version: 2")
    assert "“captions” is in use." in write(bob, later).content.decode()
    write(ann, CAPTIONS.replace("captions\n", "open-captions\n", 1), is_shared="on")
    assert type_choices(bob)[-1] == "open-captions"


def test_a_shared_type_is_followed_by_its_team_only(ann: Client) -> None:
    """New surveys of everybody are of the newest version: a stranger's would change what they ask."""
    write(ann, is_shared="on")
    later = CAPTIONS.replace("version: 1", "version: 2")
    assert "“captions” is in use." in write(signed_in("bob"), later).content.decode()
    assert list(Protocol.objects.values_list("version", flat=True)) == [1]
    assert write(ann, later).status_code == 302
    root = Client()
    root.force_login(User.objects.create_superuser("root"))
    assert write(root, CAPTIONS.replace("version: 1", "version: 3")).status_code == 302
    newest = Protocol.objects.get(version=3)
    assert (newest.is_shared, sorted(newest.team.values_list("username", flat=True))) == (
        True,
        ["ann", "root"],
    )


def test_strangers_and_readers_write_nothing(ann: Client) -> None:
    assert Client().post(WRITE, {"document": CAPTIONS}).status_code == 302
    assert write(signed_in("rita", role="Assistant")).status_code == 403
    assert Protocol.objects.count() == 0


def test_the_page_lists_what_a_translation_leaves_to_the_original(ann: Client) -> None:
    text = CAPTIONS + "translations:\n  ar: {title: قيّم}\n  zgh: {title: ⵎ, output_label: ⵎ}\n"
    assert write(ann, text).status_code == 302
    page = ann.get(reverse("survey_types")).content.decode()
    assert re.findall(r"<summary>(Also[^<]+)", page) == [
        "Also in Arabic (ar), but for 6 texts",
        "Also in zgh, but for 5 texts",
    ]
    assert re.findall("<li>([^<]+)</li>", page)[:2] == ["output_label", "criteria, faithful, label"]
    assert page.count("Also in Russian (ru)") == len(DEFINITIONS)
