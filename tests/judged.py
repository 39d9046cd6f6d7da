"""Assignments judged by a batch's policy, and another policy applied to them."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotators.models import Assignment
from surveys.models import Batch, Decision, Questionnaire
from surveys.protocols.policy import rule_version
from surveys.review import decisions, policy_change
from tests.factories import make_published, open_for, submitted


def handed_in(questionnaire: Questionnaire, *, n_correct: int) -> Assignment:
    assignment = submitted(questionnaire, n_correct=n_correct)
    decisions.record_decision(assignment, batch=questionnaire.batch)
    return assignment


def verdicts() -> list[str]:
    return list(Decision.objects.order_by("assignment").values_list("verdict", flat=True))


def handed_in_unsaved(questionnaire: Questionnaire, *, worker: str = "") -> Assignment:
    """The marketplace has it; here it was opened, and nothing was saved."""
    opened = open_for(questionnaire, worker=worker)
    Assignment.objects.filter(pk=opened.pk).update(status="Submitted", submitted_at=timezone.now())
    opened.refresh_from_db()
    return opened


@pytest.fixture
def cautious() -> Questionnaire:
    """Rejections are only proposed."""
    return make_published(rejects_automatically=False)


def change(questionnaire: Questionnaire, policy: dict, person: User | None, **values: object) -> int:
    batch = Batch.objects.get(pk=questionnaire.batch_id)
    terms = {
        "rejects_automatically": False,
        "instead_of": rule_version(batch.review_policy),
        "reason": "Too hard on hard items.",
        **values,
    }
    policy_change.apply_policy(batch, policy=policy, by=person, **terms)
    return policy_change.judge_again(batch)
