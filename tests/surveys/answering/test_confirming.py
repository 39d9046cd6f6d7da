"""Claims to a HIT are believed together, and each by itself where one can't be."""

import pytest
from pytest_django import DjangoAssertNumQueries

from annotators.models import HIT, Assignment
from annotators.people.pseudonyms import without_id
from surveys.answering import claiming
from surveys.models import Response
from tests.factories import make_assignment, make_hit, make_published, make_worker, open_for, submitted

pytestmark = pytest.mark.django_db


def believed() -> dict[int, bool]:
    responses = Response.objects.filter(position=1).order_by("pk").values_list("assignment", "is_claim")
    return {assignment: not is_claim for assignment, is_claim in responses}


def test_a_hit_is_confirmed_at_once(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    questionnaire = make_published()
    named = [submitted(questionnaire) for _ in range(3)]
    claim = open_for(questionnaire)
    hit = HIT.objects.select_related("questionnaire__batch").get()
    with django_assert_num_queries(1 + 4 + 3):  # who is named, two savepoints, and each one's answers
        assert claiming.confirm(hit) == 3
    assert believed() == {**{one.pk: True for one in named}, claim.pk: False}
    with django_assert_num_queries(1):
        assert claiming.confirm(hit) == 0


def test_who_has_seen_an_item_elsewhere_is_believed_apart_from_the_others() -> None:
    questionnaire = make_published(n_items=1)
    first, again, last = (submitted(questionnaire) for _ in range(3))
    elsewhere = make_assignment(make_hit(), worker=again.worker)
    seen = again.responses.get()
    Response.objects.create(
        assignment=elsewhere,
        batch=seen.batch,
        worker=again.worker,
        item=seen.item,
        position=1,
        shown=seen.shown,
    )
    Assignment.objects.filter(pk__in=[again.pk, last.pk]).update(claimed_from="there")
    assert questionnaire.hit is not None
    assert claiming.confirm(questionnaire.hit) == 2
    assert believed() == {first.pk: True, again.pk: False, last.pk: True, elsewhere.pk: True}
    assert not Assignment.objects.filter(claimed_from="there").exists()  # each worker is known now
    assert claiming.confirm(questionnaire.hit) == 0


@pytest.mark.parametrize(
    "text", ["AWORKER1", "of aworker1.", "AWORK\u0435R1, aworKer1", "a\u017form, AWOR\u212aER1", "aworker1"]
)
def test_an_id_is_found_however_it_is_spelled(text: str) -> None:
    """Also by letters that a pattern takes for one another and `lower` does not: the sign of Kelvin."""
    written = without_id(text, worker=make_worker("AWORKER1"))
    assert "pseudonym:" in written
    assert "worker1" not in written.lower()


@pytest.mark.parametrize("text", ["", "AWORKER12", "BAWORKER1", "AWORKER", "Work 1"])
def test_what_is_no_id_stays(text: str) -> None:
    assert without_id(text, worker=make_worker("AWORKER1")) == text
