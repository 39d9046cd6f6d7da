"""The builder over HTTP: from a template to a published type, by plain posts."""

from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from surveys.models import Protocol, ProtocolDraft
from surveys.studies import drafts
from tests.people import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return client_of("Researcher")


def begun(client: Client, **what: str) -> ProtocolDraft:
    response = client.post(reverse("new_survey_type"), what)
    draft = ProtocolDraft.objects.latest("pk")
    assert response["Location"] == reverse("builder", args=[draft.pk])
    return draft


def post(client: Client, draft: ProtocolDraft, *, do: str = "", version: int | None = None, **fields: str):
    draft.refresh_from_db()
    data = {"base": version or draft.current, "do": do, **fields}
    return client.post(reverse("builder", args=[draft.pk]), data)


def document(draft: ProtocolDraft) -> str:
    draft.refresh_from_db()
    return drafts.current(draft).document


@pytest.mark.parametrize(
    "what", [{"template": "pairwise"}, {"template": "dialogue"}, {"from": "evil-vqax"}, {"from": "vtt"}]
)
def test_the_form_and_the_page_of_a_beginning(client: Client, what: dict[str, str]) -> None:
    draft = begun(client, **what)
    page = client.get(reverse("builder", args=[draft.pk])).content.decode()
    assert 'id="n-problems" role="status"></p>' in page
    shown = client.get(reverse("builder_preview", args=[draft.pk]))
    assert 'id="hit"' in shown.content.decode()
    assert "sandbox allow-scripts" in shown["Content-Security-Policy"]
    assert shown["X-Frame-Options"] == "SAMEORIGIN"


def test_a_question_is_added_worded_and_seen(client: Client) -> None:
    draft = begun(client, template="likert")
    response = post(client, draft, do="add criteria scale", title="Rate answers")
    assert response["Location"].endswith("#f-criteria-3")
    post(client, draft, **{"criteria/3/label": "Is it polite?", "criteria/3/key": "polite"})
    shown = client.get(reverse("builder_preview", args=[draft.pk])).content.decode()
    assert ("Is it polite?" in shown, "Rate answers" in shown) == (True, True)


def test_a_draft_is_published_and_its_items_are_asked_for(client: Client) -> None:
    draft = begun(client, template="pairwise")
    response = post(client, draft, do="publish", name="Which answer?", protocol="which-answer")
    assert response["Location"] == reverse("import_items") + "?type=which-answer"
    assert Protocol.objects.get().definition.name == "Which answer?"
    assert 'value="which-answer" selected' in client.get(response["Location"]).content.decode()
    assert client.get(reverse("builder", args=[draft.pk]))["Location"] == reverse("survey_types")


def test_what_contradicts_itself_is_said_beside_it_and_not_published(client: Client) -> None:
    draft = begun(client, template="pairwise")
    response = post(client, draft, do="publish", outputs_per_item="1")
    page = unescape(response.content.decode())
    assert response.status_code == 422
    sentence = "A preference needs at least two outputs to compare."
    assert f'id="f-outputs_per_item-p"><li>{sentence}</li></ul>' in page
    assert Protocol.objects.count() == 0


def test_who_comes_second_is_told_and_finds_both(client: Client) -> None:
    draft = begun(client, template="likert")
    post(client, draft, version=1, title="Ann’s")
    response = post(client, draft, version=1, title="Bea’s")
    assert response["Location"] == reverse("builder_version", args=[draft.pk, 3])
    page = client.get(response["Location"]).content.decode()
    assert ("title: Ann’s" in page, "title: Bea’s" in page) == (True, True)
    client.post(response["Location"], {"base": 2})
    assert "title: Bea’s" in document(draft)


def test_undo_and_redo(client: Client) -> None:
    draft = begun(client, template="likert")
    before = document(draft)
    post(client, draft, do="remove criteria/2")
    after = document(draft)
    post(client, draft, do="undo")
    assert document(draft) == before
    post(client, draft, do="redo")
    assert document(draft) == after


def test_the_script_is_told_what_is_kept_and_what_is_wrong(client: Client) -> None:
    draft = begun(client, template="likert")
    address = reverse("builder", args=[draft.pk])
    json = {"HTTP_ACCEPT": "application/json"}
    answer = client.post(address, {"base": 1, "headline": "nothing"}, **json).json()
    assert {key: answer[key] for key in ("version", "problems", "undo", "redo")} == {
        "version": 2,
        "problems": {"f-headline": ["The main question 'nothing' is not one of its questions."]},
        "undo": True,
        "redo": False,
    }
    late = client.post(address, {"base": 1, "headline": "clear"}, **json)
    assert (late.status_code, late.json()["overtaken"]) == (
        409,
        reverse("builder_version", args=[draft.pk, 3]),
    )


def test_what_is_saved_while_a_script_is_answered_is_not_taken_for_seen(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = begun(client, template="likert")
    save = drafts.save

    def and_then_another(draft: ProtocolDraft, document: str, *, by: User, after: int) -> drafts.Saved:
        mine = save(draft, document, by=by, after=after)
        save(draft, f"{document}# Bea’s\n", by=by, after=mine.version.number)
        return mine

    monkeypatch.setattr(drafts, "save", and_then_another)
    data = {"base": 1, "title": "Ann’s"}
    answer = client.post(reverse("builder", args=[draft.pk]), data, HTTP_ACCEPT="application/json").json()
    draft.refresh_from_db()
    assert (answer["version"], draft.current) == (2, 3)


def test_the_text_is_the_same_document(client: Client) -> None:
    draft = begun(client, template="likert")
    address = reverse("builder_text", args=[draft.pk])
    client.post(
        address,
        {"base": 1, "document": document(draft).replace("\n", "\r\n").replace("title: Rate", "title: Judge")},
    )
    page = client.get(reverse("builder", args=[draft.pk])).content.decode()
    assert 'value="Judge short texts"' in page
    client.post(address, {"base": 2, "document": "title: ["})
    assert "This is not YAML" in client.get(address).content.decode()
    assert "can’t be shown as a form" in client.get(reverse("builder", args=[draft.pk])).content.decode()
    assert "Judge short texts" in client.get(reverse("builder_preview", args=[draft.pk])).content.decode()


def test_three_of_ones_own_items_are_shown(client: Client) -> None:
    draft = begun(client, template="pairwise")
    rows = "item_id,question,system,text\na,Why?,m,Because.\na,Why?,n,Never mind.\n"
    post(client, draft, do="items", items=rows)
    shown = client.get(reverse("builder_preview", args=[draft.pk])).content.decode()
    assert ("Never mind." in shown, "spinach" in shown) == (True, False)
    post(client, draft, do="items", items="item_id,question\na,Why?\n")
    page = unescape(client.get(reverse("builder", args=[draft.pk])).content.decode())
    assert "Now an invented item is shown." in page


def test_what_no_form_has_is_refused(client: Client) -> None:
    draft = begun(client, template="likert")
    for act in (
        "remove title",
        "add criteria rubbish",
        "explode criteria/1",
        "up criteria/9",
        "own criteria/1/label",
    ):
        assert post(client, draft, do=act).status_code == 422
    assert draft.versions.count() == 1


def test_a_draft_of_others_is_not_there(client: Client) -> None:
    draft = begun(client, template="likert")
    other = Client()
    from django.contrib.auth.models import User

    from tests.people import role_of

    user = User.objects.create_user("other", is_staff=True)
    user.groups.add(role_of("Researcher"))
    other.force_login(user)
    for name in ("builder", "builder_preview", "builder_text", "builder_versions"):
        assert other.get(reverse(name, args=[draft.pk])).status_code == 404


SCRIPT = "<script>alert(1)</script>"


def test_scripts_in_texts_are_texts_in_the_form_and_on_the_page(client: Client) -> None:
    draft = begun(client, template="likert")
    names = [
        "title",
        "name",
        "criteria/1/label",
        "instructions/summary",
        "instructions/steps",
        "output_label",
    ]
    post(client, draft, **dict.fromkeys(names, SCRIPT))
    post(client, draft, do="items", items=f"item_id,question,system,text\na,{SCRIPT},m,{SCRIPT}\n")
    for name in ("builder", "builder_preview", "builder_text", "builder_versions"):
        page = client.get(reverse(name, args=[draft.pk])).content.decode()
        assert (SCRIPT in page, "alert(1)" in page) == (False, True)


def test_what_is_far_too_large_is_told_in_sentences(client: Client) -> None:
    draft = begun(client, template="likert")
    address = reverse("builder_text", args=[draft.pk])
    many = "\n".join(f"    - {{value: v{n}, label: L}}" for n in range(10_000))
    text = document(draft).replace("scales:\n", f"scales:\n  many:\n{many}\n")
    client.post(address, {"base": 1, "document": text})
    assert "No protocol is that large or that deep." in client.get(address).content.decode()
    assert "can’t be shown as a form" in client.get(reverse("builder", args=[draft.pk])).content.decode()
    late = client.post(address, {"base": 2, "document": "x" * 500_001})
    assert (late.status_code, "larger than 500 kB" in late.content.decode()) == (422, True)
    assert draft.versions.count() == 2
