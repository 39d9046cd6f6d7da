"""Operations about workers: blocks and messages."""

from collections.abc import Callable

from marketplace.accounts import contact
from marketplace.api.calls import Body, Call, listing


def create_worker_block(call: Call) -> Body:
    contact.block(call.requester, worker=call.worker(), reason=call.body["Reason"])
    return {}


def delete_worker_block(call: Call) -> Body:
    contact.unblock(call.requester, worker=call.worker())
    return {}


def list_worker_blocks(call: Call) -> Body:
    rows = call.requester.blocks.select_related("worker")
    page, token = call.page(rows, scope="ListWorkerBlocks")
    blocks = [{"WorkerId": row.worker.worker_id, "Reason": row.reason} for row in page]
    return listing("WorkerBlocks", blocks, token=token)


def notify_workers(call: Call) -> Body:
    failures = contact.notify(
        call.requester,
        worker_ids=call.body["WorkerIds"],
        subject=call.body["Subject"],
        text=call.body["MessageText"],
        now=call.now,
    )
    statuses = [
        {
            "NotifyWorkersFailureCode": failure.code,
            "NotifyWorkersFailureMessage": failure.message,
            "WorkerId": failure.worker_id,
        }
        for failure in failures
    ]
    return {"NotifyWorkersFailureStatuses": statuses}


OPERATIONS: dict[str, Callable[[Call], Body]] = {
    "CreateWorkerBlock": create_worker_block,
    "DeleteWorkerBlock": delete_worker_block,
    "ListWorkerBlocks": list_worker_blocks,
    "NotifyWorkers": notify_workers,
}
