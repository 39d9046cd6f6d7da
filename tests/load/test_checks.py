"""The checks of a load test find what they are there to find."""

from pathlib import Path

import pytest
from django.utils import timezone

from annotators.models import Assignment, Call
from surveys.models import Batch, Questionnaire, Rating, Response
from tests import factories
from tests.load.checks import bad_lines, problems, stored
from tests.load.records import Draft, Receipt, Records

pytestmark = pytest.mark.django_db


def complete(questionnaire: Questionnaire) -> Records:
    """One approved assignment by link where one is wanted, and the receipt its author has."""
    Questionnaire.objects.update(target_assignments=1)
    Batch.objects.update(status=Batch.Status.COMPLETE)
    assignment = factories.submitted(questionnaire, worker="AONE")
    Assignment.objects.filter(pk=assignment.pk).update(
        status="Approved", approved_at=timezone.now(), channel="link"
    )
    sheet = stored(list(assignment.responses.all()))
    return Records(receipts=[Receipt("AONE", questionnaire.batch_id, (sheet,))])


@pytest.fixture
def questionnaire() -> Questionnaire:
    found = factories.make_published()
    for item in found.batch.survey.items.all():
        item.payload = {"question": f"Question {item.position}?"}
        item.save()
    return found


@pytest.fixture
def records(questionnaire: Questionnaire) -> Records:
    return complete(questionnaire)


def found(records: Records) -> list[str]:
    """The problems' first words, the HITs aside: these were made without a marketplace."""
    every = problems(list(Batch.objects.all()), records)
    return [" ".join(problem.split()[:4]) for problem in every if not problem.startswith("Of HITs")]


def test_all_is_well(records: Records) -> None:
    assert found(records) == []


def test_a_changed_answer_is_found(records: Records) -> None:
    Response.objects.filter(position=3).update(answer="maybe")
    assert found(records) == ["AONE sent ({'Question 1?':"]


def test_a_lost_rating_is_found(records: Records) -> None:
    Rating.objects.filter(criterion="shortcomings.incorrect_description", value="selected").first().delete()
    assert found(records) == ["AONE sent ({'Question 1?':"]


def test_of_two_sent_at_once_one_must_be_stored_whole(records: Records) -> None:
    (receipt,) = records.receipts
    other = {question: {**fields, "answer": "no"} for question, fields in receipt.sheets[0].items()}
    records.receipts[0] = Receipt("AONE", receipt.batch, (other, receipt.sheets[0]))
    assert found(records) == []
    Response.objects.filter(position=1).update(answer="no")
    assert found(records) == ["AONE sent ({'Question 1?':"]


def test_a_receipt_without_answers_is_found(records: Records) -> None:
    records.receipts.append(Receipt("ATWO", records.receipts[0].batch, records.receipts[0].sheets))
    assert found(records) == ["2 receipts were given,", "ATWO's answers are in"]


def test_what_was_taken_again_after_a_return_counts_once(questionnaire: Questionnaire) -> None:
    returned = factories.open_for(questionnaire, worker="AONE")
    returned.responses.filter(position=1).update(draft={"answer": "yes"})
    (receipt,) = complete(questionnaire).receipts
    records = Records([receipt], [Draft("AONE", questionnaire.batch_id, {"Question 1?": {"answer": "yes"}})])
    assert found(records) == []


def test_a_second_assignment_in_one_place_is_found(questionnaire: Questionnaire, records: Records) -> None:
    factories.submitted(questionnaire, worker="ATWO")
    Assignment.objects.update(status="Approved", approved_at=timezone.now(), channel="link")
    assert [words.split()[0] for words in found(records)] == [str(questionnaire).split()[0], "1"]


def test_an_empty_place_is_found(questionnaire: Questionnaire, records: Records) -> None:
    Questionnaire.objects.update(target_assignments=2)
    assert [words.split()[0] for words in found(records)] == [str(questionnaire).split()[0]]


def test_a_lost_draft_is_found(questionnaire: Questionnaire, records: Records) -> None:
    opened = factories.open_for(questionnaire, worker="ATWO")
    opened.responses.filter(position=1).update(draft={"answer": "yes", "preference": "no_preference"})
    draft = Draft("ATWO", questionnaire.batch_id, {"Question 1?": {"answer": "yes"}})
    records.drafts.append(draft)
    assert found(records) == []
    opened.responses.update(draft={})
    assert found(records) == ["ATWO's draft {'answer': 'yes'}"]


def test_a_list_without_a_tick_is_in_no_draft(questionnaire: Questionnaire, records: Records) -> None:
    opened = factories.open_for(questionnaire, worker="ATWO")
    opened.responses.filter(position=1).update(draft={"answer": "yes"})
    sent = {"Question 1?": {"answer": "yes", "out-shortcomings": []}}
    records.drafts.append(Draft("ATWO", questionnaire.batch_id, sent))
    assert found(records) == []
    opened.responses.filter(position=1).update(draft={"answer": "yes", "out-shortcomings": ["confusing"]})
    assert found(records) == ["ATWO's draft {'answer': 'yes',"]


def test_a_rejection_without_a_replacement_is_found(questionnaire: Questionnaire, records: Records) -> None:
    factories.make_assignment(questionnaire.hit, status="Rejected", channel="link")
    assert found(records)[1:] == ["1 were rejected, but"]


def test_a_call_without_success_and_one_made_twice_are_found(records: Records) -> None:
    for token, state in (("approve:1", "unknown"), ("approve:2", "done")):
        finished = timezone.now() if state == "done" else None
        Call.objects.create(
            token=token,
            operation="ApproveAssignment",
            endpoint="embedded",
            state=state,
            finished_at=finished,
            assignment=Assignment.objects.get(),
        )
    assert found(records) == [
        "Calls without success: [('ApproveAssignment',",
        "Calls made twice: [{'assignment':",
    ]


def test_what_only_one_side_knows_is_found(questionnaire: Questionnaire, records: Records) -> None:
    hit = questionnaire.hit
    only_ours = f"Of HITs only we know [('{hit.hit_id}', 5)], only the marketplace knows []."
    assert problems(list(Batch.objects.all()), records) == [only_ours]


def test_errors_in_the_logs_are_found(tmp_path: Path) -> None:
    (tmp_path / "web.log").write_text(
        "2026 INFO fine\n2026 WARNING django.request Forbidden: /hits/1/\n"
        "2026 ERROR surveys.views broken\nsqlite3.OperationalError: database is locked\n"
    )
    (tmp_path / "worker.log").write_text("Traceback (most recent call last):\nterrors: 0\n")
    assert bad_lines(tmp_path) == [
        "web: 2026 ERROR surveys.views broken",
        "web: sqlite3.OperationalError: database is locked",
        "worker: Traceback (most recent call last):",
    ]
