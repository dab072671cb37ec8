"""Print the JSON schema (2020-12) of FILE, one of those that plan and advise write.

Exit codes: 0 done, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel
from pydantic.json_schema import GenerateJsonSchema

from kafka_rebalance.findings.finding import CODES, Actor, Confidence, Severity, SubjectType
from kafka_rebalance.options.plan_options import parameters_schema
from kafka_rebalance.options.values import OneOf
from kafka_rebalance.verify.document import Plan, adapter_of
from rebalance_advisor.terminal import write_json


def _plan() -> dict[str, Any]:

    return plan_schema()


def _findings() -> dict[str, Any]:

    return findings_schema()


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {"plan.json": _plan, "findings.json": _findings}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", choices=list(SCHEMAS), help=" or ".join(SCHEMAS))


def run(arguments: argparse.Namespace) -> int:
    write_json(sys.stdout, SCHEMAS[arguments.file]())
    return 0


DRAFT = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE = "#/$defs/{model}"


class FactDocument(BaseModel):
    model_config = ConfigDict(extra="forbid")

    code: str
    args: dict[str, Any]
    text: str


class FindingDocument(BaseModel):
    model_config = ConfigDict(extra="forbid")

    finding_key: str
    severity: Severity
    subject_type: SubjectType
    subject: str
    code: Annotated[str, OneOf(CODES)]
    actor: Actor
    evidence: dict[str, float | str | list[Any] | None]
    recommendation: FactDocument
    cost: FactDocument | None
    gain: float
    confidence: Confidence
    team: str | None
    channel: str | None
    tier: int | None
    muted_until: str | None
    mute_reason: str | None
    cost_bytes: Annotated[float, Field(ge=0)]
    cost_changes: Annotated[int, Field(ge=0)]
    symptoms: list[FindingDocument]
    # Only if an earlier advisory was given.
    change: Literal["new", "persisting", "reopened"] = "new"


class FindingsFile(RootModel[list[FindingDocument]]):
    """Programs must accept unknown codes of later releases."""


class _Untitled(GenerateJsonSchema):
    def dict_schema(self, schema: Any) -> Any:
        json_schema = super().dict_schema(schema)
        return json_schema | ({"additionalProperties": False} if "patternProperties" in json_schema else {})

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def plan_schema() -> dict[str, Any]:
    schema = adapter_of(Plan).json_schema(schema_generator=_Untitled, ref_template=_REFERENCE)
    parameters = parameters_schema()
    definitions = dict(sorted((schema.pop("$defs") | parameters.pop("$defs")).items()))
    schema["properties"]["parameters"] = parameters
    return {"$schema": DRAFT} | schema | {"title": "plan.json of Kafka Rebalance Advisor", "$defs": definitions}


def findings_schema() -> dict[str, Any]:
    schema = FindingsFile.model_json_schema(schema_generator=_Untitled, ref_template=_REFERENCE)
    return {"$schema": DRAFT} | schema | {"title": "findings.json of Kafka Rebalance Advisor"}
