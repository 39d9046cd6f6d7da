"""Whom to approve on a panel's own page goes by what became of all they handed in."""

import pytest
from pytest_django import DjangoAssertNumQueries

from annotators.crowds.links import work
from annotators.models import Assignment
from surveys.answering.admissions import admit_panel
from surveys.operations.erasing import erase
from surveys.review.panels import PanelLists, panel_lists
from tests.link_people import answered, from_prolific, invite_one, make_batch, make_panel, take

pytestmark = pytest.mark.django_db


def test_each_is_on_one_list_once_all_is_decided(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    batch = make_batch(n_items=2, copies=7)
    panel = make_panel(batch, assignments_per_worker=2)
    people = {
        name: admit_panel(panel.code, from_prolific(name)).worker for name in ("aa", "bb", "cc", "dd", "ee")
    }

    def done(name: str, *, approved: bool | None) -> Assignment:
        assignment = answered(take(batch, people[name], channel="panel"))
        if approved is False:
            work.reject(assignment, feedback="No.")
        elif approved:
            work.approve(assignment, feedback="")
        return assignment

    done("aa", approved=True)
    done("aa", approved=True)
    done("bb", approved=True)
    done("bb", approved=False)
    done("cc", approved=True)
    done("cc", approved=None)
    done("dd", approved=True)
    take(batch, people["dd"], channel="panel")
    answered(take(batch, invite_one(batch).invitation.worker))
    with django_assert_num_queries(2):
        assert panel_lists(panel) == PanelLists(approve=("aa",), send_back=("bb",), waiting=("cc", "dd"))


def test_who_was_purged_is_on_no_list() -> None:
    """Their panel knows nobody of the name they have since."""
    batch = make_batch(n_items=1, copies=2)
    panel = make_panel(batch)
    for name in ("aa", "bb"):
        worker = admit_panel(panel.code, from_prolific(name)).worker
        work.approve(answered(take(batch, worker, channel="panel")), feedback="")
    erase(worker, comments=False)
    assert panel_lists(panel) == PanelLists(approve=("aa",), send_back=(), waiting=())


def test_what_somebody_did_in_another_batch_is_no_matter_of_this_panel() -> None:
    batch = make_batch(n_items=1, copies=2)
    panel = make_panel(batch)
    worker = admit_panel(panel.code, from_prolific("aa")).worker
    other = make_batch(n_items=1)
    admit_panel(make_panel(other).code, from_prolific("aa"))
    work.approve(answered(take(batch, worker, channel="panel")), feedback="")
    answered(take(other, worker, channel="panel"))
    assert panel_lists(panel) == PanelLists(approve=("aa",), send_back=(), waiting=())
