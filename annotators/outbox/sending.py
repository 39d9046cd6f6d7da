"""The calls themselves, one an operation, each with the token of its row where MTurk takes one."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

from annotators.crowds.mturk.gateway import AlreadyProcessed, Gateway, HITRecord, MarketError, Unreachable
from annotators.crowds.mturk.questions import external_question
from annotators.failpoints import reach
from annotators.models import Assignment, Call, HITType
from annotators.outbox.outcomes import assignment_of, hit_of, record_hit


def send(call: Call, *, gateway: Gateway) -> datetime | None:
    """Ask the marketplace to do what the call says; return when it did, where its answer says so of an approval.

    Raises MarketError; AlreadyProcessed where it was done before.
    """
    return _ACTIONS[Call.Operation(call.operation)](call, gateway)


def _create(call: Call, gateway: Gateway) -> None:
    terms = call.arguments
    hit_type = HITType.objects.get(pk=terms["hit_type"])
    try:
        record = gateway.create_hit(
            hit_type_id=hit_type.hit_type_id,
            question=external_question(terms["url"]),
            lifetime=timedelta(seconds=terms["lifetime"]),
            max_assignments=terms["max_assignments"],
            annotation=call.token,
            token=call.token,
        )
    except AlreadyProcessed as done:
        record = _made_before(call, done.hit_id, gateway=gateway)
    reach("outbox.hit_made")
    record_hit(call, record)


def _made_before(call: Call, hit_id: str, *, gateway: Gateway) -> HITRecord:
    """Find the HIT that exists: whatever keeps us from it, the call has been carried out.

    It carries our token as its annotation, or it is not the one.
    """
    try:
        record = gateway.get_hit(hit_id) if hit_id else gateway.find_hit(annotation=call.token)
    except MarketError as error:
        raise Unreachable(str(error)) from error
    if record is None:
        raise Unreachable("The marketplace says that the HIT exists, but does not list it yet.")
    if record.requester_annotation != call.token:
        raise Unreachable(f"The marketplace has used this call's token for another HIT, {record.hit_id}.")
    return record


def _extend(call: Call, gateway: Gateway) -> None:
    gateway.extend(hit_of(call).hit_id, n=1, token=call.token)


def _approve(call: Call, gateway: Gateway) -> datetime | None:
    return gateway.approve(
        assignment_of(call).assignment_id,
        feedback=call.arguments["feedback"],
        override_rejection=call.operation == Call.Operation.OVERTURN,
    )


def _reject(call: Call, gateway: Gateway) -> None:
    gateway.reject(assignment_of(call).assignment_id, feedback=call.arguments["feedback"])


def _expire(call: Call, gateway: Gateway) -> None:
    gateway.expire_at(hit_of(call).hit_id, when=datetime.fromisoformat(call.arguments["expire_at"]))


def _pay_bonus(call: Call, gateway: Gateway) -> None:
    assignment = assignment_of(call)
    gateway.send_bonus(
        assignment.assignment_id,
        worker_id=_worker_id_there(assignment, gateway),
        amount=Decimal(call.arguments["amount"]),
        reason=call.arguments["reason"],
        token=call.token,
    )


def _worker_id_there(assignment: Assignment, gateway: Gateway) -> str:
    """Return the marketplace's id of a worker; it is asked for that of a purged one, which is kept nowhere here."""
    if assignment.worker.purged_at is None:
        return assignment.worker.worker_id
    return gateway.get_assignment(assignment.assignment_id).worker_id


_ACTIONS: dict[Call.Operation, Callable[[Call, Gateway], datetime | None]] = {
    Call.Operation.CREATE_HIT: _create,
    Call.Operation.EXTEND: _extend,
    Call.Operation.APPROVE: _approve,
    Call.Operation.REJECT: _reject,
    Call.Operation.OVERTURN: _approve,
    Call.Operation.EXPIRE: _expire,
    Call.Operation.BONUS: _pay_bonus,
}
