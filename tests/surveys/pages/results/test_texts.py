"""What people wrote is read one below another, of the answers that count, and searched."""

import pytest
from django.db import connection
from django.urls import reverse

from surveys.models import Batch, Output, Rating, Response
from tests.people import client_of
from tests.surveys.pages.pages import queries_of, text_of, url
from tests.surveys.results.rated import Rated, rated_batch, single

pytestmark = pytest.mark.django_db
SAID = {"w1": "Shows the red bus", "w2": "<b>Nothing</b> of it", "w3": "", "w4": "Красный автобус"}


def wrote(said: dict[str, str], *, status: str = "Submitted") -> list[Rated]:
    return [
        Rated("s1", "a", worker, {"clarity": "3", "trust": "3", "remark": text}, status=status)
        for worker, text in said.items()
    ]


@pytest.fixture
def batch() -> Batch:
    rows = [*wrote(SAID), *wrote({"w5": "Rejected words"}, status="Rejected")]
    return rated_batch(rows, definition=single(texts=True))


def test_what_was_written_is_read_with_its_item_and_under_a_pseudonym(batch: Batch) -> None:
    answer = client_of("Assistant").get(url("batch_texts", batch))
    page = answer.content.decode()
    assert [one.value for one, _ in answer.context["rows"]] == [SAID["w1"], SAID["w2"], SAID["w4"]]
    assert "&lt;b&gt;Nothing&lt;/b&gt; of it" in page
    assert "Why?" in text_of(answer)
    assert [tab.label for tab in answer.context["study"].tabs if tab.is_here] == ["Results"]
    assert [name in text_of(answer) for name in ("w1", "Rejected words")] == [False, False]


def test_a_list_of_other_answers_has_their_texts(batch: Batch) -> None:
    answer = client_of("Assistant").get(url("batch_texts", batch), {"rows": "all"})
    assert "Rejected words" in [one.value for one, _ in answer.context["rows"]]
    assert '<input type="hidden" name="rows" value="all">' in answer.content.decode()


def test_of_several_outputs_in_an_answer_what_was_written_about_the_chosen_is_there(batch: Batch) -> None:
    answer = Response.objects.get(worker__worker_id="w1")
    other = Output.objects.create(item=answer.item, system="b", text="Another")
    Rating.objects.create(response=answer, output=other, criterion="remark", value="Of the other one")
    Rating.objects.create(response=answer, criterion="remark", value="Of the item")
    client, said = client_of("Assistant"), {"a": SAID["w1"], "b": "Of the other one"}
    for system, text in said.items():
        rows = client.get(url("batch_texts", batch), {"systems": system}).context["rows"]
        shown = [one.value for one, _ in rows if one.response == answer]
        assert shown == [text, "Of the item"]


@pytest.mark.parametrize(
    ("sought", "found"), [("RED", ["w1"]), ("nothing", ["w2"]), ("100%", []), ("\0", ["w1", "w2", "w4"])]
)
def test_words_are_looked_for(batch: Batch, sought: str, found: list[str]) -> None:
    answer = client_of("Assistant").get(url("batch_texts", batch), {"q": sought, "criterion": "remark"})
    assert [one.value for one, _ in answer.context["rows"]] == [SAID[worker] for worker in found]


def test_so_are_those_of_other_alphabets(batch: Batch) -> None:
    """`make test-sqlite` asks SQLite; PostgreSQL does as its database's locale does, which is C where tests made it."""
    is_known = connection.vendor == "sqlite"
    answer = client_of("Assistant").get(
        url("batch_texts", batch), {"q": "красный" if is_known else "Красный"}
    )
    assert [one.value for one, _ in answer.context["rows"]] == [SAID["w4"]]


def test_the_page_asks_as_often_for_many_texts_as_for_one(batch: Batch) -> None:
    client, address = client_of("Assistant"), url("batch_texts", batch)
    client.get(address)
    assert queries_of(client, f"{address}?q=red") == queries_of(client, address)


def test_results_lead_there_where_texts_are_asked_for(batch: Batch) -> None:
    without = rated_batch(
        [Rated("s1", "a", "w1", {"clarity": "3", "trust": "3"})], definition=single(key="b")
    )
    client = client_of("Assistant")
    for one, leads in ((batch, True), (without, False)):
        page = client.get(reverse("batch_results", args=[one.pk])).content.decode()
        assert (url("batch_texts", one) in page) == leads
    assert "Nobody wrote anything." in text_of(client.get(url("batch_texts", without)))
