"""The log of calls: what was asked and answered, without what must not be kept, and not for ever."""

import pytest
from botocore.exceptions import ClientError

from marketplace.api import call_log
from marketplace.models import LoggedCall


@pytest.fixture
def opened(control):
    """The control API, open before any call is made."""
    return control


def shown(rows):
    return [(row["operation"], row["status"], row["code"]) for row in rows]


def test_calls_are_logged_with_their_outcome(opened, mturk, requester, new_hit):
    hit_id = new_hit()
    with pytest.raises(ClientError):
        mturk.get_hit(HITId="3NOSUCHHIT")
    with pytest.raises(ClientError):
        mturk.get_hit(HITId="not an id")
    rows = opened("GET", "calls")
    assert shown(rows) == [
        ("CreateHIT", 200, ""),
        ("GetHIT", 400, "AWS.MechanicalTurk.HITDoesNotExist"),
        ("GetHIT", 400, "ParameterValidationError"),
    ]
    assert {row["requester"] for row in rows} == {requester.name}
    assert (rows[0]["request"]["Reward"], rows[1]["request"]) == ("0.38", {"HITId": "3NOSUCHHIT"})
    assert len(rows[0]["request"]["Question"]) == 203
    assert mturk.get_hit(HITId=hit_id)["HIT"]["HITId"] == hit_id


def test_the_log_is_read_on_from_a_number_and_by_operation(opened, mturk, new_hit):
    for _ in range(3):
        new_hit()
    mturk.list_hits()
    first, second, *_ = opened("GET", "calls")
    after, *_ = opened("GET", f"calls?after={first['number']}")
    assert after == second
    assert shown(opened("GET", "calls?operation=ListHITs")) == [("ListHITs", 200, "")]
    assert len(opened("GET", "calls?requester=Vision%20Lab&operation=CreateHIT")) == 3


def test_secrets_are_not_kept(opened, mturk):
    mturk.create_qualification_type(
        Name="Test", Description="d", QualificationTypeStatus="Active", Keywords="k" * 300
    )
    (row,) = opened("GET", "calls")
    assert "authorization" not in str(row).lower()
    assert call_log._shown("AnswerKey", "<AnswerKey>b</AnswerKey>") == "(not kept)"
    assert row["request"]["Keywords"].endswith("kkk...")


def test_a_call_that_was_cut_has_no_status(opened, mturk):
    opened("POST", "faults", {"kind": "timeout"})
    with pytest.raises(ClientError):
        mturk.list_hits()
    assert shown(opened("GET", "calls")) == [("ListHITs", 0, "")]


def test_unsigned_calls_are_logged_without_a_name(opened, connect, requester):
    with pytest.raises(ClientError):
        connect("AKIDNOBODY", "x").list_hits()
    (row,) = opened("GET", "calls")
    assert (row["requester"], row["operation"], row["code"]) == (None, "", "UnrecognizedClientException")


def test_only_the_latest_are_kept(opened, mturk, monkeypatch):
    monkeypatch.setattr(call_log, "MOST_KEPT", 3)
    monkeypatch.setattr(call_log, "LOOK_EVERY", 1)
    for _ in range(6):
        mturk.list_hits()
    assert len(opened("GET", "calls")) == 3


def test_nothing_is_logged_while_the_control_api_is_closed(mturk, settings):
    settings.MARKETPLACE_CONTROL_TOKEN = ""
    mturk.list_hits()
    assert LoggedCall.objects.count() == 0


@pytest.mark.parametrize("after", ["-1", "x", "", "1" * 30])
def test_a_number_is_a_number(opened, client, after):
    response = client.get(
        f"/control/calls?after={after}", headers={"host": "localhost", "authorization": "Bearer let-me"}
    )
    assert response.status_code == 400
