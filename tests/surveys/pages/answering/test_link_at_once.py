"""The same person in many tabs, and many people, at the same moment."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from annotators.models import Assignment
from surveys.models import AnnotationSlot, AnswerRevision, Batch, Rating
from tests.link_pages import given, scores, target
from tests.link_people import invite_one
from tests.link_study import Visitor, make_link_batch, path_of

pytestmark = pytest.mark.django_db(transaction=True)
Parallel = Callable[..., list[Any]]


@pytest.fixture
def link_batch(transactional_db: None, own_pictures: None) -> Batch:
    return make_link_batch()


def tabs_of(ada: Visitor, n: int) -> list[tuple[Visitor, Any]]:
    """As many tabs of one person, all with annotation 1 open."""
    tabs = [Visitor(ada.path) for _ in range(n)]
    return [(tab, tab.open(1)) for tab in tabs]


def test_one_page_sent_six_times_at_once_is_one_answer(ada: Visitor, in_parallel: Parallel) -> None:
    tabs = tabs_of(ada, 6)
    answers = in_parallel(*(lambda tab=tab, page=page: tab.answer(1, page) for tab, page in tabs))
    assert [target(answer) for answer in answers] == [(303, "/2/?saved=1")] * 6
    assert scores() == given()
    assert (AnswerRevision.objects.count(), Assignment.objects.count()) == (0, 2)


def test_of_five_different_answers_at_once_one_is_written_and_four_are_asked_about(
    ada: Visitor, in_parallel: Parallel
) -> None:
    answers = in_parallel(
        *(
            lambda tab=tab, page=page, n=n: tab.answer(1, page, fluency=str(n))
            for n, (tab, page) in enumerate(tabs_of(ada, 5), 1)
        )
    )
    assert Counter(answer.status_code for answer in answers) == {303: 1, 409: 4}
    winner = next(n for n, answer in enumerate(answers, 1) if answer.status_code == 303)
    assert scores() == given(fluency=str(winner))
    assert AnswerRevision.objects.count() == 0


def test_of_five_changes_at_once_one_is_made(ada: Visitor, in_parallel: Parallel) -> None:
    ada.answer(1, fluency="5", relevance="5")
    answers = in_parallel(
        *(
            lambda tab=tab, page=page, n=n: tab.answer(1, page, fluency=str(n), relevance="1")
            for n, (tab, page) in enumerate(tabs_of(ada, 5), 1)
        )
    )
    assert Counter(answer.status_code for answer in answers) == {303: 1, 409: 4}
    assert AnswerRevision.objects.count() == 1
    assert Rating.objects.count() == 3


def test_four_people_share_out_a_batch(
    transactional_db: None, own_pictures: None, in_parallel: Parallel
) -> None:
    batch = make_link_batch(n_items=4, assignments=2)
    people = [Visitor(path_of(invite_one(batch, name))) for name in ("Ada", "Bob", "Cy", "Di")]

    def work(person: Visitor) -> int:
        """Start, answer what is given, and go where one is led, to the end."""
        where = person.start().headers["Location"]
        n = 0
        while "/end" not in where:
            number = int(where.rstrip("/").partition("?")[0].rstrip("/").rpartition("/")[2])
            where = person.answer(number).headers["Location"]
            n += 1
        return n

    counts = in_parallel(*(lambda person=person: work(person) for person in people))
    assert sum(counts) == 8
    slots = AnnotationSlot.objects.select_related("assignment")
    seen = Counter((slot.questionnaire_id, slot.assignment.worker_id) for slot in slots)
    assert sorted(Counter(questionnaire for questionnaire, _ in seen).values()) == [2, 2, 2, 2]
    assert set(seen.values()) == {1}
    assert Rating.objects.count() == 24
