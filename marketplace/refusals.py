"""Why the marketplace refuses, apart from how a refusal is worded on the wire or on a page."""


class Refusal(Exception):
    """A requester's call that the state does not allow.

    `code` is the last part of TurkErrorCode (AWS.MechanicalTurk.<code>), `message` a full sentence.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class WorkerRefusal(Exception):
    """Something a worker asked for that cannot be had; the text is shown to the worker."""


def hit_does_not_exist(hit_id: str) -> Refusal:
    return Refusal("HITDoesNotExist", f"Hit {hit_id} does not exist.")


def assignment_does_not_exist(assignment_id: str) -> Refusal:
    return Refusal("AssignmentDoesNotExist", f"Assignment {assignment_id} does not exist.")


def worker_does_not_exist(worker_id: str) -> Refusal:
    return Refusal("WorkerDoesNotExist", f"Worker {worker_id} does not exist.")


def qualification_type_does_not_exist(type_id: str) -> Refusal:
    return Refusal("QualificationTypeDoesNotExist", f"QualificationType {type_id} does not exist.")


def wrong_assignment_state(*allowed: str) -> Refusal:
    statuses = ",".join(allowed)
    return Refusal("InvalidAssignmentState", f"This operation can be called with a status of: {statuses}")


def wrong_hit_state(hit_id: str, *, status: str, allowed: str) -> Refusal:
    return Refusal(
        "InvalidHITState",
        f"The HIT {hit_id} is currently in the state '{status}'. "
        f"This operation can be called with a status of: {allowed}",
    )


def token_processed(token: str) -> Refusal:
    # The TurkErrorCode of this refusal is not documented; the message is what requesters match (nodekit).
    return Refusal("RequestAlreadyProcessed", f'The idempotency token "{token}" has already been processed.')
