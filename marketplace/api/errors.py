"""Errors as they look on the wire."""

import time
from typing import Any

from marketplace.questions.documents import BadForm, BadQuestion

LONGEST_ECHO = 2100  # a little more than the longest address that can be valid


class ApiError(Exception):
    """An answer that is not a success: HTTP status and JSON body."""

    def __init__(self, code: str, *, status: int = 400, **fields: str) -> None:
        super().__init__(code)
        self.status = status
        self.body: dict[str, Any] = {"__type": code, **fields}


def _epoch_ms() -> int:
    return int(time.time() * 1000)


def request_error(code: str, message: str) -> ApiError:
    """A modelled refusal. TurkErrorCode is top-level, Message ends in the time (resourcecontracts#1384)."""
    return ApiError(
        "RequestError",
        Message=f"{message} ({_epoch_ms()})",
        TurkErrorCode=f"AWS.MechanicalTurk.{code}",
    )


def bad_value(value: object, parameter: str, *, why: str = "") -> ApiError:
    """A value outside pattern, range or enumeration (boto3#2355)."""
    reason = f" {why}." if why else ""
    shown = str(value)[:LONGEST_ECHO]
    text = f'The value "{shown}" is not valid for the parameter {parameter}.{reason} ({_epoch_ms()} s)'
    return ApiError("ParameterValidationError", Message=text)


def bad_document(problem: BadQuestion) -> ApiError:
    """No XML, or a QuestionForm or AnswerKey that breaks its rules (the beginning as in boto#605)."""
    if not isinstance(problem, BadForm):
        return request_error("XMLParseError", str(problem))
    text = f"There was an error parsing the XML question or answer data in your request. {problem} ({_epoch_ms()} s)"
    return ApiError(
        "ParameterValidationError", Message=text, TurkErrorCode=f"AWS.MechanicalTurk.{problem.code}"
    )


def missing_value(parameter: str) -> ApiError:
    """A required member is absent; the name begins in lower case, as AWS writes it."""
    name = parameter[0].lower() + parameter[1:]
    text = f"1 validation error detected: Value null at '{name}' failed to satisfy constraint: Member must not be null"
    return ApiError("ValidationException", message=text)


def wrong_type(parameter: str, *, expected: str) -> ApiError:
    return ApiError("SerializationException", Message=f"{parameter}: a JSON {expected} is expected")


def not_signed_in(code: str, message: str) -> ApiError:
    """A refusal before the operation is looked at; AWS writes `message` in lower case here."""
    return ApiError(code, message=message)


def throttled() -> ApiError:
    return ApiError("ThrottlingException", message="Rate exceeded")


def service_fault() -> ApiError:
    return ApiError(
        "ServiceFault",
        status=500,
        Message=f"The service failed on this request. ({_epoch_ms()})",
        TurkErrorCode="AWS.MechanicalTurk.ServiceFault",
    )
