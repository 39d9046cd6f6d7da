"""The only boto3 in the project: one marketplace endpoint, its records, its errors translated once.

Operations and fields: MTurk API reference 2017-01-17. Messages are matched by prefix because MTurk appends a
time stamp to them.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
)
from django.conf import settings

if TYPE_CHECKING:
    from mypy_boto3_mturk import MTurkClient


@dataclass(frozen=True, slots=True)
class HITRecord:
    """A HIT as the marketplace describes it. Times are aware datetimes.

    Its assignments: `n_available` to be accepted, `n_pending` accepted and not submitted, `n_completed` approved or
    rejected.
    """

    hit_id: str
    status: str
    max_assignments: int
    created_at: datetime
    expires_at: datetime
    requester_annotation: str
    n_available: int = 0
    n_pending: int = 0
    n_completed: int = 0

    @property
    def most_handed_in(self) -> int:
        """How many assignments were submitted; of an expired HIT at most, as what nobody took is not available."""
        return self.max_assignments - self.n_available - self.n_pending


@dataclass(frozen=True, slots=True)
class AssignmentRecord:
    """A submitted assignment as the marketplace describes it. Times are aware datetimes, None where not reached."""

    assignment_id: str
    worker_id: str
    hit_id: str
    status: str
    accepted_at: datetime
    submitted_at: datetime
    auto_approval_at: datetime | None
    approved_at: datetime | None
    rejected_at: datetime | None
    feedback: str
    answer_xml: str


@dataclass(frozen=True, slots=True)
class BonusRecord:
    """A bonus the marketplace has paid: dollars, and the reason the worker read."""

    amount: Decimal
    reason: str


def hit_record(hit: Any) -> HITRecord:
    """Read a HIT of an answer. KeyError where a field is missing that MTurk always gives."""
    return HITRecord(
        hit_id=hit["HITId"],
        status=hit["HITStatus"],
        max_assignments=hit["MaxAssignments"],
        created_at=hit["CreationTime"],
        expires_at=hit["Expiration"],
        requester_annotation=hit.get("RequesterAnnotation", ""),
        n_available=hit.get("NumberOfAssignmentsAvailable", 0),
        n_pending=hit.get("NumberOfAssignmentsPending", 0),
        n_completed=hit.get("NumberOfAssignmentsCompleted", 0),
    )


def assignment_record(assignment: Any) -> AssignmentRecord:
    """Read an Assignment of an answer. KeyError where a field is missing that MTurk always gives."""
    return AssignmentRecord(
        assignment_id=assignment["AssignmentId"],
        worker_id=assignment["WorkerId"],
        hit_id=assignment["HITId"],
        status=assignment["AssignmentStatus"],
        accepted_at=assignment["AcceptTime"],
        submitted_at=assignment["SubmitTime"],
        auto_approval_at=assignment.get("AutoApprovalTime"),
        approved_at=assignment.get("ApprovalTime"),
        rejected_at=assignment.get("RejectionTime"),
        feedback=assignment.get("RequesterFeedback", ""),
        answer_xml=assignment.get("Answer", ""),
    )


def bonus_record(payment: Any) -> BonusRecord:
    """Read a BonusPayment of an answer."""
    return BonusRecord(Decimal(payment["BonusAmount"]), payment.get("Reason", ""))


def done_at(answer: Any) -> datetime | None:
    """Return when the marketplace did what was asked, to the millisecond; None where its answer does not say."""
    try:
        return datetime.fromtimestamp(float(answer["ResponseMetadata"]["HTTPHeaders"][TIME_HEADER]), UTC)
    except (KeyError, ValueError, OverflowError, OSError):
        return None


@dataclass(frozen=True, slots=True)
class ErasedRecord:
    """How many accounts our own marketplace erased, or would, and why it kept others."""

    n_erased: int
    kept: list[str]


def is_whole(answer: Any, *, model: Any) -> bool:
    """Tell whether an HTTP answer (botocore's AWSResponse) to an operation (its OperationModel) is all there."""
    length = answer.headers.get("Content-Length")
    if length is not None and length != str(len(answer.content)):
        return False
    ends_by_itself = length is not None or "chunked" in answer.headers.get("Transfer-Encoding", "")
    if not ends_by_itself and _members(answer.content) is None:
        return False
    return answer.status_code != 200 or _has_its_members(answer.content, model)


def _has_its_members(body: bytes, model: Any) -> bool:
    """Tell whether a success says what it should. Operations that return nothing may send an empty body."""
    members = _members(body or b"{}")
    return members is not None and (bool(members) or not model.output_shape.members)


def _members(body: bytes) -> dict[str, Any] | None:
    """Return what a body says, None if it is no JSON object."""
    try:
        members = json.loads(body)
    except ValueError:
        return None
    return members if isinstance(members, dict) else None


OWN_PREFIX = "AssentMarketplaceV20261123."
TIME_HEADER = "x-assent-time"  # our own marketplace's: seconds since 1970, when it did what was asked
SERVICE = "mturk-requester"  # what requests are signed for
THROTTLED = "ThrottlingException"
WAITS = (1, 2, 4)  # seconds before a throttled call of our own is repeated
REGION = "us-east-1"  # the only region MTurk ever had
PAGE = 100


class MarketError(Exception):
    """The marketplace did not do what was asked.

    `may_have_happened`: botocore repeated the request, and an earlier try of it may have been carried out unanswered.
    """

    may_have_happened = False


class AlreadyProcessed(MarketError):
    """This idempotency token has been used: the call was carried out before. `hit_id` where MTurk names it."""

    def __init__(self, message: str, *, hit_id: str = "") -> None:
        super().__init__(message)
        self.hit_id = hit_id


class NotReady(MarketError):
    """Nothing happened and trying again later can work: throttled, no connection, no credentials, or MTurk has not
    seen the submission yet."""


class WrongState(MarketError):
    """The assignment or HIT is in a state that rules the call out, for example decided already."""


class Refused(MarketError):
    """The marketplace refuses this call for good; the message is its own."""


class HITGone(Refused):
    """The marketplace knows no such HIT: it forgets one 120 days after the last thing that happened to it."""


class Unreachable(MarketError):
    """No answer came, so whether the call was carried out is unknown."""


class Gateway:
    """One endpoint's requester API. Every method raises MarketError or one of its kinds.

    `before_call` is called before each request; a MarketError of its own keeps that request from being made.
    """

    def __init__(self, endpoint: str, *, before_call: Callable[[], None] = lambda: None) -> None:
        self.endpoint = endpoint
        self._before_call = before_call
        self._connected = _client(endpoint, **_endpoint_arguments(endpoint))

    @property
    def _client(self) -> "MTurkClient":
        self._before_call()
        return self._connected

    def create_hit_type(
        self,
        *,
        title: str,
        description: str,
        keywords: str,
        reward: Decimal,
        assignment_duration: timedelta,
        auto_approval_delay: timedelta,
    ) -> str:
        """Return the HITTypeId for these values; equal values always give the same one."""
        answer = _call(
            self._client.create_hit_type,
            Title=title,
            Description=description,
            Keywords=keywords,
            Reward=f"{reward:.2f}",
            AssignmentDurationInSeconds=int(assignment_duration.total_seconds()),
            AutoApprovalDelayInSeconds=int(auto_approval_delay.total_seconds()),
        )
        return str(answer["HITTypeId"])

    def create_hit(
        self,
        *,
        hit_type_id: str,
        question: str,
        lifetime: timedelta,
        max_assignments: int,
        annotation: str,
        token: str,
    ) -> HITRecord:
        """Create a HIT once per token (MTurk remembers tokens for 24 hours); AlreadyProcessed names the HIT."""
        answer = _call(
            self._client.create_hit_with_hit_type,
            HITTypeId=hit_type_id,
            Question=question,
            LifetimeInSeconds=int(lifetime.total_seconds()),
            MaxAssignments=max_assignments,
            RequesterAnnotation=annotation,
            UniqueRequestToken=token,
        )
        return hit_record(answer["HIT"])

    def balance(self) -> Decimal:
        """Return the dollars that are free to spend: what is on hold for open HITs is not among them."""
        return Decimal(_call(self._client.get_account_balance)["AvailableBalance"])

    def get_hit(self, hit_id: str) -> HITRecord:
        return hit_record(_call(self._client.get_hit, HITId=hit_id)["HIT"])

    def find_hit(self, *, annotation: str) -> HITRecord | None:
        """Return the HIT with this RequesterAnnotation by going through all HITs of the account."""
        for hit in self._pages("list_hits", "HITs"):
            if hit.get("RequesterAnnotation") == annotation:
                return hit_record(hit)
        return None

    def list_hits(self) -> list[HITRecord]:
        """Return every HIT of the account that is not disposed of, through all pages."""
        return [hit_record(hit) for hit in self._pages("list_hits", "HITs")]

    def listed_hits(self) -> Iterator[list[HITRecord]]:
        """Yield the same page by page, at most PAGE to each."""
        for page in self._whole_pages("list_hits"):
            yield [hit_record(hit) for hit in page["HITs"]]

    def list_assignments(self, hit_id: str, *, most: float = inf) -> list[AssignmentRecord]:
        """Return every submitted, approved or rejected assignment of a HIT, through all pages.

        MTurk names a next page after one that is not full, too: where `most` are known to have been handed in, no page
        is asked for beyond these.
        """
        records: list[AssignmentRecord] = []
        for page in self._whole_pages("list_assignments_for_hit", HITId=hit_id):
            records += [assignment_record(a) for a in page["Assignments"]]
            if len(records) >= most:
                break
        return records

    def get_assignment(self, assignment_id: str) -> AssignmentRecord:
        return assignment_record(_call(self._client.get_assignment, AssignmentId=assignment_id)["Assignment"])

    def approve(
        self, assignment_id: str, *, feedback: str = "", override_rejection: bool = False
    ) -> datetime | None:
        """Return the ApprovalTime where the answer tells it, as our own marketplace's does and MTurk's does not."""
        optional: dict[str, Any] = {"RequesterFeedback": feedback} if feedback else {}
        answer = _call(
            self._client.approve_assignment,
            AssignmentId=assignment_id,
            OverrideRejection=override_rejection,
            **optional,
        )
        return done_at(answer)

    def reject(self, assignment_id: str, *, feedback: str) -> None:
        _call(self._client.reject_assignment, AssignmentId=assignment_id, RequesterFeedback=feedback)

    def extend(self, hit_id: str, *, n: int, token: str) -> None:
        """Open `n` more assignments on a HIT, once per token."""
        _call(
            self._client.create_additional_assignments_for_hit,
            HITId=hit_id,
            NumberOfAdditionalAssignments=n,
            UniqueRequestToken=token,
        )

    def expire_at(self, hit_id: str, *, when: datetime) -> None:
        """Move a HIT's expiration. Naive times are refused: boto3 would silently take them for UTC."""
        if when.tzinfo is None:
            raise ValueError("The expiration needs a time zone.")
        _call(self._client.update_expiration_for_hit, HITId=hit_id, ExpireAt=when.astimezone(UTC))

    def send_bonus(
        self, assignment_id: str, *, worker_id: str, amount: Decimal, reason: str, token: str
    ) -> None:
        """Pay a worker `amount` dollars on top of an assignment's reward, once per token; they read the reason."""
        _call(
            self._client.send_bonus,
            AssignmentId=assignment_id,
            WorkerId=worker_id,
            BonusAmount=f"{amount:.2f}",
            Reason=reason,
            UniqueRequestToken=token,
        )

    def notify(self, worker_id: str, *, subject: str, text: str) -> None:
        """Write to a worker whose work was decided here before; Refused says why it did not reach them."""
        answer = _call(self._client.notify_workers, Subject=subject, MessageText=text, WorkerIds=[worker_id])
        for failure in answer.get("NotifyWorkersFailureStatuses", []):
            raise Refused(str(failure.get("NotifyWorkersFailureMessage", "")))

    def list_bonuses(self, assignment_id: str) -> list[BonusRecord]:
        """Return every bonus paid for an assignment, through all pages."""
        pages = self._pages("list_bonus_payments", "BonusPayments", AssignmentId=assignment_id)
        return [bonus_record(bonus) for bonus in pages]

    def list_bonuses_of_hit(self, hit_id: str) -> list[BonusRecord]:
        """Return every bonus paid for the assignments of a HIT, through all pages."""
        pages = self._pages("list_bonus_payments", "BonusPayments", HITId=hit_id)
        return [bonus_record(bonus) for bonus in pages]

    def erased_work(self, assignment_ids: list[str]) -> list[str]:
        """Return which of at most PAGE assignments were handed in by somebody whose account was erased since.

        For our own marketplace: MTurk knows no such operation.
        """
        answer = self._own("ListErasedWork", AssignmentIds=assignment_ids)
        return [str(name) for name in answer["AssignmentIds"]]

    def erase_idle_accounts(
        self, assignment_ids: list[str], *, before: datetime, dry_run: bool
    ) -> ErasedRecord:
        """Have our own marketplace erase the accounts behind at most PAGE assignments that were not used since."""
        values = {"AssignmentIds": assignment_ids, "Before": before.timestamp(), "DryRun": dry_run}
        answer = self._own("EraseIdleAccounts", **values)
        return ErasedRecord(int(answer["NumErased"]), [str(reason) for reason in answer["Kept"]])

    def _own(self, operation: str, **body: Any) -> dict[str, Any]:
        """Make a call that botocore has no description of, signed as the others are; what it does can be repeated."""
        known = _endpoint_arguments(self.endpoint)
        self._before_call()
        return _call(lambda: _send_patiently(operation, json.dumps(body), **known))  # type: ignore[no-any-return]

    def _pages(self, operation: Any, key: str, **arguments: Any) -> Iterator[Any]:
        for page in self._whole_pages(operation, **arguments):
            yield from page[key]

    def _whole_pages(self, operation: Any, **arguments: Any) -> Iterator[Any]:
        paginator: Any = self._client.get_paginator(operation)
        pages = iter(paginator.paginate(**arguments, PaginationConfig={"PageSize": PAGE}))
        while (page := _call(lambda: next(pages, None))) is not None:
            yield page
            if "NextToken" not in page:
                return
            self._before_call()


def _endpoint_arguments(endpoint: str) -> dict[str, str]:
    known = settings.MTURK_ENDPOINTS[endpoint]
    names = ("endpoint_url", "aws_access_key_id", "aws_secret_access_key")
    return {name: known[name] for name in names if known.get(name)}


@lru_cache(maxsize=8)
def _client(endpoint: str, **arguments: str) -> "MTurkClient":
    # Here and below, not at the top: every command imports this module, and few make a call.
    import boto3
    from botocore.config import Config

    config = Config(
        retries={"mode": "adaptive", "total_max_attempts": 4},
        connect_timeout=5,
        read_timeout=30,
        # Said as a whole: botocore puts its own together of a dozen parts, twice a call, for a tenth of its time.
        user_agent=f"Boto3/{boto3.__version__} assent-{endpoint}",
    )
    client: MTurkClient = boto3.client("mturk", region_name=REGION, config=config, **arguments)
    client.meta.events.register("after-call.mturk", _insist_on_whole_answers)
    return client


def _send_patiently(operation: str, body: str, **arguments: str) -> dict[str, Any]:
    """Send one operation of our own marketplace, again where it was throttled, as botocore does with its own."""
    for seconds in WAITS:
        try:
            return _send_own(operation, body, **arguments)
        except ClientError as error:
            if error.response["Error"].get("Code") != THROTTLED:
                raise
        time.sleep(seconds)
    return _send_own(operation, body, **arguments)


def _send_own(operation: str, body: str, *, endpoint_url: str, **keys: str) -> dict[str, Any]:
    """Send one operation of our own marketplace. Raises ClientError as boto3 does; Unreachable for half an answer."""
    import boto3
    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest
    from botocore.httpsession import URLLib3Session

    if (credentials := boto3.Session(**keys).get_credentials()) is None:
        raise NoCredentialsError
    headers = {"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": OWN_PREFIX + operation}
    request = AWSRequest(method="POST", url=endpoint_url, data=body.encode(), headers=headers)
    SigV4Auth(credentials, SERVICE, REGION).add_auth(request)
    answer = URLLib3Session(timeout=(5, 30)).send(request.prepare())
    if (members := _members(answer.content)) is None:
        raise Unreachable(f"The answer to {operation} broke off.")
    if answer.status_code != 200:
        text = members.get("Message") or members.get("message", "")
        error = {"Code": members.get("__type", ""), "Message": text}
        metadata = {"HTTPStatusCode": answer.status_code, "RetryAttempts": 0}
        raise ClientError({**members, "Error": error, "ResponseMetadata": metadata}, operation)
    return members


def _insist_on_whole_answers(*, http_response: Any, model: Any, **_: Any) -> None:
    if not is_whole(http_response, model=model):
        raise Unreachable(f"The answer to {model.name} broke off.")


def _call(method: Callable[..., Any], **arguments: Any) -> Any:
    try:
        return method(**arguments)
    except ClientError as error:
        translated = _translated(error)
        translated.may_have_happened = error.response["ResponseMetadata"].get("RetryAttempts", 0) > 0
        raise translated from error
    except BotoCoreError as error:
        raise _without_answer(error) from error


def _without_answer(error: BotoCoreError) -> MarketError:
    """No answer came. Where the last try found nobody at the address, the tries before may have been heard."""
    if isinstance(error, ParamValidationError):
        return Refused(str(error))
    if isinstance(error, (NoCredentialsError, PartialCredentialsError)):
        return NotReady(str(error))
    if isinstance(error, EndpointConnectionError):
        not_ready = NotReady(str(error))
        not_ready.may_have_happened = True
        return not_ready
    return Unreachable(str(error))


def _translated(error: ClientError) -> MarketError:
    code = error.response["Error"].get("Code", "")
    turk_code = str(error.response.get("TurkErrorCode", "")).rpartition(".")[2]
    message = error.response["Error"].get("Message") or str(error)
    if code == THROTTLED or "status of: null" in message:
        return NotReady(message)
    if code == "ServiceFault" or error.response["ResponseMetadata"].get("HTTPStatusCode", 0) >= 500:
        return Unreachable(message)
    if turk_code.lower() == "hitalreadyexists" or "has already been processed" in message:
        return AlreadyProcessed(message, hit_id=_hit_id_in(message))
    if turk_code in {"InvalidAssignmentState", "InvalidHITState"}:
        return WrongState(message)
    return HITGone(message) if turk_code == "HITDoesNotExist" else Refused(message)


def _hit_id_in(message: str) -> str:
    found = re.search(r'HIT with ID "([A-Z0-9]+)"', message)
    return found.group(1) if found else ""
