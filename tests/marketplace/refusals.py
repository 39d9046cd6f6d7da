"""Refusals as boto3 reports them."""

import pytest
from botocore.exceptions import ClientError


def refusal(call, **values):
    """Return (HTTP status, code, last part of TurkErrorCode, message) of a refused call."""
    with pytest.raises(ClientError) as caught:
        call(**values)
    answer = caught.value.response
    turk_code = answer.get("TurkErrorCode", "").removeprefix("AWS.MechanicalTurk.")
    return (
        answer["ResponseMetadata"]["HTTPStatusCode"],
        answer["Error"]["Code"],
        turk_code,
        answer["Error"]["Message"],
    )
