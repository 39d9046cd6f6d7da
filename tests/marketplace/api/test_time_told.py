"""A success says in a header when it was carried out: what it decided, it decided then."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from marketplace.api.dispatch import TIME_HEADER

pytestmark = pytest.mark.django_db


def told(answer: dict[str, Any]) -> datetime:
    seconds = answer["ResponseMetadata"]["HTTPHeaders"][TIME_HEADER.lower()]
    return datetime.fromtimestamp(float(seconds), UTC)


@pytest.mark.parametrize(
    ("operation", "given", "time"),
    [
        ("approve_assignment", {}, "ApprovalTime"),
        ("reject_assignment", {"RequesterFeedback": "No."}, "RejectionTime"),
    ],
)
def test_a_decision_was_made_when_its_answer_says(
    mturk: Any,
    new_hit: Callable[..., str],
    new_worker: Callable[[], Any],
    later: Callable[..., datetime],
    operation: str,
    given: dict[str, str],
    time: str,
) -> None:
    """By the marketplace's clock, which may have been moved."""
    later(seconds=86_400)
    worker = new_worker()
    assignment_id = worker.accept(mturk.get_hit(HITId=new_hit())["HIT"]["HITTypeId"])
    worker.submit(assignment_id)
    answer = getattr(mturk, operation)(AssignmentId=assignment_id, **given)
    later(seconds=60)
    shown = mturk.get_assignment(AssignmentId=assignment_id)["Assignment"][time]
    assert told(answer) == shown
    assert shown - datetime.now(UTC) > timedelta(hours=23)


def test_a_refusal_was_not_carried_out(mturk: Any) -> None:
    with pytest.raises(ClientError) as refused:
        mturk.approve_assignment(AssignmentId="3NO")
    assert TIME_HEADER.lower() not in refused.value.response["ResponseMetadata"]["HTTPHeaders"]
