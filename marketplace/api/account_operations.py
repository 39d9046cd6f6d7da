"""Operations that MTurk never had: a requester keeps the promise to forget people also where their accounts are.

They name people by AssignmentIds, so that no worker's id stands in a call after it was erased.
"""

from collections.abc import Callable
from datetime import UTC, datetime

from marketplace.api.calls import Body, Call
from marketplace.engine import forgetting


def list_erased_work(call: Call) -> Body:
    erased = forgetting.of_erased(call.body["AssignmentIds"], requester=call.requester)
    return {"AssignmentIds": erased}


def erase_idle_accounts(call: Call) -> Body:
    report = forgetting.erase_idle_of(
        call.requester,
        assignment_ids=call.body["AssignmentIds"],
        before=datetime.fromtimestamp(call.body["Before"], tz=UTC),
        now=call.now,
        is_dry=call.body.get("DryRun", False),
    )
    return {"NumErased": report.n_erased, "Kept": report.kept}


OPERATIONS: dict[str, Callable[[Call], Body]] = {
    "ListErasedWork": list_erased_work,
    "EraseIdleAccounts": erase_idle_accounts,
}
