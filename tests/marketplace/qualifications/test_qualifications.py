"""A requester's own qualification types through boto3, and requirements on the worker site."""

import pytest

from marketplace.qualifications import requirements
from marketplace.qualifications.requirements import Record
from tests.marketplace.refusals import refusal

VALUES = {"Name": "Has seen set 7", "Description": "Set 7 was shown.", "QualificationTypeStatus": "Active"}
TEST = {"Test": "<QuestionForm/>", "TestDurationInSeconds": 600}


@pytest.fixture
def kind(mturk):
    return mturk.create_qualification_type(**VALUES, Keywords="set, seven")["QualificationType"]


def grant(mturk, kind, browser, **changes):
    call = {"QualificationTypeId": kind["QualificationTypeId"], "WorkerId": browser.worker.worker_id}
    mturk.associate_qualification_with_worker(**call, **changes)
    return call


def test_a_type_is_kept_as_it_was_made(mturk, kind):
    created = kind.pop("CreationTime")
    type_id = kind["QualificationTypeId"]
    assert kind == {
        **VALUES,
        "QualificationTypeId": type_id,
        "Keywords": "set, seven",
        "IsRequestable": True,
        "AutoGranted": False,
    }
    found = mturk.get_qualification_type(QualificationTypeId=type_id)["QualificationType"]
    assert found == kind | {"CreationTime": created}


def test_a_type_is_changed_member_by_member(mturk, kind):
    changed = mturk.update_qualification_type(
        QualificationTypeId=kind["QualificationTypeId"], AutoGranted=True, AutoGrantedValue=7
    )["QualificationType"]
    assert changed == kind | {"AutoGranted": True, "AutoGrantedValue": 7}


def test_a_name_is_free_again_after_deletion(mturk, kind):
    said = refusal(mturk.create_qualification_type, **VALUES)
    assert said[2] == "QualificationTypeAlreadyExists"
    assert said[3].startswith("You have already created a QualificationType with this name. (")
    mturk.delete_qualification_type(QualificationTypeId=kind["QualificationTypeId"])
    unknown = refusal(mturk.get_qualification_type, QualificationTypeId=kind["QualificationTypeId"])
    assert unknown[2] == "QualificationTypeDoesNotExist"
    mturk.create_qualification_type(**VALUES)


MISFITS = [
    ({"Test": "<QuestionForm/>"}, "TestDurationInSeconds"),
    ({"AnswerKey": "<AnswerKey/>"}, "AnswerKey"),
    ({**TEST, "AutoGranted": True}, "AutoGranted"),
    ({"RetryDelayInSeconds": -1}, "RetryDelayInSeconds"),
    ({"AutoGrantedValue": 2**31}, "AutoGrantedValue"),
    ({"Name": "n" * 201}, "Name"),
]


@pytest.mark.parametrize(("changes", "parameter"), MISFITS, ids=[row[1] for row in MISFITS])
def test_members_that_do_not_go_together(mturk, changes, parameter):
    said = refusal(mturk.create_qualification_type, **VALUES | changes)
    assert said[1] == "ParameterValidationError"
    assert f"is not valid for the parameter {parameter}." in said[3]


def test_types_are_found_by_words_owner_and_status(mturk, kind, demo):
    mturk.create_qualification_type(**VALUES | {"Name": "Shut", "QualificationTypeStatus": "Inactive"})
    demo.create_qualification_type(**VALUES | {"Name": "Another lab"})

    def names(client=mturk, **call):
        found = client.list_qualification_types(**{"MustBeRequestable": False, **call})
        return [row["Name"] for row in found["QualificationTypes"]]

    assert names() == ["Has seen set 7", "Shut", "Another lab"]
    assert names(demo) == ["Has seen set 7", "Another lab"]
    assert names(MustBeOwnedByCaller=True) == ["Has seen set 7", "Shut"]
    assert names(MustBeRequestable=True, MustBeOwnedByCaller=True) == ["Has seen set 7"]
    assert names(Query="SEVEN seen") == ["Has seen set 7"]
    assert names(Query="eight") == []


def test_a_value_is_given_changed_read_and_revoked(mturk, kind, new_worker):
    browser = new_worker()
    call = grant(mturk, kind, browser)
    grant(mturk, kind, browser, IntegerValue=80)
    score = mturk.get_qualification_score(**call)["Qualification"]
    assert score.pop("GrantTime").tzinfo is not None
    assert score == {**call, "IntegerValue": 80, "Status": "Granted"}
    listed = {"QualificationTypeId": kind["QualificationTypeId"]}
    assert mturk.list_workers_with_qualification_type(**listed)["NumResults"] == 1
    mturk.disassociate_qualification_from_worker(**call, Reason="A mistake of ours.")
    assert mturk.list_workers_with_qualification_type(**listed)["NumResults"] == 0
    assert mturk.list_workers_with_qualification_type(**listed, Status="Revoked")["NumResults"] == 1
    for operation in (mturk.get_qualification_score, mturk.disassociate_qualification_from_worker):
        said = refusal(operation, **call)
        assert said[2] == "InvalidQualificationState"
        assert said[3].startswith("This operation can be called with a status of: Granted (")


def test_what_does_not_exist(mturk, kind, new_worker, demo):
    type_id, worker_id = kind["QualificationTypeId"], new_worker().worker.worker_id
    call = {"QualificationTypeId": type_id, "WorkerId": worker_id}
    assert refusal(mturk.get_qualification_score, **call)[2] == "QualificationDoesNotExist"
    assert refusal(demo.get_qualification_score, **call)[2] == "QualificationTypeDoesNotExist"
    nobody = call | {"WorkerId": "A1NOBODY"}
    assert refusal(mturk.associate_qualification_with_worker, **nobody)[2] == "WorkerDoesNotExist"
    assert refusal(demo.delete_qualification_type, QualificationTypeId=type_id)[2] == (
        "QualificationTypeDoesNotExist"
    )


def test_the_worker_hears_of_a_value_unless_the_requester_prefers_silence(mturk, kind, new_worker):
    told, untold = new_worker(), new_worker()
    grant(mturk, kind, told, IntegerValue=42)
    grant(mturk, kind, untold, SendNotification=False)
    pages = [browser.client.get("/work").content.decode() for browser in (told, untold)]
    assert ["You now have the qualification “Has seen set 7”" in page for page in pages] == [True, False]
    assert ['<span class="money">42</span>' in page for page in pages] == [True, False]


def requirement(kind, comparator, *integers, guard="Accept"):
    asked = {"QualificationTypeId": kind["QualificationTypeId"], "Comparator": comparator}
    return asked | {"ActionsGuarded": guard} | ({"IntegerValues": list(integers)} if integers else {})


def test_an_exclusion_list_keeps_workers_out(mturk, kind, new_hit, new_worker):
    hit_id = new_hit(QualificationRequirements=[requirement(kind, "DoesNotExist")])
    type_id = mturk.get_hit(HITId=hit_id)["HIT"]["HITTypeId"]
    seen, new = new_worker(), new_worker()
    call = grant(mturk, kind, seen)
    assert seen.accept(type_id) is None
    assert new.accept(type_id) is not None
    mturk.disassociate_qualification_from_worker(**call)
    assert seen.accept(type_id) is not None


def test_an_inclusion_list_hides_hits_from_everybody_else(mturk, kind, new_hit, new_worker):
    guard = "DiscoverPreviewAndAccept"
    new_hit(
        Title="By invitation", QualificationRequirements=[requirement(kind, "GreaterThan", 5, guard=guard)]
    )
    invited, nearly, other = new_worker(), new_worker(), new_worker()
    grant(mturk, kind, invited, IntegerValue=6)
    grant(mturk, kind, nearly, IntegerValue=5)
    pages = [browser.client.get("/").content.decode() for browser in (invited, nearly, other)]
    assert ["By invitation" in page for page in pages] == [True, False, False]


def test_the_preview_says_what_is_required(mturk, kind, new_hit, new_worker):
    type_id = mturk.get_hit(HITId=new_hit(QualificationRequirements=[requirement(kind, "In", 1, 3)]))["HIT"][
        "HITTypeId"
    ]
    page = new_worker().client.get(f"/projects/{type_id}/tasks").content.decode()
    assert '<li class="unmet">Has seen set 7: one of 1, 3 <span' in page
    mine = {"QualificationTypeId": kind["QualificationTypeId"]}
    assert f'href="/qualifications/{kind["QualificationTypeId"]}"' in page
    mturk.delete_qualification_type(**mine)
    page = new_worker().client.get(f"/projects/{type_id}/tasks").content.decode()
    assert ("Has seen set 7: one of 1, 3" in page, "/qualifications/" in page) == (True, False)


def test_hits_of_a_qualification_type_are_listed(mturk, kind, new_hit):
    hit_id = new_hit(QualificationRequirements=[requirement(kind, "Exists")])
    new_hit()
    found = mturk.list_hits_for_qualification_type(QualificationTypeId=kind["QualificationTypeId"])
    assert [row["HITId"] for row in found["HITs"]] == [hit_id]


def test_deleted_and_inactive_types_take_no_new_hits(mturk, kind, new_hit, values, new_worker):
    asked = {"QualificationRequirements": [requirement(kind, "Exists")]}
    type_id = mturk.get_hit(HITId=new_hit(**asked))["HIT"]["HITTypeId"]
    mine = {"QualificationTypeId": kind["QualificationTypeId"]}
    another = {"HITTypeId": type_id, "LifetimeInSeconds": 60, "Question": values["Question"]}
    mturk.update_qualification_type(**mine, QualificationTypeStatus="Inactive")
    assert refusal(mturk.create_hit, **values | asked)[2] == "InvalidQualificationTypeState"
    mturk.delete_qualification_type(**mine)
    assert refusal(mturk.create_hit_with_hit_type, **another)[2] == "QualificationTypeDoesNotExist"
    assert new_worker().accept(type_id) is None
    assert mturk.list_hits()["NumResults"] == 1


COMPARED = [
    ("LessThan", [5], {4}),
    ("LessThanOrEqualTo", [5], {4, 5}),
    ("GreaterThan", [5], {6}),
    ("GreaterThanOrEqualTo", [5], {5, 6}),
    ("EqualTo", [5], {5}),
    ("NotEqualTo", [5], {4, 6, None}),
    ("In", [4, 6], {4, 6}),
    ("NotIn", [4, 6], {5, None}),
    ("Exists", [], {4, 5, 6}),
    ("DoesNotExist", [], {None}),
]


@pytest.mark.parametrize(("comparator", "integers", "met"), COMPARED, ids=[row[0] for row in COMPARED])
def test_comparators(comparator, integers, met):
    asked = {"QualificationTypeId": "3X", "Comparator": comparator, "IntegerValues": integers}
    records = {value: Record(granted={} if value is None else {"3X": value}) for value in (None, 4, 5, 6)}
    assert {value for value, record in records.items() if requirements.is_met(asked, record=record)} == met


PLACES = {"": Record(), "US": Record(country="US"), "CA": Record(country="US", subdivision="CA")}
PLACES["GB"] = Record(country="GB")
LOCATED = [
    ("EqualTo", [{"Country": "US"}], {"US", "CA"}),
    ("EqualTo", [{"Country": "US", "Subdivision": "CA"}], {"CA"}),
    ("NotEqualTo", [{"Country": "US"}], {"", "GB"}),
    ("In", [{"Country": "GB"}, {"Country": "US", "Subdivision": "CA"}], {"GB", "CA"}),
    ("NotIn", [{"Country": "GB"}, {"Country": "US", "Subdivision": "CA"}], {"", "US"}),
    ("Exists", [], {"US", "CA", "GB"}),
    ("DoesNotExist", [], {""}),
]


@pytest.mark.parametrize(("comparator", "places", "met"), LOCATED)
def test_locales(comparator, places, met):
    asked = {"QualificationTypeId": requirements.LOCALE, "Comparator": comparator, "LocaleValues": places}
    assert {name for name, row in PLACES.items() if requirements.is_met(asked, record=row)} == met


@pytest.mark.parametrize(
    "changes",
    [{"IntegerValues": [1]}, {"Comparator": "GreaterThan", "LocaleValues": [{"Country": "US"}]}],
    ids=str,
)
def test_a_place_is_compared_with_places(mturk, values, changes):
    asked = {"QualificationTypeId": requirements.LOCALE, "Comparator": "EqualTo", **changes}
    said = refusal(mturk.create_hit, **values, QualificationRequirements=[asked])
    assert said[2] == "InvalidQualificationRequirement"


def test_the_systems_own_types_can_be_read(mturk):
    found = mturk.get_qualification_type(QualificationTypeId=requirements.LOCALE)["QualificationType"]
    assert (found["Name"], found["IsRequestable"]) == ("Location", False)
