"""What the control API does; each takes the JSON of a request and returns that of the answer."""

from marketplace import clock
from marketplace.accounts import keys
from marketplace.api import call_log, service_model
from marketplace.engine import deadlines
from marketplace.models import Fault, LoggedCall
from marketplace.money import audit
from marketplace.rehearsing import bots, gate, reset
from marketplace.rehearsing.gate import Answer, BadRequest, Body

MOST_WORKERS = 10_000
MOST_FAULTS = 1_000_000
LONGEST_FAULT = 300  # seconds
MOST_STEPS = 1_000
MOST_CALLS_SHOWN = 500
LONGEST_STEP = 10 * 365 * 86_400


def advance(body: Body) -> Answer:
    """Move the clock by `seconds` and do what is due. Returns {"now": ISO time}."""
    now = clock.advance(seconds=gate.whole(body, "seconds", low=0, high=LONGEST_STEP))
    deadlines.sweep(now=now)
    return {"now": now.isoformat()}


def workers(body: Body) -> Answer:
    """Make `count` workers that follow from `seed`. Returns [{"worker_id", "access_code"}]."""
    count = gate.whole(body, "count", low=1, high=MOST_WORKERS)
    seed = gate.whole(body, "seed", low=0, high=2**63)
    pairs = [keys.seeded_worker(seed=seed, number=number) for number in range(count)]
    return [{"worker_id": worker.worker_id, "access_code": code} for worker, code in pairs]


def ledger(body: Body) -> Answer:
    """Return every requester's statement, as `marketplace_ledger --json` prints it."""
    deadlines.sweep(now=clock.now())
    return audit.report()


def plan_fault(body: Body) -> Answer:
    """Let the next `times` calls of `operation`, of one `requester` or all, go wrong. Returns the plan."""
    kind = Fault.Kind(gate.one_of(body, "kind", allowed=list(Fault.Kind.values)))
    names = [] if kind in Fault.OF_MESSAGES else sorted(service_model.operation_names())
    fault = Fault.objects.plan(
        operation=gate.one_of(body, "operation", allowed=["", *names]),
        requester=gate.any_requester(body),
        kind=kind,
        times=gate.whole({"times": 1, **body}, "times", low=1, high=MOST_FAULTS),
        seconds=gate.seconds(body, "seconds", high=LONGEST_FAULT),
    )
    return _fault(fault)


def list_faults(body: Body) -> Answer:
    rows = Fault.objects.filter(remaining__gt=0).select_related("requester").order_by("pk")
    return [_fault(row) for row in rows]


def clear_faults(body: Body) -> Answer:
    return {"cleared": Fault.objects.filter(remaining__gt=0).delete()[0]}


def _fault(row: Fault) -> Body:
    return {
        "operation": row.operation,
        "requester": row.requester.name if row.requester else None,
        "kind": row.kind,
        "times": row.remaining,
        "seconds": row.seconds,
    }


def calls(body: Body) -> Answer:
    """Return the calls after number `after`, oldest first, at most 500; of one `operation`, `requester` or all."""
    rows = LoggedCall.objects.filter(pk__gt=_number(body.get("after", "0")))
    if "operation" in body:
        rows = rows.filter(operation=gate.text(body, "operation"))
    if "requester" in body:
        rows = rows.filter(requester=gate.requester(body))
    found = rows.select_related("requester").order_by("pk")[:MOST_CALLS_SHOWN]
    return [call_log.as_dict(row) for row in found]


def _number(given: str) -> int:
    if not (given.isascii() and given.isdigit() and len(given) < 19):
        raise BadRequest("after is the number of a call.")
    return int(given)


def start_over(body: Body) -> Answer:
    """Forget the market data of one `requester`, or with {"everything": true} of all, workers and clock too."""
    is_all = body.get("everything", False)
    if is_all is not True and is_all is not False:
        raise BadRequest("everything is true or false.")
    if is_all == ("requester" in body):
        raise BadRequest("Give either a requester or everything.")
    return {"deleted": reset.everything() if is_all else reset.requester(gate.requester(body))}


def play(body: Body) -> Answer:
    """Let workers of the script work on a requester's HITs. Returns [{"worker", "hit", "status", ...}]."""
    steps = body.get("steps")
    if not isinstance(steps, list) or not 1 <= len(steps) <= MOST_STEPS:
        raise BadRequest(f"steps is a list of 1 to {MOST_STEPS} steps.")
    script = [_step(number, given) for number, given in enumerate(steps, start=1)]
    owner = gate.requester(body)
    return [bots.play(owner, step=step) for step in script]


def _step(number: int, given: object) -> bots.Step:
    if not isinstance(given, dict):
        raise BadRequest(f"Step {number} is not an object.")
    answers = given.get("answers", {})
    if not isinstance(answers, dict) or not all(isinstance(value, str) for value in answers.values()):
        raise BadRequest(f"Step {number}: answers are texts by name.")
    if ("hit" in given) == ("type" in given):
        raise BadRequest(f"Step {number}: give either hit or type.")
    return bots.Step(
        worker_id=gate.text(given, "worker"),
        hit_id=gate.text(given, "hit", default=""),
        type_id=gate.text(given, "type", default=""),
        action=bots.Action(gate.one_of(given, "do", allowed=[action.value for action in bots.Action])),
        answers=answers,
    )
