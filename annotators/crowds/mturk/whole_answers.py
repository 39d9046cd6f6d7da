"""boto3 takes an answer that broke off for an empty success: what tells one from the other."""

import json
from typing import Any


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
