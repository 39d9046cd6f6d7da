"""What a worker's standing does: the excluded get nothing new and lose nothing, a person looks at the watched."""

import pytest
from django.contrib.auth.models import User

from annotators.models import Assignment, Worker
from surveys.answering.arrival import CannotServe, open_assignment
from surveys.models import Decision
from surveys.publishing import giving
from surveys.review import decisions
from tests import factories
from tests.link_people import invite_one
from tests.link_study import Visitor, make_link_batch, path_of
from tests.surveys.pages.pages import text_of

pytestmark = pytest.mark.django_db


def stand(standing: str) -> None:
    Worker.objects.update(standing=standing)


@pytest.fixture(autouse=True)
def own_pictures(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


# -- On the marketplace -----------------------------------------------------------------------------------------------


def test_who_was_excluded_after_they_began_finishes_and_is_paid():
    questionnaire = factories.make_published()
    claims = factories.claims_for(questionnaire, worker="AWORKER")
    begun = open_assignment(questionnaire, claims=claims).assignment
    stand("excluded")
    assert open_assignment(questionnaire, claims=claims).assignment == begun
    factories.answer(begun)
    Assignment.objects.update(status="Submitted", submitted_at=begun.loaded_at, accepted_at=None)
    begun.refresh_from_db()
    assert decisions.record_decision(begun, batch=questionnaire.batch).verdict == "approve"


def test_the_excluded_get_no_second_hit_of_a_batch():
    first = factories.make_published()
    factories.open_for(first, worker="AWORKER")
    second = factories.make_questionnaire(
        first.batch, items=[factories.make_item(first.batch.survey, position=6)], hit=factories.make_hit()
    )
    stand("excluded")
    with pytest.raises(CannotServe, match="Please return it; returning costs you nothing") as error:
        factories.open_for(second, worker="AWORKER")
    assert error.value.kind == "excluded"


def test_who_returned_it_and_accepts_it_again_is_turned_away():
    questionnaire = factories.make_published()
    factories.open_for(questionnaire, worker="AWORKER", assignment="3OLD")
    stand("excluded")
    with pytest.raises(CannotServe):
        factories.open_for(questionnaire, worker="AWORKER", assignment="3NEW")


# -- By link ----------------------------------------------------------------------------------------------------------


def test_by_link_too_what_was_begun_can_be_finished_and_nothing_else():
    batch = make_link_batch(n_items=3)
    ada = Visitor(path_of(invite_one(batch, "Ada")))
    page = ada.open(1)
    stand("excluded")
    assert ada.open(1).status_code == 200
    assert ada.answer(1, page).status_code == 303
    end = ada.client.get(ada.at(1)[: -len("1/")] + "end?saved=1")
    assert "Annotation 1 is saved." in text_of(end)
    assert "There is more for you to do" not in text_of(end)
    assert ada.open(2).status_code == 403
    assert "1 of 1 done" in text_of(ada.open())


def test_the_excluded_are_offered_no_slot():
    batch = make_link_batch(n_items=3)
    worker = factories.make_worker(source="link")
    assert giving.free_slots(batch, worker=worker).count() == 3
    worker.standing = "excluded"
    assert giving.free_slots(batch, worker=worker).count() == 0


# -- The watched ------------------------------------------------------------------------------------------------------


def test_what_would_be_approved_of_the_watched_waits_for_a_person():
    questionnaire = factories.make_published()
    assignment = factories.submitted(questionnaire)
    stand("watch")
    decisions.record_decision(Assignment.objects.get(pk=assignment.pk), batch=questionnaire.batch)
    decision = Decision.objects.get()
    assert (decision.verdict, decision.reason, decision.n_correct) == ("flag", "", 5)
    assert [flag["kind"] for flag in decision.flags] == ["watched"]


def test_what_would_be_rejected_is_rejected_whoever_made_it():
    questionnaire = factories.make_published()
    assignment = factories.submitted(questionnaire, n_correct=1)
    stand("watch")
    decision = decisions.record_decision(Assignment.objects.get(pk=assignment.pk), batch=questionnaire.batch)
    assert (decision.verdict, decision.flags) == (
        "reject",
        [flag for flag in decision.flags if flag["kind"] != "watched"],
    )


def test_a_person_can_approve_it():
    questionnaire = factories.make_published()
    assignment = factories.submitted(questionnaire)
    stand("watch")
    assignment = Assignment.objects.get(pk=assignment.pk)
    decisions.record_decision(assignment, batch=questionnaire.batch)
    decisions.approve(assignment, by=User.objects.create_user("carla"))
    assert Decision.objects.get().verdict == "approve"
