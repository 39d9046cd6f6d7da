"""botocore's description of the service, and request bodies held against it.

JSON types come first, then required members, then patterns and ranges. boto3 checks types and required members only;
everything else must be refused here.
"""

import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from botocore.loaders import Loader
from botocore.model import ListShape, ServiceModel, Shape, StructureShape

from marketplace.api.errors import ApiError, bad_value, missing_value, wrong_type
from marketplace.questions.documents import ILLEGAL

LATEST = 253_402_300_799  # 9999-12-31T23:59:59Z, the last second a datetime holds
YEAR, MONTH = 31_536_000, 2_592_000

# Ranges of numbers and lengths of texts that the documentation states and the service model does not carry.
DOCUMENTED: dict[str, tuple[int, int]] = {
    "MaxAssignments": (1, 1_000_000_000),
    "NumberOfAdditionalAssignments": (1, 1_000_000_000),
    "AssignmentDurationInSeconds": (30, YEAR),
    "LifetimeInSeconds": (30, YEAR),
    "AutoApprovalDelayInSeconds": (0, MONTH),
    "Title": (1, 128),
    "Description": (1, 2000),
    "Keywords": (0, 1000),
    "RequesterAnnotation": (0, 255),
    "Question": (1, 65_535),
    "RequesterFeedback": (0, 1024),
    "Name": (1, 200),
    "Test": (1, 65_535),
    "AnswerKey": (1, 65_535),
    "TestDurationInSeconds": (0, YEAR),
    "RetryDelayInSeconds": (0, 2**31 - 1),
    "Subject": (1, 200),
    "MessageText": (1, 4096),
}
DOCUMENTED_LISTS = {
    "QualificationRequirements": (0, 10),
    "IntegerValues": (0, 15),
    "LocaleValues": (0, 30),
    "WorkerIds": (1, 100),
}
IN_BYTES = frozenset({"Question", "Test", "AnswerKey"})
WHOLE = {"integer": (-(2**31), 2**31 - 1), "long": (-(2**63), 2**63 - 1)}

# What this marketplace does besides, in the form of botocore's service models.
OWN_SHAPES: dict[str, dict[str, Any]] = {
    "EntityId": {"type": "string", "min": 1, "max": 64, "pattern": "^[A-Z0-9]+$"},
    "AssignmentIdList": {"type": "list", "member": {"shape": "EntityId"}, "min": 1, "max": 100},
    "ErasedList": {"type": "list", "member": {"shape": "EntityId"}},
    "Time": {"type": "timestamp"},
    "Boolean": {"type": "boolean"},
    "Integer": {"type": "integer"},
    "Text": {"type": "string"},
    "TextList": {"type": "list", "member": {"shape": "Text"}},
    "ListErasedWorkRequest": {
        "type": "structure",
        "required": ["AssignmentIds"],
        "members": {"AssignmentIds": {"shape": "AssignmentIdList"}},
    },
    "ListErasedWorkResponse": {"type": "structure", "members": {"AssignmentIds": {"shape": "ErasedList"}}},
    "EraseIdleAccountsRequest": {
        "type": "structure",
        "required": ["AssignmentIds", "Before"],
        "members": {
            "AssignmentIds": {"shape": "AssignmentIdList"},
            "Before": {"shape": "Time"},
            "DryRun": {"shape": "Boolean"},
        },
    },
    "EraseIdleAccountsResponse": {
        "type": "structure",
        "members": {"NumErased": {"shape": "Integer"}, "Kept": {"shape": "TextList"}},
    },
}

Leaf = tuple[str, Shape, Any]


@cache
def service() -> ServiceModel:
    return ServiceModel(Loader().load_service_model("mturk", "service-2", "2017-01-17"), "mturk")


@cache
def operation_names() -> frozenset[str]:
    return frozenset(service().operation_names)


@cache
def own_service() -> ServiceModel:
    """Return the description of what this marketplace does besides MTurk's operations."""
    names = [name.removesuffix("Request") for name in OWN_SHAPES if name.endswith("Request")]
    operations = {
        name: {"name": name, "input": {"shape": f"{name}Request"}, "output": {"shape": f"{name}Response"}}
        for name in names
    }
    metadata = {"protocol": "json", "apiVersion": "2026-11-23"}
    return ServiceModel(
        {"metadata": metadata, "operations": operations, "shapes": OWN_SHAPES}, "assent-marketplace"
    )


@cache
def own_operation_names() -> frozenset[str]:
    return frozenset(own_service().operation_names)


@cache
def input_shape(operation: str) -> StructureShape:
    described = own_service() if operation in own_operation_names() else service()
    shape = described.operation_model(operation).input_shape
    if not isinstance(shape, StructureShape):
        raise TypeError(f"{operation} takes no structure.")
    return shape


def _is_number(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, float) and math.isfinite(value))


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "structure": ("object", lambda value: isinstance(value, dict)),
    "list": ("array", lambda value: isinstance(value, list)),
    "string": ("string", lambda value: isinstance(value, str)),
    "integer": ("whole number", _is_whole),
    "long": ("whole number", _is_whole),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "timestamp": ("number of seconds", _is_number),
}


def validate(shape: StructureShape, body: Any) -> dict[str, Any]:
    """Return the known members of a request body, nulls left out. Raises ApiError for the first problem."""
    checked: dict[str, Any] = _typed(shape, body, path="the request")
    for problem in _missing(shape, checked):
        raise problem
    for path, leaf, value in _leaves(shape, checked, path=""):
        _check_value(path, leaf, value)
    return checked


def _typed(shape: Shape, value: Any, *, path: str) -> Any:
    expected, is_right = TYPES[shape.type_name]
    if not is_right(value):
        raise wrong_type(path, expected=expected)
    if isinstance(shape, StructureShape):
        given = {name: value[name] for name in shape.members if value.get(name) is not None}
        return {name: _typed(shape.members[name], item, path=name) for name, item in given.items()}
    if isinstance(shape, ListShape):
        return [_typed(shape.member, item, path=path) for item in value]
    return value


def _missing(shape: Shape, value: Any) -> Iterator[ApiError]:
    if isinstance(shape, StructureShape):
        yield from (missing_value(name) for name in shape.required_members if name not in value)
        for name, item in value.items():
            yield from _missing(shape.members[name], item)
    elif isinstance(shape, ListShape):
        for item in value:
            yield from _missing(shape.member, item)


def _leaves(shape: Shape, value: Any, *, path: str) -> Iterator[Leaf]:
    """Yield every value below a structure with its own name: lists both whole and item by item."""
    if isinstance(shape, StructureShape):
        for name, item in value.items():
            yield from _leaves(shape.members[name], item, path=name)
        return
    yield path, shape, value
    if isinstance(shape, ListShape):
        for item in value:
            yield from _leaves(shape.member, item, path=path)


def _check_value(path: str, shape: Shape, value: Any) -> None:
    shown = value if isinstance(value, str | int | float) else f"{len(value)} values"
    low, high = _range(path, shape)
    if not low <= _size(path, value) <= high or (isinstance(value, str) and ILLEGAL.search(value)):
        raise bad_value(shown, path)
    pattern, allowed = shape.metadata.get("pattern"), shape.metadata.get("enum")
    if (pattern and not re.search(pattern.replace("$", r"\Z"), value)) or (allowed and value not in allowed):
        raise bad_value(shown, path)


def _range(path: str, shape: Shape) -> tuple[float, float]:
    if shape.type_name == "timestamp":
        return 0, LATEST
    documented = DOCUMENTED_LISTS if isinstance(shape, ListShape) else DOCUMENTED
    if path in documented:
        return documented[path]
    lowest, highest = WHOLE.get(shape.type_name, (-math.inf, math.inf))
    return shape.metadata.get("min", lowest), shape.metadata.get("max", highest)


def _size(path: str, value: Any) -> float:
    """Return a number itself, the length of a list or text, of a document in bytes."""
    if isinstance(value, str) and path in IN_BYTES:
        return len(value.encode("utf-8", "surrogatepass"))
    number: float = len(value) if isinstance(value, str | list) else value
    return number
