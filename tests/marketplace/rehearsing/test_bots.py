"""Workers on a script: they meet the same rules as workers on the site."""

import pytest

from marketplace.models import Assignment


@pytest.fixture
def play(control, requester):
    """A function that plays steps for the requester and returns (status or refusal) of each."""

    def play(*steps):
        told = control("POST", "bots", {"requester": requester.name, "steps": list(steps)})
        return [row.get("refused") or row["status"] for row in told]

    return play


@pytest.fixture
def crew(control):
    pairs = control("POST", "workers", {"count": 3, "seed": 5})
    return [row["worker_id"] for row in pairs]


def test_a_script_is_played_and_read_by_boto3(play, crew, mturk, new_hit):
    hit_id = new_hit(MaxAssignments=3)
    first, second, third = crew
    assert play(
        {"worker": first, "hit": hit_id, "do": "submit", "answers": {"colour": "café"}},
        {"worker": second, "hit": hit_id, "do": "accept"},
        {"worker": second, "hit": hit_id, "do": "submit"},
        {"worker": third, "hit": hit_id, "do": "return"},
        {"worker": third, "hit": hit_id, "do": "abandon"},
    ) == ["Submitted", "Open", "Submitted", "Returned", "Abandoned"]
    listed = mturk.list_assignments_for_hit(HITId=hit_id)["Assignments"]
    assert [row["WorkerId"] for row in listed] == [first, second]
    assert (
        "<QuestionIdentifier>colour</QuestionIdentifier><FreeText>caf&#233;</FreeText>" in listed[0]["Answer"]
    )
    assert mturk.get_hit(HITId=hit_id)["HIT"]["NumberOfAssignmentsAvailable"] == 1


def test_the_outcome_names_what_was_done(control, crew, mturk, new_hit, requester):
    hit_id = new_hit()
    type_id = mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]
    step = {"worker": crew[0], "type": type_id, "do": "accept"}
    (row,) = control("POST", "bots", {"requester": requester.name, "steps": [step]})
    assert row == {
        "worker": crew[0],
        "hit": hit_id,
        "do": "accept",
        "assignment": Assignment.objects.get().assignment_id,
        "status": "Open",
    }


def test_workers_of_a_type_take_its_hits_in_turn(play, crew, mturk, new_hit):
    hits = [new_hit(MaxAssignments=1) for _ in range(2)]
    type_id = mturk.get_hit(HITId=hits[0])["HIT"]["HITTypeId"]
    told = play(*({"worker": name, "type": type_id, "do": "submit"} for name in crew))
    assert told == ["Submitted", "Submitted", "No more of this HIT is available."]
    assert list(Assignment.objects.order_by("pk").values_list("hit__hit_id", flat=True)) == hits


def test_what_a_worker_would_be_refused_is_told_and_the_script_goes_on(
    play, crew, mturk, demo, new_hit, values
):
    guard = [
        {
            "QualificationTypeId": "00000000000000000040",
            "Comparator": "GreaterThan",
            "IntegerValues": [50],
        }
    ]
    hit_id, guarded = new_hit(), new_hit(Title="Guarded", QualificationRequirements=guard)
    other = demo.create_hit(**values)["HIT"]["HITId"]
    mturk.create_worker_block(WorkerId=crew[1], Reason="r")
    assert play(
        {"worker": crew[0], "hit": hit_id, "do": "submit"},
        {"worker": crew[0], "hit": hit_id, "do": "submit"},
        {"worker": crew[0], "hit": guarded, "do": "accept"},
        {"worker": crew[1], "hit": hit_id, "do": "accept"},
        {"worker": crew[2], "hit": other, "do": "accept"},
        {"worker": "A1NOBODY", "hit": hit_id, "do": "accept"},
        {"worker": crew[2], "type": "3NOTYPE", "do": "accept"},
        {"worker": crew[2], "hit": hit_id, "do": "submit"},
    ) == [
        "Submitted",
        "You already have, or have done, this HIT.",
        "The worker does not meet the requirements of this HIT.",
        "The worker does not meet the requirements of this HIT.",
        f"Hit {other} does not exist.",
        "Worker A1NOBODY does not exist.",
        "HITType 3NOTYPE does not exist.",
        "Submitted",
    ]
