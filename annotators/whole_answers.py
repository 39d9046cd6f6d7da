"""boto3 takes an answer that broke off for an empty success: what tells one from the other."""

import json
from typing import Any


def is_whole(answer: Any, *, model: Any) -> bool:
    """Tell whether an HTTP answer (botocore's AWSResponse) to an operation (its OperationModel) is all there."""
    announced = answer.headers.get("Content-Length")
    if announced is None and not answer.content:
        return False
    if announced is not None and announced != str(len(answer.content)):
        return False
    return answer.status_code != 200 or _has_its_members(answer.content, model)


def _has_its_members(body: bytes, model: Any) -> bool:
    """Tell whether a success says what it should. Operations that return nothing may send an empty body."""
    try:
        members = json.loads(body or b"{}")
    except ValueError:
        return False
    return isinstance(members, dict) and (bool(members) or not model.output_shape.members)
