"""MTurk's batch results file: its bytes, and decisions made by filling it in."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta

import pytest

from marketplace.accounts import keys
from marketplace.batches import decisions, results
from marketplace.batches.results import rates
from marketplace.batches.tables import BadTable
from marketplace.engine import assignments
from marketplace.models import Assignment
from marketplace.money import audit
from marketplace.questions import answer_documents
from tests.marketplace.batches.batches_made import hits, published, work

NOW = datetime(
    2022, 11, 6, 8, 45, 27, tzinfo=UTC
)  # an hour and a quarter before clocks go back in California


def file(batch, **options):
    return "".join(results.lines(batch, now=NOW + timedelta(days=3), **options))


@pytest.fixture
def batch(requester):
    return published(requester, now=NOW)


@pytest.fixture
def workers(db):
    return [keys.create_worker()[0] for _ in range(3)]


@pytest.fixture
def done(batch, workers):
    """Three assignments: approved and undecided work on the second row, rejected work on the first."""
    first, second = hits(batch)
    made = []
    for hit, worker, text in zip([second, first, second], workers, ["=1+1", 'say "no"\n', ""], strict=True):
        fields = (
            {"taskAnswers": json.dumps([{"answer": text}]), "remark": text} if text else {"b": "1", "a": "2"}
        )
        made.append(work(hit, worker=worker, answer=answer_documents.document(fields), now=NOW))
    assignments.approve(made[0], now=NOW + timedelta(hours=4))
    assignments.reject(made[1], now=NOW + timedelta(hours=2), feedback="You answered 2 of 5.")
    return made


def test_an_empty_batch_is_a_header(batch):
    header = file(batch).replace('"', "").split(",")
    assert header[:3] + header[25:] == [
        "HITId", "HITTypeId", "Title", "Last30DaysApprovalRate", "Last7DaysApprovalRate",
        "Input.picture", "Input.question", "Approve", "Reject",
    ]  # fmt: skip


def test_the_bytes_are_mturks(batch, done):
    text = file(batch)
    rows = list(csv.reader(io.StringIO(text, newline="")))
    again = io.StringIO(newline="")
    csv.writer(again, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerows(rows)
    assert text == again.getvalue().removesuffix("\r\n")
    assert [len(row) for row in rows] == [35, 33, 33, 33]


def test_a_row_says_everything_about_an_assignment(batch, done, workers):
    header, rejected, approved, undecided = csv.reader(io.StringIO(file(batch), newline=""))
    hit = hits(batch)[0]
    assert dict(zip(header, rejected, strict=False)) == {
        "HITId": hit.hit_id,
        "HITTypeId": batch.hit_type.type_id,
        "Title": "Look at pictures",
        "Description": "Short questions.",
        "Keywords": "image",
        "Reward": "$0.38",
        "CreationTime": "Sun Nov 06 01:45:27 PDT 2022",
        "MaxAssignments": "5",
        "RequesterAnnotation": f"BatchId:{batch.pk};OriginalHitTemplateId:{batch.pk};",
        "AssignmentDurationInSeconds": "3600",
        "AutoApprovalDelayInSeconds": "259200",
        "Expiration": "Mon Nov 07 00:45:27 PST 2022",
        "NumberOfSimilarHITs": "",
        "LifetimeInSeconds": "",
        "AssignmentId": done[1].assignment_id,
        "WorkerId": workers[1].worker_id,
        "AssignmentStatus": "Rejected",
        "AcceptTime": "Sun Nov 06 01:45:27 PDT 2022",
        "SubmitTime": "Sun Nov 06 01:45:27 PDT 2022",
        "AutoApprovalTime": "Wed Nov 09 00:45:27 PST 2022",
        "ApprovalTime": "",
        "RejectionTime": "Sun Nov 06 02:45:27 PST 2022",
        "RequesterFeedback": "You answered 2 of 5.",
        "WorkTimeInSeconds": "0",
        "LifetimeApprovalRate": "0% (0/1)",
        "Last30DaysApprovalRate": "0% (0/1)",
        "Last7DaysApprovalRate": "0% (0/1)",
        "Input.picture": "1.jpg",
        "Input.question": "Who, and where?",
        "Answer.a": "",
        "Answer.b": "",
        "Answer.remark": 'say "no"\n',
        "Answer.taskAnswers": json.dumps([{"answer": 'say "no"\n'}]),
    }
    assert [approved[16], approved[20][:19], approved[22], approved[24]] == [
        "Approved", "Sun Nov 06 04:45:27", "", "100% (1/1)",
    ]  # fmt: skip
    assert undecided[16:17] + undecided[20:23] + undecided[24:31] == [
        "Submitted", "", "", "", "0% (0/0)", "0% (0/0)", "0% (0/0)", "2.jpg", "<b>Why?</b>", "2", "1",
    ]  # fmt: skip


def test_formulas_are_disarmed_for_a_spreadsheet_only(batch, done):
    assert ',"=1+1",' in file(batch)
    assert '"\'=1+1"' in file(batch, for_spreadsheet=True)
    assert ',"=1+1",' not in file(batch, for_spreadsheet=True)


def test_rates_count_what_was_decided_lately(requester, batch, done, workers):
    later = NOW + timedelta(days=8)
    assert rates(requester, now=later)[workers[0].pk] == ("100% (1/1)", "100% (1/1)", "0% (0/0)")
    assert rates(requester, now=NOW + timedelta(days=40))[workers[1].pk] == (
        "0% (0/1)",
        "0% (0/0)",
        "0% (0/0)",
    )


def filled(batch, **marks):
    """Return the batch's file with Approve and Reject filled in: {AssignmentId: (approve, reject)}."""
    header, *rows = csv.reader(io.StringIO(file(batch), newline=""))
    at = header.index("AssignmentId")
    out = io.StringIO(newline="")
    csv.writer(out).writerows([header, *[row + list(marks.get(row[at], ("", ""))) for row in rows]])
    return out.getvalue().encode()


def statuses():
    return dict(Assignment.objects.values_list("assignment_id", "status"))


@pytest.fixture
def three(batch, workers):
    """Three undecided assignments of the first HIT."""
    document = answer_documents.document({"a": "1"})
    return [work(hits(batch)[0], worker=worker, answer=document, now=NOW).assignment_id for worker in workers]


def carry_out(batch, raw, *, now=NOW):
    return decisions.carry_out(batch, decisions=decisions.read(raw), now=now)


def test_a_filled_in_file_approves_and_rejects(batch, three):
    raw = filled(batch, **{three[0]: ("x", ""), three[1]: ("", "Wrong.")})
    assert carry_out(batch, raw) == decisions.Outcome(approved=1, rejected=1, unchanged=0)
    assert statuses() == {three[0]: "Approved", three[1]: "Rejected", three[2]: "Submitted"}
    assert Assignment.objects.get(assignment_id=three[1]).feedback == "Wrong."
    assert carry_out(batch, raw) == decisions.Outcome(approved=0, rejected=0, unchanged=2)
    assert audit.report()["is_sound"] is True


def test_a_rejection_is_reversed_within_thirty_days(batch, three):
    carry_out(batch, filled(batch, **{three[0]: ("", "No.")}))
    raw = filled(batch, **{three[0]: ("X", "")})
    with pytest.raises(BadTable) as refused:
        carry_out(batch, raw, now=NOW + timedelta(days=31))
    assert refused.value.problems == [
        "Row 1: the assignment changed meanwhile, or its rejection is older than 30 days."
    ]
    assert carry_out(batch, raw, now=NOW + timedelta(days=29)).approved == 1


def test_one_bad_row_keeps_all_from_being_decided(batch, three, requester):
    other = published(requester, now=NOW)
    raw = filled(batch, **{three[0]: ("x", ""), three[1]: ("x", "")})
    with pytest.raises(BadTable) as refused:
        carry_out(other, raw)
    assert refused.value.problems == [
        f"Row {number}: this batch has no assignment {three[number - 1]}." for number in (1, 2)
    ]
    carry_out(batch, filled(batch, **{three[0]: ("x", "")}))
    with pytest.raises(BadTable) as refused:
        carry_out(batch, filled(batch, **{three[0]: ("", "No."), three[1]: ("x", "")}))
    assert refused.value.problems == ["Row 1: the assignment was approved already and stays so."]
    assert statuses()[three[1]] == "Submitted"


BAD = {
    "AssignmentId,Approve\n3A,x\n": ["The file has no column “Reject”."],
    "AssignmentId,Approve,Reject\n3A,x,why\n": ["Row 1 approves and rejects the same assignment."],
    "AssignmentId,Approve,Reject\n,x\n": ["Row 1 names no AssignmentId."],
    "AssignmentId,Approve,Reject\n3A\n": ["No row has anything in “Approve” or “Reject”."],
    f"AssignmentId,Approve,Reject\n3A,,{'y' * 1025}\n": ["Row 1: the reason is longer than 1024 characters."],
    "AssignmentId,Approve,Reject\n3A,x\n3B\n3A,,no\n": ["Row 3 decides on the same assignment as row 1."],
    "": ["The file is empty."],
}


@pytest.mark.parametrize(("text", "problems"), BAD.items(), ids=range(len(BAD)))
def test_a_file_that_decides_nothing_clearly_is_refused(text, problems):
    with pytest.raises(BadTable) as refused:
        decisions.read(text.encode())
    assert refused.value.problems == problems
