"""The JSON schema of protocol files, made from the definition's dataclasses: editors complete and check with it.

python -m surveys.protocols.schema > docs/protocol.schema.json
"""

import inspect
import json
import sys
from dataclasses import MISSING, Field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from surveys.protocols import documents, translations
from surveys.protocols.criteria import Choice
from surveys.protocols.definition import WORDS, Definition
from surveys.protocols.languages import NAMED, READ

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
    del kinds["Translation"], kinds["TranslatedText"]  # as they are kept, not as they are written
    properties = {documents.KEY: whole["properties"].pop("key"), **whole["properties"]}
    properties[translations.SCALES] = {
        "type": "object",
        "additionalProperties": {"type": "array", "items": {"$ref": "#/$defs/Choice"}},
        "description": "Lists of choices by name, for criteria that share one.",
    }
    properties[translations.SECTION] = {
        "type": "object",
        "maxProperties": translations.MOST_LANGUAGES,
        "additionalProperties": _translated(Definition, kinds),
        "description": "What people read, by language (BCP 47); what is missing is read in the protocol's own.",
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


def _translated(kind: Any, kinds: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of what stands for a part of a protocol in another language: its texts alone."""
    if kind is str:
        return {"type": ["string", "number", "boolean", "null"]}
    if get_origin(kind) is tuple:
        return _translated_list(get_args(kind)[0], kinds)
    if get_origin(kind) in {Union, UnionType}:
        (kind,) = (one for one in get_args(kind) if one is not NoneType)
    name = f"Translated{kind.__name__}"
    if name not in kinds:
        hints = get_type_hints(kind)
        texts = {field: _translated(hints[field], kinds) for field in READ[kind]}
        kinds[name] = {"type": "object", "additionalProperties": False, "properties": texts}
        if kind is Definition:
            scale = _translated_list(Choice, kinds)
            texts[translations.SCALES] = {"type": "object", "additionalProperties": scale}
    reference = {"$ref": f"#/$defs/{name}"}
    return {"anyOf": [reference, _translated(str, kinds)]} if "label" in READ[kind] else reference


def _translated_list(kind: Any, kinds: dict[str, Any]) -> dict[str, Any]:
    entry = _translated(kind, kinds)
    several = {"type": "array", "items": entry}
    by_name = {"type": "object", "additionalProperties": entry}
    return {"anyOf": [by_name, several]} if kind in NAMED else several


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
    schema = _value(hint, kinds)
    if words := field.metadata.get(WORDS):
        schema = {"anyOf": [schema, {"enum": list(words)}]}
    is_plain = isinstance(field.default, str | int | float) and field.default != ""
    return {**schema, "default": field.default} if is_plain else schema


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
