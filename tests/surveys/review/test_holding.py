"""Work that a person holds: nothing is told by it, and what comes of it later is what would have come without."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotators.crowds.mturk.gateway import Gateway
from annotators.models import Assignment, Call
from annotators.outbox import journal
from surveys.models import Decision, Inclusion
from surveys.review import decisions, delivery
from tests.factories import make_published, submitted

pytestmark = pytest.mark.django_db


@pytest.fixture
def person() -> User:
    return User.objects.create_user("carla")


def test_a_rejection_that_was_refused_is_not_told_again(person: User) -> None:
    assignment = submitted(make_published(), n_correct=2)
    decisions.reject(assignment, by=person, reason="Guessed.")
    refused = Call.objects.create(
        token="reject:x",
        operation=Call.Operation.REJECT,
        endpoint="embedded",
        assignment=assignment,
        hit=assignment.hit,
        state=Call.State.REFUSED,
        error="No.",
        finished_at=timezone.now(),
    )
    decisions.hold(assignment, by=person, reason="Wait.")
    refused.refresh_from_db()
    assert (refused.state, list(journal.unsettled())) == (Call.State.REFUSED, [])
    assert Decision.objects.get().verdict == "flag"


@pytest.mark.parametrize("is_held", [False, True])
def test_what_was_to_be_rejected_and_is_approved_meanwhile_is_left_out_and_replaced(
    person: User, is_held: bool
) -> None:
    questionnaire = make_published(rejects_automatically=False, replaces_auto_approved=True)
    assignment = submitted(questionnaire, n_correct=1)
    assert decisions.record_decision(assignment, batch=questionnaire.batch).verdict == "propose"
    if is_held:
        decisions.hold(assignment, by=person, reason="Look.")
    Assignment.objects.update(status="Approved", approved_at=timezone.now())
    assignment.refresh_from_db()
    delivery.carry_out(assignment, gateway=Gateway("embedded"))
    assert list(Inclusion.objects.values_list("is_included", "is_replaced")) == [(False, True)]
