"""``findings.json`` as JSON Schema (2020-12): a list of findings, each with those that it explains."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel
from pydantic.json_schema import GenerateJsonSchema

from kafka_rebalance.findings.finding import CODES, Confidence, Severity, SubjectType
from kafka_rebalance.options.values import OneOf
from rebalance_advisor.publish.schemas.plan_schema import DRAFT


class FactDocument(BaseModel):
    """A code with its arguments, and their words."""

    model_config = ConfigDict(extra="forbid")

    code: str
    args: dict[str, Any]
    text: str


class FindingDocument(BaseModel):
    """One finding as it is published."""

    model_config = ConfigDict(extra="forbid")

    finding_key: str
    severity: Severity
    subject_type: SubjectType
    subject: str
    code: Annotated[str, OneOf(CODES)]
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
    # Only where an earlier advisory was given.
    change: Literal["new", "persisting", "reopened"] = "new"


class FindingsFile(RootModel[list[FindingDocument]]):
    """Codes may be added by a later release: programs that read them must expect new ones."""


class _Untitled(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002
        return False


def findings_schema() -> dict[str, Any]:
    """The schema, made by pydantic from the fields above."""
    schema = FindingsFile.model_json_schema(schema_generator=_Untitled, ref_template="#/$defs/{model}")
    return {"$schema": DRAFT} | schema | {"title": "findings.json of Kafka Rebalance Advisor"}
