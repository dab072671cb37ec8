"""``plan.json`` as JSON Schema (2020-12), from the very shape that ``verify`` holds a plan to."""

from __future__ import annotations

from typing import Any

from kafka_rebalance.options.plan_options import parameters_schema
from kafka_rebalance.verify.document.shape import CODE, FORMAT_VERSION, LENGTHS, MOST, PLAN, VERDICTS, Each, Fact

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_BROKER_ID = {"pattern": "^(0|[1-9][0-9]{0,9})$"}
_WHOLE = {"type": "integer", "minimum": -MOST, "maximum": MOST}
_NAMES: dict[type, dict[str, Any]] = {
    str: {"type": "string"}, bool: {"type": "boolean"}, type(None): {"type": "null"},
    int: _WHOLE, float: {"type": "number"},
}  # fmt: skip

# What a plan says: a code, whose words are made where they are shown, and arguments by name, facts among them.
_FACT = {
    "type": "object",
    "properties": {
        "code": {"type": "string", "pattern": f"^{CODE}$"},
        "args": {"type": "object", "additionalProperties": {"$ref": "#/$defs/argument"}},
    },
    "required": ["code", "args"],
    "additionalProperties": False,
}
_ARGUMENT = {
    "anyOf": [
        {"type": ["boolean", "number", "string", "null"]},
        {"type": "array", "items": {"$ref": "#/$defs/argument"}},
        {"$ref": "#/$defs/fact"},
    ]
}


def plan_schema() -> dict[str, Any]:
    """Return the schema. It leaves to ``verify`` what is beside the shape: sums, moves, bounds."""
    schema = schema_of({name: inner for name, inner in PLAN.items() if name != "parameters"})
    parameters = parameters_schema()
    definitions = parameters.pop("$defs") | {"fact": dict(_FACT), "argument": dict(_ARGUMENT)}
    schema["properties"]["parameters"] = parameters
    schema["required"].append("parameters")
    schema["properties"]["format_version"] = {"type": "integer", "const": FORMAT_VERSION}
    schema["properties"]["verdict"] = {"enum": list(VERDICTS)}
    title = "plan.json of Kafka Rebalance Advisor"
    return {"$schema": DRAFT, "title": title, "$defs": definitions} | schema


def schema_of(shape: Any, name: str = "") -> dict[str, Any]:
    """A shape of ``verify`` as a schema; ``name`` is the field's, for the few lists of a fixed length.

    >>> schema_of((int, type(None)))["anyOf"][1]
    {'type': 'null'}
    """
    if isinstance(shape, tuple):
        kinds = tuple(kind for kind in shape if kind is not int) if float in shape else shape  # a number may be whole
        return schema_of(kinds[0], name) if len(kinds) == 1 else {"anyOf": [schema_of(kind, name) for kind in kinds]}
    if isinstance(shape, list):
        length = {"minItems": LENGTHS[name], "maxItems": LENGTHS[name]} if name in LENGTHS else {}
        return {"type": "array", "items": schema_of(shape[0])} | length
    if isinstance(shape, Fact):
        return {"$ref": "#/$defs/fact"}
    if isinstance(shape, Each):
        keys = {"propertyNames": dict(_BROKER_ID)} if shape.by_broker else {}
        return {"type": "object", "additionalProperties": schema_of(shape.shape)} | keys
    if isinstance(shape, dict):
        properties = {key: schema_of(inner, key) for key, inner in shape.items()}
        return {
            "type": "object", "properties": properties, "required": list(shape), "additionalProperties": False,
        }  # fmt: skip
    return dict(_NAMES[shape])
