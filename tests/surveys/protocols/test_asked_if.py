"""Questions that not everybody is asked, from the page to the numbers."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from django.test import Client

from surveys.answering.answer_copy import (
    IncompleteAnswers,
    answer_as_data,
    answer_from_data,
    check,
    only_asked,
)
from surveys.answering.collection import given_answers, revise_answers
from surveys.models import Rating, Response
from surveys.rehearsal.hit_page import parse, read_hit_page
from surveys.rehearsal.knowledge import Knowledge
from surveys.results.files.layouts import batch_report
from surveys.results.files.report import make_report
from surveys.results.frames.csv_table import read_table
from surveys.results.frames.database import read_batch
from surveys.results.frames.responses import frame_from_responses
from surveys.results.statistics.comparison import POOLED, compare
from surveys.simulating.people import REMARK, Kind, answers_for
from tests import driven
from tests.surveys.pages.hit_pages import draft, open_page, post, token_of
from tests.surveys.pages.results.shown import results
from tests.surveys.protocols.conditional import DOCUMENT, ITEMS
from tests.surveys.rehearsal.rehearsal_items import person

FINE = {"answer": "a", "fluent": "yes"}
# What nobody asked is posted, too, as by a page without scripts.
UNASKED = {"severity": "2", "faults": ["other"], "which": "Style.", "hard": "yes", "why_hard": "many"}
WRONG = {
    "answer": "b",
    "fluent": "no",
    "severity": "2",
    "faults": ["other"],
    "which": "Style.",
    "hard": "yes",
}


def given(values: dict[str, str | list[str]]) -> Callable[[str], str | list[str]]:
    return lambda key: values.get(key, [])


def ratings() -> list[tuple[str, str]]:
    return [(one.criterion, one.value) for one in Rating.objects.order_by("pk")]


@pytest.mark.django_db
def test_what_is_not_asked_is_dropped(tmp_path: Path) -> None:
    questionnaire = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path)
    assert driven.answer(questionnaire, given(FINE | UNASKED)).status_code == 200
    assert ratings() == [("fluent", "yes")] * 2


@pytest.mark.django_db
def test_what_is_asked_has_to_be_answered(tmp_path: Path) -> None:
    questionnaire = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path)
    for left_out, sentences in {
        "severity": ["Choose one."] * 2,
        "which": ["Write a few words."] * 2,
        "hard": ["Choose one."],
        "fluent": ["Choose one."] * 2,
    }.items():
        page = driven.answer(questionnaire, given({**WRONG, left_out: []}))
        assert (page.status_code, left_out, driven.problems(page)) == (422, left_out, sentences)
    assert driven.problems(driven.answer(questionnaire, given({**WRONG, "why_hard": "many"}))) == [
        "Write a number, such as 3 or 0.5."
    ]
    without_faults = {key: value for key, value in WRONG.items() if key not in ("faults", "which")}
    assert driven.answer(questionnaire, given(without_faults)).status_code == 200


@pytest.mark.django_db
def test_one_output_is_asked_about_and_the_other_not(tmp_path: Path) -> None:
    questionnaire = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path)
    sides = iter(["weak_no", "yes"])
    said = {**WRONG, "answer": "a"}
    page = driven.answer(questionnaire, lambda key: next(sides) if key == "fluent" else said.get(key, []))
    assert page.status_code == 200
    assert ratings() == [("fluent", "weak_no"), ("severity", "2"), ("fluent", "yes")]


@pytest.mark.django_db
def test_a_page_sent_back_shows_what_was_typed_and_says_when_it_counts(tmp_path: Path) -> None:
    questionnaire = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path)
    page = driven.answer(questionnaire, given(FINE | UNASKED | {"answer": []})).content.decode()
    (kept,) = Response.objects.values_list("draft", flat=True)
    assert [kept[name] for name in kept if name.endswith("-which")] == ["Style.", "Style."]
    assert kept["hard"] == "yes"
    assert page.count('value="2" checked>') == page.count(">\nStyle.</textarea>") == 2
    severity = (
        '<legend dir="auto">How much does that matter? <small class="only-if" dir="auto">'
        "Only if you answered “Weak no” or “No” to “Is it fluent?” above.</small></legend>"
    )
    assert page.count(severity) == 2
    assert page.count("Only if you ticked “Another one” in “Which faults?” above.") == 2
    assert page.count('-fluent" data-values="[&quot;no&quot;, &quot;weak_no&quot;]"') == 2
    assert 'data-only-if="i1-answer" data-values="[&quot;b&quot;]"' in page


@pytest.mark.django_db
def test_what_is_hidden_again_outlives_a_reload_and_is_no_answer(tmp_path: Path) -> None:
    questionnaire, visitor = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path), Client()
    ids = {"assignmentId": "ASSIGNMENT1", "workerId": "AWORKER1"}
    opened = open_page(visitor, questionnaire, **ids)
    fields = {name: (FINE | UNASKED)[key] for name, key in driven.asked(opened.content.decode()).items()}
    typed = {name.removeprefix("i1-"): value for name, value in fields.items() if "why_hard" not in name}
    assert draft(visitor, questionnaire, token=token_of(opened), answers=typed).status_code == 200
    reloaded = open_page(visitor, questionnaire, **ids)
    assert reloaded.content.decode().count(">\nStyle.</textarea>") == 2
    assert post(visitor, questionnaire, {**fields, "token": token_of(reloaded)}).status_code == 200
    assert ratings() == [("fluent", "yes")] * 2


@pytest.mark.django_db
def test_simulated_people_answer_what_they_are_asked(tmp_path: Path) -> None:
    questionnaire = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path)
    knowledge = Knowledge.of_file(tmp_path / "items.csv", definition=questionnaire.batch.definition)
    for n, kind in enumerate(list(Kind) * 2):
        visitor, ids = Client(), {"assignmentId": f"ASSIGNMENT{n}", "workerId": f"AWORKER{n}"}
        opened = open_page(visitor, questionnaire, **ids)
        (item,) = read_hit_page(parse(opened.content.decode())).items
        one = person(kind, competence=n % 2, worker_id=f"AWORKER{n}")
        answers = answers_for(item, person=one, knowledge=knowledge, seed=1)
        assert post(visitor, questionnaire, {**answers, "token": token_of(opened)}).status_code == 200
    kept = [(one.response_id, one.output_id, one.criterion, one.value) for one in Rating.objects.all()]
    given = {(*about, key): value for *about, key, value in kept}
    severe = {tuple(about) for *about, key, _ in kept if key == "severity"}
    hard = {response for response, _, key, _ in kept if key == "hard"}
    assert severe == {tuple(about) for *about, key, value in kept if key == "fluent" and value != "yes"}
    assert hard == set(Response.objects.filter(answer="b").values_list("pk", flat=True))
    assert {given[about] for about in given if about[2] == "which"} == {REMARK}
    assert 0 < len(severe) < 2 * len(Kind) * 2


@pytest.mark.django_db
def test_the_copy_says_what_was_asked(tmp_path: Path) -> None:
    questionnaire = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path)
    driven.answer(questionnaire, given(WRONG))
    response = Response.objects.get()
    data, definition = answer_as_data(response, response.ratings.all()), questionnaire.batch.definition
    assert data["item"] == {"hard": "yes"}
    assert (
        list(data["outputs"].values())
        == [{"fluent": "no", "severity": "2", "faults": ["other"], "which": "Style."}] * 2
    )
    copy = answer_from_data(data)
    check(copy, response.item, definition)
    assert only_asked(copy, definition) == copy
    assert not revise_answers(response.assignment, answers=given_answers(response.assignment))

    changed = {code: {**values, "fluent": "yes"} for code, values in copy.ratings.items()}
    tampered = answer_from_data({**data, "outputs": changed, "answer": "a"})
    check(tampered, response.item, definition)
    kept = only_asked(tampered, definition)
    assert (list(kept.ratings.values()), kept.item_ratings) == ([{"fluent": "yes"}] * 2, {})
    for key in ("severity", "faults", "which"):
        lacking = {c: {k: v for k, v in values.items() if k != key} for c, values in copy.ratings.items()}
        with pytest.raises(IncompleteAnswers, match="is not answered"):
            check(answer_from_data({**data, "outputs": lacking}), response.item, definition)


@pytest.mark.django_db
def test_numbers_are_of_who_was_asked(tmp_path: Path) -> None:
    questionnaire = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path)
    for said in (FINE, WRONG, {**WRONG, "severity": "1", "faults": [], "hard": "no"}):
        assert driven.answer(questionnaire, given(said)).status_code == 200
    kept = batch_report(questionnaire.batch).summary.kept
    for system in kept.systems:
        numbers = {one.key: one for one in system.criteria}
        severity, faults = numbers["severity"].score, numbers["faults"].shares
        assert severity is not None
        assert (severity.rating_mean, severity.ratings, severity.blanks) == (1.5, 2, 0)
        assert [(share.key, share.count, share.total) for share in faults] == [
            ("grammar", 0, 2),
            ("other", 1, 2),
            ("nothing", 1, 2),
        ]
    hard, why_hard = (one.score for one in kept.criteria)
    assert hard is not None
    assert why_hard is not None
    assert (hard.ratings, hard.rating_mean, why_hard.ratings) == (2, 0.5, 0)

    files = driven.files(questionnaire.batch, folder=tmp_path / "out")
    rows = [(r["criterion"], r["value"]) for r in files["tidy.csv"] if r["system"] == "m"]
    assert Counter(rows) == {
        ("fluent", "yes"): 1,
        ("fluent", "no"): 2,
        ("severity", "1"): 1,
        ("severity", "2"): 1,
        ("faults.grammar", "not_selected"): 2,
        ("faults.other", "not_selected"): 1,
        ("faults.other", "selected"): 1,
        ("which", "Style."): 1,
    }
    lines = {r["criterion"]: (r["n"], r["skipped"]) for r in files["table.csv"] if r["system"] == "m"}
    assert (lines["fluent"], lines["severity"], lines["faults.other"]) == (("3", "0"), ("2", "0"), ("2", "0"))

    # The published test counts a skipped response as -1; who was not asked has skipped nothing.
    frame = read_batch(questionnaire.batch)
    estimate = compare(frame, against="n", method=POOLED).estimates["m"]["severity"]
    assert (estimate.mean, estimate.n, estimate.skipped) == (1.5, 2, 0)

    table = read_table((tmp_path / "out" / "responses.csv").read_bytes())
    again = frame_from_responses(table, study="Edits", definition=questionnaire.batch.definition)
    told = ["system", "criterion", "value", "score"]
    assert again.tidy()[told].equals(frame.tidy()[told])
    assert make_report(again).summary.kept == kept


@pytest.mark.django_db
def test_nobody_is_asked(tmp_path: Path, admin_client: Client) -> None:
    questionnaire = driven.study(DOCUMENT, items=ITEMS, folder=tmp_path)
    assert driven.answer(questionnaire, given(FINE)).status_code == 200
    results(questionnaire.batch)
    page = admin_client.get(f"/batches/{questionnaire.batch.pk}/results/", headers={"host": "127.0.0.1"})
    assert "How much does that matter?" in page.content.decode()
    files = driven.files(questionnaire.batch, folder=tmp_path / "out")
    assert {r["criterion"] for r in files["tidy.csv"]} == {"fluent"}
