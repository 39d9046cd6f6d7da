"""MTurk's refusals as requesters' programs know them, one row each: code, TurkErrorCode, beginning of the message.

The rows are the reports of boto3's users (psiTurk, Mephisto, Dallinger, ParlAI, oTree, MTurkR and others). One is
missing, for nothing here leads to it: an AWS account that was never linked (AWS.AccountNotLinked).
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from marketplace.accounts import keys
from marketplace.models import HIT
from tests.marketplace.api.bodies import QUALIFICATION
from tests.marketplace.question_documents import external_question

STATUSES = "This operation can be called with a status of: "
OLD = datetime(2015, 7, 21, tzinfo=UTC)


@dataclass
class Scene:
    """A requester's client that checks nothing itself, a HIT, and work of one worker in a state."""

    client: Any
    values: dict[str, Any]
    hit_id: str = ""
    assignment_id: str = ""
    worker_id: str = ""
    control: Any = None

    @property
    def work(self):
        return {"AssignmentId": self.assignment_id}

    @property
    def bonus(self):
        return self.work | {"WorkerId": self.worker_id, "BonusAmount": "1.00", "Reason": "r"}

    def extend(self, **more):
        call = {"HITId": self.hit_id, "NumberOfAdditionalAssignments": 1} | more
        self.client.create_additional_assignments_for_hit(**call)

    def grown(self, number):
        self.extend(NumberOfAdditionalAssignments=number)
        return self

    def create(self, **changes):
        return self.client.create_hit(**{**self.values, **changes})

    def scale(self):
        made = self.client.create_qualification_type(**QUALIFICATION)["QualificationType"]
        given = {"QualificationTypeId": made["QualificationTypeId"], "WorkerId": self.worker_id}
        self.client.associate_qualification_with_worker(**given)
        return given


def twice(call, **values):
    call(**values)
    call(**values)


def decided(scene):
    scene.client.approve_assignment(**scene.work)
    scene.client.reject_assignment(**scene.work, RequesterFeedback="")


def expiry(scene):
    twice(scene.client.update_expiration_for_hit, HITId=scene.hit_id, ExpireAt=0)


def aged(scene):
    HIT.objects.filter(hit_id=scene.hit_id).update(created_at=OLD)
    scene.extend()


def revoked(scene):
    given = scene.scale()
    scene.client.disassociate_qualification_from_worker(**given)
    scene.client.get_qualification_score(**given)


def never_given(scene):
    given = scene.scale() | {"WorkerId": "A1NOBODY"}
    scene.client.get_qualification_score(**given)


def faulty(scene, kind):
    scene.control("POST", "faults", {"kind": kind, "operation": "ListHITs"})
    scene.client.list_hits()


HTTP = external_question("http://lab.example/7")
# Situation: state of the work, call, code, TurkErrorCode, message.
TABLE = {
    "decided already": ("submitted", decided, "InvalidAssignmentState", f"{STATUSES}Submitted"),
    "approve work in progress": (
        "open",
        lambda s: s.client.approve_assignment(**s.work),
        "InvalidAssignmentState",
        f"{STATUSES}null",
    ),
    "reject work in progress": (
        "open",
        lambda s: s.client.reject_assignment(**s.work, RequesterFeedback=""),
        "InvalidAssignmentState",
        f"{STATUSES}null",
    ),
    "read work in progress": (
        "open",
        lambda s: s.client.get_assignment(**s.work),
        "InvalidAssignmentState",
        f"{STATUSES}Reviewable,Approved,Rejected",
    ),
    "unknown assignment": (
        "none",
        lambda s: s.client.approve_assignment(AssignmentId="3NO"),
        "AssignmentDoesNotExist",
        "Assignment 3NO does not exist.",
    ),
    "bonus before submission": (
        "open",
        lambda s: s.client.send_bonus(**s.bonus),
        "AssignmentDoesNotExist",
        "Assignment {assignment_id} does not exist.",
    ),
    "unknown HIT": (
        "none",
        lambda s: s.client.get_hit(HITId="3NO"),
        "HITDoesNotExist",
        "Hit 3NO does not exist.",
    ),
    "token of a HIT again": (
        "none",
        lambda s: twice(s.create, UniqueRequestToken="t"),
        "HitAlreadyExists",
        'The HIT with ID "3',
    ),
    "token of a bonus again": (
        "submitted",
        lambda s: twice(s.client.send_bonus, **s.bonus, UniqueRequestToken="t"),
        "RequestAlreadyProcessed",
        'The idempotency token "t" has already been processed.',
    ),
    "token of an extension again": (
        "none",
        lambda s: twice(s.extend, UniqueRequestToken="t"),
        "RequestAlreadyProcessed",
        'The idempotency token "t" has already been processed.',
    ),
    "the same expiry again": (
        "none",
        expiry,
        "RequestAlreadyProcessed",
        'The idempotency token "{hit_id}',
    ),
    "from nine to ten": ("none", lambda s: s.grown(4).extend(), "InvalidMaximumAssignmentsIncrease", ""),
    "a HIT of before 22 July 2015": ("none", aged, "HITTooOldForExtension", ""),
    "delete a HIT on offer": (
        "none",
        lambda s: s.client.delete_hit(HITId=s.hit_id),
        "InvalidHITState",
        f"The HIT {{hit_id}} is currently in the state 'Assignable'. {STATUSES}Reviewing,Reviewable",
    ),
    "bad value": (
        "none",
        lambda s: s.create(Reward="0.385"),
        "ParameterValidationError",
        'The value "0.385" is not valid for the parameter Reward.',
    ),
    "address without TLS": (
        "none",
        lambda s: s.create(Question=HTTP),
        "ParameterValidationError",
        'The value "http://lab.example/7" is not valid for the parameter ExternalURL. '
        "This URL must use the HTTPS protocol..",
    ),
    "required value missing": (
        "none",
        lambda s: s.client.reject_assignment(AssignmentId="3NO"),
        "ValidationException",
        "1 validation error detected: Value null at 'requesterFeedback' failed to satisfy constraint: "
        "Member must not be null",
    ),
    "malformed XML": ("none", lambda s: s.create(Question="<ExternalQuestion>"), "XMLParseError", ""),
    "no money": ("none", lambda s: s.create(MaxAssignments=900_000), "InsufficientFunds", ""),
    "name of a qualification again": (
        "none",
        lambda s: twice(s.client.create_qualification_type, **QUALIFICATION),
        "QualificationTypeAlreadyExists",
        "You have already created a QualificationType with this name.",
    ),
    "score that was taken back": ("open", revoked, "InvalidQualificationState", f"{STATUSES}Granted"),
    "score that was never given": ("open", never_given, "QualificationDoesNotExist", "Qualification "),
    "too many calls": ("none", lambda s: faulty(s, "throttle"), "ThrottlingException", "Rate exceeded"),
    "fault of the server": ("none", lambda s: faulty(s, "service-fault"), "ServiceFault", ""),
}
UNMODELLED = {"ParameterValidationError", "ValidationException", "ThrottlingException"}


@pytest.fixture
def stage(connect, requester, values, new_worker, control):
    """A function that sets the scene with work in a state: none, open or submitted."""

    def stage(work):
        key, secret = keys.create_key(requester)
        scene = Scene(connect(key.key_id, secret, parameter_validation=False), values, control=control)
        hit = scene.create()["HIT"]
        scene.hit_id = hit["HITId"]
        if work != "none":
            worker = new_worker()
            scene.worker_id = worker.worker.worker_id
            scene.assignment_id = worker.accept(hit["HITTypeId"])
            if work == "submitted":
                worker.submit(scene.assignment_id)
        return scene

    return stage


@pytest.mark.parametrize("situation", TABLE)
def test_refusals_are_mturks(stage, situation):
    work, act, name, message = TABLE[situation]
    scene = stage(work)
    with pytest.raises(ClientError) as caught:
        act(scene)
    answer = caught.value.response
    code = name if name in UNMODELLED or name == "ServiceFault" else "RequestError"
    assert answer["Error"]["Code"] == code
    assert answer["ResponseMetadata"]["HTTPStatusCode"] == (500 if name == "ServiceFault" else 400)
    assert answer.get("TurkErrorCode") == (None if name in UNMODELLED else f"AWS.MechanicalTurk.{name}")
    assert answer["Error"]["Message"].startswith(message.format(**vars(scene)))
    assert answer["Error"]["Message"] != ""
