"""The JSON schema of protocol files, made from the definition's dataclasses: editors complete and check with it.

python -m surveys.protocols.schema > docs/protocol.schema.json
"""

import inspect
import json
import sys
from dataclasses import MISSING, Field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from surveys.protocols import documents
from surveys.protocols.definition import Choice, Definition

SCALARS: dict[type, dict[str, Any]] = {
    str: {"type": ["string", "number", "boolean"]},
    int: {"type": "integer"},
    float: {"anyOf": [{"type": "number"}, {"type": "string", "pattern": r"^-?\d+/\d+$"}]},
    bool: {"type": "boolean"},
}


def schema() -> dict[str, Any]:
    """Return the schema, in JSON Schema's draft 2020-12."""
    kinds: dict[str, Any] = {}
    whole = _object(Definition, kinds)
    properties = {documents.KEY: whole["properties"].pop("key"), **whole["properties"]}
    properties[documents.SCALES] = {
        "type": "object",
        "additionalProperties": {"type": "array", "items": {"$ref": "#/$defs/Choice"}},
        "description": "Lists of choices by name, for criteria that share one.",
    }
    required = [documents.KEY if name == "key" else name for name in whole["required"]]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A protocol of Assent",
        **whole,
        "properties": properties,
        "required": required,
        "$defs": dict(sorted(kinds.items())),
    }


def _object(kind: type, kinds: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    key_of = documents.key_of
    return {
        "type": "object",
        "description": inspect.cleandoc(kind.__doc__ or ""),
        "additionalProperties": False,
        "required": [key_of(field) for field in fields(kind) if field.default is MISSING],
        "properties": {key_of(field): _property(hints[field.name], field, kinds) for field in fields(kind)},
    }


def _property(hint: Any, field: Field[Any], kinds: dict[str, Any]) -> dict[str, Any]:
    found = _value(hint, kinds)
    is_plain = isinstance(field.default, str | int | float) and field.default != ""
    return {**found, "default": field.default} if is_plain else found


def _value(hint: Any, kinds: dict[str, Any]) -> dict[str, Any]:
    if is_dataclass(hint):
        name = hint.__name__  # type: ignore[union-attr]
        if name not in kinds:
            kinds[name] = {}
            kinds[name] = _object(hint, kinds)  # type: ignore[arg-type]
        return {"$ref": f"#/$defs/{name}"}
    if get_origin(hint) is tuple:
        (kind, _) = get_args(hint)
        several = {"type": "array", "items": _value(kind, kinds)}
        return {"anyOf": [several, {"type": "string"}]} if kind is Choice else several
    if get_origin(hint) in {Union, UnionType}:
        (kind,) = (one for one in get_args(hint) if one is not NoneType)
        return {"anyOf": [_value(kind, kinds), {"type": "null"}]}
    if get_origin(hint) is Literal:
        return {"enum": list(get_args(hint))}
    return dict(SCALARS[hint])


def text() -> str:
    """Return the schema as it stands in docs/."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(text())
