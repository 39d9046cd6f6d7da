"""The form of the builder knows every kind of question, block and comparison, and loses nothing kept beside it."""

from collections.abc import Iterator
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from surveys.models import ProtocolDraft
from surveys.pages.study.builder.fields import LEFT_OUT, NEW, WORDS, asked_of
from surveys.pages.study.builder.form import form_of
from surveys.pages.study.builder.parts import id_of
from surveys.protocols.blocks import Block
from surveys.protocols.conditions import Condition
from surveys.protocols.criteria import Criterion, Preference
from surveys.protocols.definition import Definition
from surveys.protocols.documents import read
from surveys.protocols.trees import at, put, tree_of, written
from surveys.studies import drafts
from tests.people import client_of
from tests.surveys.pages.study.test_builder import begun, document, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return client_of("Researcher")


def kinds(of: type = Definition) -> Iterator[type]:
    yield of
    for asked in asked_of(of):
        if asked.of:
            yield from kinds(asked.of)


def tree(draft: ProtocolDraft) -> dict:
    return tree_of(document(draft), name="draft")


def problems(client: Client, draft: ProtocolDraft) -> tuple[str, ...]:
    draft.refresh_from_db()
    user = drafts.current(draft).made_by
    return drafts.reading_of(draft, document(draft), by=user).sentences


def shown(client: Client, draft: ProtocolDraft) -> str:
    return unescape(client.get(reverse("builder_preview", args=[draft.pk])).content.decode())


def test_every_key_is_asked_for_in_words() -> None:
    unworded = [
        (of.__name__, asked.key)
        for of in set(kinds()) - {Condition}
        for asked in asked_of(of)
        if asked.key not in WORDS.get(of, {}) and asked.key not in LEFT_OUT
    ]
    assert unworded == []


@pytest.mark.parametrize("what", NEW[Criterion])
def test_every_kind_of_question_is_added_whole_and_shown(client: Client, what: str) -> None:
    draft = begun(client, template="likert")
    post(client, draft, do=f"add criteria {what}", **{"instructions/reminder": "Mind this."})
    assert problems(client, draft) == ()
    assert NEW[Criterion][what][1]["label"] in shown(client, draft)


@pytest.mark.parametrize("what", NEW[Preference])
def test_every_way_to_compare_is_added_whole_and_shown(client: Client, what: str) -> None:
    draft = begun(client, template="likert")
    post(client, draft, do=f"add preference {what}", outputs_per_item="3", output_label="Text {n}")
    assert problems(client, draft) == ()
    assert NEW[Preference][what][1]["label"] in shown(client, draft)


@pytest.mark.parametrize("kind", dict(WORDS[Block]["kind"].names or {}))
def test_every_kind_of_block_is_chosen_and_shown(client: Client, kind: str) -> None:
    draft = begun(client, template="likert")
    post(client, draft, do="add blocks block")
    post(
        client, draft, **{"blocks/1/column": "told", "blocks/1/label": "What was told", "blocks/1/kind": kind}
    )
    assert problems(client, draft) == ()
    assert "What was told" in shown(client, draft)


def test_a_rubric_a_condition_and_an_exclusive_choice(client: Client) -> None:
    draft = begun(client, template="likert")
    post(client, draft, do="add criteria checklist")
    post(client, draft, do="add criteria text")
    post(
        client,
        draft,
        **{"criteria/4/asked_if/question": "question", "criteria/3/choices/1/description": "None of it"},
    )
    post(client, draft, **{"criteria/4/asked_if/values": "other", "criteria/3/exclusive": "one"})
    assert problems(client, draft) == ()
    assert at(tree(draft), ("criteria", 4, "asked_if")) == {"question": "question", "ticked": ["other"]}
    assert "None of it" in shown(client, draft)


def test_marking_is_of_the_columns_that_can_be_marked(client: Client) -> None:
    draft = begun(client, template="translation")
    post(client, draft, do="add blocks block")
    post(client, draft, **{"blocks/2/column": "talk", "blocks/2/kind": "conversation"})
    of = next(
        one for one in form_of(tree(draft)).fields if one.path == ("criteria", 1, "spans", "missing_in")
    )
    assert of.options == (("", "Nothing: it is not asked"), ("source", "Original"))
    post(client, draft, do="add criteria/1/spans/severities choice")
    assert at(tree(draft), ("criteria", 1, "spans", "severities", 3, "score")) == "6"
    assert problems(client, draft) == ()


def test_another_way_to_compare_takes_what_only_it_asks_for(client: Client) -> None:
    draft = begun(client, template="pairwise")
    post(client, draft, outputs_per_item="4", **{"preference/by": "best_worst"})
    assert at(tree(draft), ("preference",)) == {
        "key": "better", "label": "Which answer is better?", "output_label": "Answer {n}", "by": "best_worst",
        "worst_label": "Which is worst?",
    }  # fmt: skip
    assert problems(client, draft) == ()
    post(client, draft, **{"preference/by": "ranking"})
    names = [one.path[1] for one in form_of(tree(draft)).fields if one.path[0] == "preference"]
    assert names == ["label", "by", "output_label", "has_ties", "key"]
    assert problems(client, draft) == ()


def test_what_contradicts_itself_in_a_marking_is_said_beside_it(client: Client) -> None:
    draft = begun(client, template="translation")
    post(client, draft, **{"criteria/1/spans/severities/1/score": "-1"})
    page = unescape(client.get(reverse("builder", args=[draft.pk])).content.decode())
    place, sentence = id_of(("criteria", 1, "spans", "severities")), "needs of every severity what it costs"
    assert sentence in page.partition(f'id="{place}-p"')[2][:200]


def test_shared_choices_called_like_a_place_have_fields_of_their_own() -> None:
    document = (
        "scales:\n  a: [{value: 1, label: one, score: 1}]\n  a-1: [{value: 2, label: two, score: 2}]\n"
        "  a/1: [{value: 3, label: three, score: 3}]\n"
    )
    parts = list(form_of(tree_of(document, name="scales")).parts)
    assert len({part.id for part in parts}) == len(parts)


def test_items_and_sharing_go_with_any_button(client: Client) -> None:
    draft = begun(client, template="pairwise")
    page = client.get(reverse("builder", args=[draft.pk])).context
    beside = {"items_were": page["items_were"], "was_shared": "false"}
    rows = "item_id,question,system,text\r\na,Why?,m,Because.\r\na,Why?,n,Never mind.\r\n"
    post(client, draft, do="add criteria scale", items=rows, is_shared="on", **beside)
    draft.refresh_from_db()
    assert (draft.is_shared, draft.items, draft.current) == (True, rows.replace("\r\n", "\n"), 2)
    assert "Never mind." in shown(client, draft)
    post(
        client, draft, do="undo", items=rows, is_shared="on", items_were=page["items_were"], was_shared="true"
    )
    draft.refresh_from_db()
    assert (draft.is_shared, draft.current) == (True, 1)


def test_items_of_an_older_page_replace_nothing_and_stand_in_its_field(client: Client) -> None:
    draft = begun(client, template="pairwise")
    were = client.get(reverse("builder", args=[draft.pk])).context["items_were"]
    untouched = draft.items
    post(client, draft, do="items", items="theirs\n", items_were=were)
    post(client, draft, items=untouched, items_were=were)
    draft.refresh_from_db()
    assert draft.items == "theirs\n"
    refused = post(client, draft, title="Kept all the same", items="mine\n", items_were=were)
    page = unescape(refused.content.decode())
    assert (refused.status_code, "Somebody else has brought other items" in page, "\nmine\n" in page) == (
        422,
        True,
        True,
    )
    assert "Kept all the same" in document(draft)
    post(client, draft, items="mine\n", items_were=refused.context["items_were"])
    draft.refresh_from_db()
    assert draft.items == "mine\n"


@pytest.mark.parametrize(
    ("content", "why"), [(b"x" * 200_001, "more than 200 kB"), ("ä".encode("utf-16"), "not UTF-8")]
)
def test_items_that_can_not_be_kept_are_told_and_the_fields_kept(
    client: Client, content: bytes, why: str
) -> None:
    draft = begun(client, template="pairwise")
    address = reverse("builder", args=[draft.pk])
    items = SimpleUploadedFile("items.csv", content)
    refused = client.post(address, {"base": 1, "do": "publish", "title": "Kept", "items_file": items})
    assert (refused.status_code, why in refused.content.decode()) == (422, True)
    assert "title: Kept" in document(draft)
    assert draft.protocol is None


def test_columns_of_unknown_names_are_told_what_they_could_be_called(client: Client) -> None:
    draft = begun(client, template="pairwise")
    post(client, draft, do="items", items="wer,was,wie\n1,Why?,Because.\n")
    page = unescape(client.get(reverse("builder", args=[draft.pk])).content.decode())
    assert "call the columns in the first line item_id, question, system, explanation." in page


def test_what_is_typed_beside_an_entry_of_another_shape_is_kept(client: Client) -> None:
    draft = begun(client, template="likert")
    odd = written(put(tree(draft), ("criteria", 1, "choices"), ["Yes", "No"]))
    client.post(reverse("builder_text", args=[draft.pk]), {"base": 1, "document": odd})
    post(client, draft, **{"criteria/1/choices/1/label": "Certainly", "criteria/1/choices/1/value": "yes"})
    assert at(tree(draft), ("criteria", 1, "choices", 1)) == {"value": "yes", "label": "Certainly"}


def test_a_marking_made_in_the_form_is_what_a_file_would_say(client: Client) -> None:
    draft = begun(client, template="likert")
    post(client, draft, do="add criteria spans")
    definition = read(document(draft), name="draft")
    spans = definition.criterion("errors").spans
    assert spans is not None
    assert [(one.value, one.score) for one in spans.severities] == [("minor", 1.0), ("major", 5.0)]
    assert (spans.takes_notes, spans.of, spans.missing_in) == (True, "", "")
