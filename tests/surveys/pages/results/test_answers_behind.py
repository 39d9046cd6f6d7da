"""Every number leads to the answers it counts, and to as many as it says."""

import re
from urllib.parse import parse_qs

import pytest
from django.contrib.auth.models import Permission, User
from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone

from annotators.models import Assignment
from surveys.models import Batch, Item, Output, Response, TaskAccuracy
from surveys.pages.results.chosen_form import ChosenForm
from surveys.pages.results.responses import BehindForm, answers_behind
from surveys.protocols.criteria import Preference
from surveys.protocols.definition import ALL
from surveys.protocols.documents import read
from surveys.protocols.spans import Mark, written
from surveys.results.chosen import Chosen
from surveys.results.disagreement import by_disagreement
from surveys.results.frames.pseudonyms import Pseudonyms
from surveys.studies import scoring
from tests.factories import (
    make_assignment,
    make_batch,
    make_hit,
    make_item,
    make_published,
    make_questionnaire,
    make_survey,
    submitted,
)
from tests.people import client_of
from tests.surveys.pages.pages import text_of
from tests.surveys.pages.results.shown import metric_results, results
from tests.surveys.protocols.test_spans import DOCUMENT
from tests.surveys.results.rated import Rated, rated_batch
from tests.surveys.results.rated import single as one_system

pytestmark = pytest.mark.django_db


def behind(batch: Batch, query: str) -> int:
    """How many answers the list of this query has."""
    asked = QueryDict(query)
    wanted = BehindForm(asked)
    wanted.full_clean()
    return answers_behind([batch], ChosenForm(asked, batches=[batch]).chosen, wanted.cleaned_data).count()


def evil() -> Batch:
    """Two people's answers, one's half wrong, and a third's that are rejected."""
    questionnaire = make_published()
    submitted(questionnaire, n_correct=5)
    submitted(questionnaire, n_correct=3)
    bad = submitted(questionnaire, n_correct=1)
    Assignment.objects.filter(pk=bad.pk).update(status="Rejected", rejected_at=timezone.now())
    Item.objects.filter(position=1).update(gold="")
    return questionnaire.batch


def single() -> Batch:
    rows = [
        Rated(f"s{n}", "ab"[n % 2], w, {"clarity": str(n), "trust": "3"}) for n in range(1, 5) for w in "xyz"
    ]
    skipped = [Rated("s1", "b", "v", skip_reason="too_dark"), Rated("s2", "a", "v", skip_reason="other")]
    return rated_batch([*rows, *skipped], model_correct={"s1/b": True, "s2/a": False})


@pytest.mark.parametrize("study", [evil, single])
def test_as_many_answers_stand_behind_a_count_as_it_says(study) -> None:
    batch = study()
    found, counts = results(batch), []
    for block in (*found.blocks, *found.item_blocks, *found.choices_of_rows):
        for row in block.rows:
            for cell in row.cells:
                if row.label.endswith(", of items"):
                    continue  # a count of items; the list has all of their answers
                if count := cell.link and re.match(r"([0-9]+) (?:of|ratings)", cell.note):
                    counts.append((row.label, behind(batch, cell.link), int(count[1])))
    assert [one for one in counts if one[1] != one[2]] == []
    assert len(counts) > 40


def test_numbers_of_systems_and_differences_lead_to_the_ratings_of_the_system() -> None:
    batch = single()
    found = results(batch)
    cell = found.side_by_side.rows[0].cells[1]
    assert (parse_qs(cell.link), behind(batch, cell.link)) == ({"criterion": ["trust"], "of": ["a"]}, 6)
    rows = (*found.headline_differences, *found.other_differences)
    assert [(row.label, parse_qs(row.cells[2].link)["criterion"]) for row in rows] == [
        (row.label, ["clarity"] if row.cells[0].text == "Clear?" else ["trust"]) for row in rows
    ]
    links = [{cell.link for cell in row.cells[2:] if cell.link} for row in rows]
    assert links == [{row.cells[2].link} for row in rows]


def with_numbers(*tables) -> list:
    rows = [row for table in tables for row in (table.rows if hasattr(table, "rows") else [table])]
    return [(row, cell) for row in rows for cell in row.cells if re.search("[0-9]", cell.text)]


@pytest.mark.parametrize("study", [evil, single])
def test_every_number_that_answers_are_behind_leads_to_some(study) -> None:
    batch = study()
    found = results(batch)
    tables = (*found.blocks, *found.item_blocks, *found.choices_of_rows, *found.positions, *found.within)
    numbers = with_numbers(*tables, *found.differences)
    linked = {row.label for row, cell in numbers if cell.link}
    assert {row.label for row, _ in numbers} == linked
    of_scores = with_numbers(*found.choices_of_rows, *found.positions, *found.within, *found.differences)
    names = {"kept", "filtered", *(row.cells[0].text for row in (*found.positions, *found.differences))}
    listed = [behind(batch, cell.link) for _, cell in of_scores if cell.text not in names]
    assert (0 in listed, len(listed) > 5) == (False, True)


def ranked(*answers: dict[str, str]) -> Batch:
    """Each answer is one person's about an item of three systems: who was best, who was worst."""
    preference = Preference("place", "Which is best?", "Text", by="best_worst", worst_label="And worst?")
    definition = one_system(outputs_per_item=ALL, preference=preference)
    survey = make_survey()
    batch = make_batch(survey, snapshot=definition.to_snapshot(), items_per_hit=1)
    for n, places in enumerate(answers, 1):
        item = make_item(survey, position=n, systems=("a", "b", "c"), choices=(), gold="")
        questionnaire = make_questionnaire(batch, items=[item], hit=make_hit())
        assignment = make_assignment(questionnaire.hit, status="Submitted")
        worker = assignment.worker
        response = Response.objects.create(
            assignment=assignment, batch=batch, worker=worker, item=item, position=1
        )
        for output in item.outputs.all():
            place = places.get(output.system, "other")
            score = {"best": 1, "worst": -1}.get(place, 0)
            response.ratings.create(output=output, criterion="place", value=place, score=score)
    return batch


def places(cell) -> dict[str, str]:
    return {name: value for name, [value] in parse_qs(cell.link).items()}


def test_strengths_and_win_rates_lead_to_the_comparisons_they_count() -> None:
    best_a, best_b, best_c = (
        {"a": "best", "c": "worst"},
        {"b": "best", "a": "worst"},
        {"c": "best", "b": "worst"},
    )
    batch = ranked(best_a, best_a, best_a, best_b, best_c)
    table = results(batch).strengths
    of = {row.label: row.cells for row in table.rows}
    assert table.counted == ("Best", "Worst")
    judged = {"criterion": "place", "of": "a"}
    value, *_, best, worst, n = of["a"]
    assert [places(cell) for cell in (value, best, worst, n)] == [
        judged,
        {**judged, "value": "best"},
        {**judged, "value": "worst"},
        judged,
    ]
    assert [behind(batch, cell.link) for cell in (best, worst, n)] == [3, 1, 5]
    matrix = {
        (row.label, other): cell
        for row in table.matrix
        for other, cell in zip(table.systems, row.cells, strict=True)
    }
    assert {pair for pair, cell in matrix.items() if not cell.link} == {(name, name) for name in "abc"}
    assert places(matrix["a", "b"]) == {**judged, "against": "b"}
    counted = [
        (behind(batch, cell.link), sum(map(int, re.findall("[0-9]+", cell.note.split(";")[0]))))
        for cell in matrix.values()
        if cell.link
    ]
    assert [(n, said) for n, said in counted if n != said] == []
    assert {n for n, _ in counted} == {5}


def test_of_two_that_were_neither_best_nor_worst_nothing_was_compared() -> None:
    batch = ranked({"a": "best", "c": "worst"}, {})
    assert [behind(batch, f"criterion=place&of=a&against={other}") for other in "bcd"] == [1, 1, 0]
    page = client_of("Assistant").get(
        reverse("batch_responses", args=[batch.pk]) + "?criterion=place&of=a&against=b"
    )
    assert "1 found" in text_of(page)
    assert "against b" in text_of(page)


def marked(*marks: tuple[str, str]) -> str:
    return written(Mark(severity, category, start=n, end=n + 1, text="x", note=f'"severity":"{severity}')
                   for n, (severity, category) in enumerate(marks))  # fmt: skip


def test_error_profiles_lead_to_the_answers_that_have_such_a_mark() -> None:
    definition = read(DOCUMENT, name="marked.yaml")
    said = [
        [("minor", "grammar"), ("minor", "grammar"), ("major", "omission")],
        [("minor", "grammar")],
        [("minor", "omission")],
        [],
    ]
    rows = [Rated(f"s{n}", "a", "xyz"[n % 3], {"errors": marked(*marks)}) for n, marks in enumerate(said)]
    batch = rated_batch(rows, definition=definition)
    (errors,) = results(batch).profiles
    (row,) = errors.rows
    assert {places(cell)["criterion"] for cell in row.cells[:4]} == {"errors"}
    assert behind(batch, row.cells[0].link) == int(row.cells[0].text) == 4
    assert [
        ([cell.text for cell in row.cells[:3]], [behind(batch, cell.link) for cell in row.cells[2:]])
        for row in errors.kinds
    ] == [
        (["Accuracy/Omission", "Minor", "1"], [1, 1]),
        (["Accuracy/Omission", "Major", "1"], [1, 1]),
        (["Fluency/Grammar", "Minor", "3"], [2, 2]),
    ]
    address = reverse("batch_responses", args=[batch.pk])
    page = client_of("Assistant").get(f"{address}?{errors.kinds[2].cells[2].link}")
    assert "Fluency/Grammar · Minor" in text_of(page)


def test_nothing_ticked_is_listed_by_its_name() -> None:
    batch = evil()
    address = reverse("batch_responses", args=[batch.pk]) + "?of=model&criterion=shortcomings&value=nothing"
    text = text_of(client_of("Assistant").get(address))
    assert "Nothing ticked" in text
    assert 0 < int(re.search("([0-9]+) found", text)[1]) < 10


def test_scores_of_e_vil_lead_to_what_was_said_of_explanations_of_right_answers() -> None:
    batch = evil()
    Output.objects.filter(item__position=2, system="model").update(answer="no")
    found = results(batch)
    (block,) = [block for block in found.blocks if block.title == "e-ViL scores"]
    column = found.columns.index("model")
    links = [row.cells[column].link for row in block.rows]
    assert [behind(batch, link) for link in links] == [15, 9, 15]
    assert parse_qs(links[1])["decided"] == ["right"]
    TaskAccuracy.objects.create(survey=batch.survey, system="model", accuracy="0.25", source="A table.")
    (block,) = [block for block in results(batch).blocks if block.title == "e-ViL scores"]
    assert [bool(row.cells[column].link) for row in block.rows] == [False, True, True]


def test_means_of_metrics_lead_to_the_answers_about_the_system() -> None:
    batch = evil()
    scoring.score_next(batch.survey)
    shown = metric_results(batch)
    assert [places(cell) for row in shown.means for cell in row.cells] == [{"of": "model"}] * len(shown.means)
    page = client_of("Assistant").get(reverse("batch_results", args=[batch.pk])).content.decode()
    table = page[page.index('aria-label="Means of metrics"') :]
    assert (
        f'<a href="{reverse("batch_responses", args=[batch.pk])}?of=model">'
        in table[: table.index("</table>")]
    )


def test_an_address_with_half_of_a_question_asks_less() -> None:
    batch = evil()
    long = "x" * 300
    queries = ["against=model&criterion=justifies", f"severity=minor&category={long}&criterion=justifies",
               f"of={long}&against=model&criterion=justifies"]  # fmt: skip
    assert [behind(batch, query) for query in queries] == [0, 0, 0]


def test_an_answer_is_shown_whole_under_the_pseudonym_and_its_key_to_reviewers_only() -> None:
    batch = evil()
    address = reverse("batch_responses", args=[batch.pk]) + "?rows=all&of=model&criterion=justifies"
    page = client_of("Assistant").get(address)
    text = text_of(page)
    worker = Assignment.objects.first().worker.worker_id
    assert "15 found" in text
    assert (Pseudonyms()(worker) in text, worker in text) == (True, False)
    assert "Question 2?" in text
    assert "(right: Yes)" in text or "Right:" in text
    assert client_of().get(address).status_code == 403


def test_who_may_not_see_work_sees_answers_without_what_is_right() -> None:
    batch = evil()
    client = client_of()
    User.objects.get().user_permissions.add(Permission.objects.get(codename="view_batch"))
    text = text_of(client.get(reverse("batch_responses", args=[batch.pk])))
    assert ("found" in text, "Right:" in text, "Wrong:" in text, "The whole assignment" in text) == (
        True,
        False,
        False,
        False,
    )


def test_the_most_disputed_output_comes_first() -> None:
    said = {"calm": "333", "split": "115", "torn": "155"}
    rows = [
        Rated(subject, "a", worker, {"clarity": value, "trust": "3"})
        for subject, values in said.items()
        for worker, value in zip("xyz", values, strict=True)
    ]
    batch = rated_batch([*rows, Rated("once", "a", "x", {"clarity": "1", "trust": "3"})])
    found = list(by_disagreement([batch], Chosen(), criterion="clarity"))
    assert [(row["n"], round(row["mean"], 3), round(row["spread"], 3)) for row in found] == [
        (3, 2.333, 2.309),
        (3, 3.667, 2.309),
        (3, 3.0, 0.0),
    ]
    page = client_of("Assistant").get(reverse("disputed", args=[batch.pk]) + "?criterion=nonsense")
    assert [row["output"].item.subject for row in page.context["rows"]] == ["split", "torn", "calm"]
    assert reverse("batch_responses", args=[batch.pk]) + "?item=split&amp;of=a" in page.content.decode()


def test_counts_and_agreement_lead_to_what_they_count() -> None:
    batch, client = single(), client_of("Assistant")
    results(batch)
    page = client.get(reverse("batch_results", args=[batch.pk])).content.decode()
    answers, disputed = (reverse(name, args=[batch.pk]) for name in ("batch_responses", "disputed"))
    links = [f"{answers}?rows=all", f"{answers}?rows=all&amp;skipped=any", f"{answers}?criterion=trust&amp;of=b",
             f"{disputed}?criterion=trust&amp;of=b", reverse("assignments", args=[batch.pk]) + "?use=used"]  # fmt: skip
    assert [link for link in links if f'href="{link}"' not in page] == []
    shown = [text_of(client.get(link.replace("&amp;", "&"))) for link in links[:4]]
    assert [re.search(r"([0-9]+) (?:found|with two)", text)[1] for text in shown] == ["14", "2", "6", "2"]


def test_of_a_chosen_part_nothing_is_called_kept() -> None:
    batch, client = single(), client_of("Assistant")
    url = reverse("batch_results", args=[batch.pk]) + "?rows=all"
    client.get(url)
    text = text_of(client.get(url))
    assert ("chosen ratings" in text, "Agreement of raters, chosen rows" in text) == (True, True)
    assert re.findall(r"[^.]{20}\bkept rows|\bkept ratings", text) == []


def test_a_table_for_a_paper_says_that_it_is_of_a_part() -> None:
    batch, client = single(), client_of("Assistant")
    results(batch)
    url = reverse("result_table", args=[batch.pk, "systems", "tex"])
    results(batch, Chosen(rows="all"))
    found = ["Of a part of the answers that was chosen." in client.get(url + query).content.decode()
             for query in ("", "?rows=all")]  # fmt: skip
    assert found == [False, True]


def test_the_form_shows_what_is_counted_and_the_only_system_there_is() -> None:
    batch, client = evil(), client_of("Assistant")
    results(batch)
    page = client.get(reverse("batch_results", args=[batch.pk]))
    assert '<option value="kept" selected>' in page.content.decode()
    assert "Systems: model, beside ground_truth; no other is shown" in text_of(page)
    chosen = client.get(reverse("batch_results", args=[batch.pk]) + "?rows=filtered")
    assert '<option value="filtered" selected>' in chosen.content.decode()
    assert "no other is shown" not in text_of(client.get(reverse("batch_results", args=[single().pk])))
