"""Rules of the gates, from the suites in ``gx/``, without Great Expectations.

Constraints see one row; these rules see a whole snapshot or run. Real trouble (a dead broker, a violated rack) passes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from kafka_rebalance.facts import FactCode
from rebalance_advisor.store.checks import Check

PROJECT = Path(__file__).parent / "gx"


class Gate(StrEnum):
    INPUT = "input"  # a snapshot
    RESULTS = "results"  # a run, before publishing


class Level(StrEnum):
    BLOCK = "block"  # critical: the run stops
    QUARANTINE = "quarantine"  # warning: advice excludes the subject
    WARN = "warn"  # info: a line in the log


@dataclass(frozen=True, slots=True)
class Rule:
    """Rows of a quarantine have a column ``subject``."""

    code: FactCode
    gate: Gate
    level: Level
    subject_type: str | None = None

    @property
    def name(self) -> str:
        return self.code.value

    def __post_init__(self) -> None:
        if (self.level is Level.QUARANTINE) != (self.subject_type is not None):
            raise ValueError(f"rule {self.name}: a quarantine, and no other level, has a subject_type")


@cache
def rules_of(gate: Gate) -> tuple[Rule, ...]:
    suite = json.loads((PROJECT / "expectations" / f"{gate}.json").read_text(encoding="utf-8"))
    metas = [expectation["meta"] for expectation in suite["expectations"]]
    return tuple(Rule(FactCode(meta["code"]), gate, Level(meta["level"]), meta.get("subject_type")) for meta in metas)


@dataclass(frozen=True, slots=True)
class RuleResult:
    rule: Rule
    failed_rows: int | None
    sample: tuple[Mapping[str, Any], ...] = ()

    @property
    def state(self) -> str:
        if self.failed_rows is None:
            return "not evaluated"
        return "failed" if self.failed_rows else "passed"

    @property
    def first_rows(self) -> str:
        return Check(self.rule.name, self.rule.level.value, self.failed_rows or 0, self.sample).first_rows


def rule_results(stored: Iterable[Mapping[str, Any]]) -> list[RuleResult]:
    by_rule = {(row["gate"], row["rule"]): row for row in stored}
    rules = (rule for gate in Gate for rule in rules_of(gate))
    return [
        RuleResult(rule, row["failed_rows"], tuple(row["sample"] or ())) if row else RuleResult(rule, None)
        for rule in rules
        for row in [by_rule.get((rule.gate.value, rule.name))]
    ]
