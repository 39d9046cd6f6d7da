"""The cap at the door: who has done their share can open no more, from the marketplace or from a panel."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connections
from django.utils import timezone

from annotators.models import Assignment, Worker
from surveys.answering.admissions import admit, admit_panel
from surveys.answering.arrival import CannotServe
from surveys.models import Batch, Questionnaire
from tests.factories import make_batch, make_hit, make_questionnaire, make_survey, open_for
from tests.link_people import from_prolific, invite_one, make_panel
from tests.link_people import make_batch as make_link_batch
from tests.policy_data import policy_of

CAP = policy_of({"kind": "worker_cap", "share": 0.1})
TURNED_AWAY = (
    "You have done as many of these HITs as one person may do (1), so that many people are heard. "
    "Please return this one: you lose nothing by it, and nothing is rejected because of it. Thank you for your work!"
)


def questionnaires(n: int = 4, **values: object) -> list[Questionnaire]:
    """n HITs of one item, 5 assignments wanted of each."""
    survey = make_survey(n_items=n)
    batch = make_batch(survey, **{"items_per_hit": 1, "review_policy": CAP, **values})
    return [make_questionnaire(batch, items=[item], hit=make_hit()) for item in survey.items.all()]


def turned_away(questionnaire: Questionnaire, worker: str) -> tuple[str, str]:
    with pytest.raises(CannotServe) as caught:
        open_for(questionnaire, worker=worker)
    return caught.value.kind, str(caught.value)


@pytest.mark.django_db
def test_one_person_gets_their_share_and_no_more() -> None:
    first, second, third, _ = questionnaires()  # 20 wanted: 2 for each
    open_for(first, worker="AONE")
    open_for(second, worker="AONE")
    kind, sentence = turned_away(third, "AONE")
    assert (kind, sentence) == ("share", TURNED_AWAY.replace("(1)", "(2)"))
    assert open_for(third, worker="ATWO").worker.worker_id == "ATWO"
    assert Assignment.objects.count() == 3


@pytest.mark.django_db
def test_what_is_open_already_stays_open() -> None:
    first, second = questionnaires(2)  # 10 wanted: 1 for each
    mine = open_for(first, worker="AONE", assignment="MINE")
    assert turned_away(second, "AONE") == ("share", TURNED_AWAY)
    assert open_for(first, worker="AONE", assignment="MINE") == mine
    assert open_for(first, worker="AONE", assignment="AGAIN").hit == first.hit


@pytest.mark.django_db
def test_what_was_given_up_is_free_again_once_its_time_is_over() -> None:
    first, second = questionnaires(2)
    open_for(first, worker="AONE")
    Assignment.objects.update(loaded_at=timezone.now() - timedelta(hours=1, minutes=1))
    assert open_for(second, worker="AONE").hit == second.hit


@pytest.mark.django_db
def test_work_that_is_saved_is_never_given_up() -> None:
    first, second = questionnaires(2)
    open_for(first, worker="AONE")
    long_ago = timezone.now() - timedelta(days=1)
    Assignment.objects.update(loaded_at=long_ago, saved_at=long_ago)
    assert turned_away(second, "AONE") == ("share", TURNED_AWAY)


@pytest.mark.django_db
def test_another_batch_is_another_share() -> None:
    ours, theirs = questionnaires(1)[0], questionnaires(1)[0]
    open_for(ours, worker="AONE")
    assert open_for(theirs, worker="AONE").hit == theirs.hit


@pytest.mark.django_db
def test_without_a_cap_one_person_may_do_everything() -> None:
    for questionnaire in questionnaires(3, review_policy=policy_of()):
        open_for(questionnaire, worker="AONE")
    assert Worker.objects.get().assignments.count() == 3


@pytest.mark.django_db
def test_a_panels_person_has_a_share_and_an_invited_one_has_not() -> None:
    batch = make_link_batch(n_items=5, copies=2)
    Batch.objects.filter(pk=batch.pk).update(review_policy=CAP)  # 10 wanted
    panel = make_panel(batch, assignments_per_worker=4)
    assert admit_panel(panel.code, from_prolific()).limit == 1
    token = invite_one(batch).address.rstrip("/").rsplit("/", 1)[-1]
    assert admit(token).limit is None
    Batch.objects.filter(pk=batch.pk).update(review_policy=policy_of({"kind": "worker_cap", "share": 1.0}))
    assert admit_panel(panel.code, from_prolific()).limit == 4


@pytest.mark.django_db(transaction=True)
def test_eight_tabs_open_no_more_than_the_share() -> None:
    found = questionnaires(8, review_policy=policy_of({"kind": "worker_cap", "share": 0.05}))  # 40 wanted: 2

    def tab(questionnaire: Questionnaire) -> bool:
        try:
            open_for(questionnaire, worker="AONE")
        except CannotServe:
            return False
        finally:
            connections.close_all()
        return True

    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(tab, found))
    assert (sum(opened), Assignment.objects.count()) == (2, 2)


@pytest.mark.django_db
def test_what_was_handed_in_past_our_page_is_never_given_up() -> None:
    first, second = questionnaires(2)
    open_for(first, worker="AONE")
    long_ago = timezone.now() - timedelta(days=1)
    Assignment.objects.update(status="Submitted", loaded_at=long_ago, submitted_at=long_ago)
    assert turned_away(second, "AONE") == ("share", TURNED_AWAY)
