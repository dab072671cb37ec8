"""Run a checkpoint of ``gx/`` on one batch; the only user of Great Expectations."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from kafka_assignors.errors import AdvisorError
from kafka_assignors.visible_text import visible
from kafka_rebalance.facts import Fact, FactCode
from kafka_rebalance.render import render
from rebalance_advisor import store
from rebalance_advisor.gates.rules import PROJECT, Gate, Level, rules_of

Row = Mapping[str, Any]
# In gx/great_expectations.yml.
CONNECTION_SETTING = "GX_STORE_CONNECTION"
BATCH_PARAMETERS: Mapping[Gate, str] = {Gate.INPUT: "snapshot_id", Gate.RESULTS: "run_id"}


@dataclass(frozen=True, slots=True)
class Unexpected:
    """``rows``: at most 200."""

    count: int
    rows: tuple[Row, ...]


def sqlalchemy_address(dsn: str) -> str:
    """Quoted parameters, so that GX sees no ``$``."""
    from psycopg.conninfo import conninfo_to_dict

    from rebalance_advisor.store.schema.connection import libpq_string

    settings = conninfo_to_dict(libpq_string(dsn, options="-c timezone=UTC", application_name="rebalance-advisor"))
    return f"postgresql+psycopg:///?{urlencode(settings)}"


def unexpected_rows(dsn: str, gate: Gate, batch: str) -> dict[str, Unexpected]:
    """Failing rows of ``batch`` (a snapshot or run id) by rule. Raises RuntimeError for a failed evaluation."""
    logging.getLogger("great_expectations").setLevel(logging.WARNING)  # hundreds of lines about itself
    import great_expectations as gx

    context = gx.get_context(
        mode="file", context_root_dir=PROJECT, runtime_environment={CONNECTION_SETTING: sqlalchemy_address(dsn)}
    )
    checkpoint = context.checkpoints.get(gate.value)
    try:
        result = checkpoint.run(batch_parameters={BATCH_PARAMETERS[gate]: batch})
    finally:
        context.data_sources.get("advisor").get_engine().dispose()
    (validation,) = result.run_results.values()
    return {outcome.expectation_config.meta["code"]: _unexpected(outcome) for outcome in validation.results}


def _unexpected(outcome: Any) -> Unexpected:
    result = outcome.result
    if "details" in result:  # suite's SQL
        return Unexpected(result["observed_value"], tuple(map(_plain, result["details"]["unexpected_rows"])))
    if "unexpected_count" in result:  # GX's column expectation
        return Unexpected(result["unexpected_count"], tuple(map(_plain, result["unexpected_index_list"] or ())))
    rule = outcome.expectation_config.meta["code"]
    raise RuntimeError(f"rule {rule} could not be evaluated: {_first_reason(outcome.exception_info)}")


def _plain(row: Row) -> Row:
    return {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }


def _first_reason(information: Mapping[str, Any]) -> str:
    reports = [report for report in (information, *information.values()) if isinstance(report, Mapping)]
    messages = [str(report["exception_message"]) for report in reports if report.get("exception_message")]
    return messages[0].splitlines()[0] if messages else "no reason was given"


# Great Expectations keeps only a database error's text.
_INTERRUPTED = re.compile(
    "OperationalError|InterfaceError|AdminShutdown|CrashShutdown|server closed the connection|terminating connection"
)

_KEPT_ROWS = 20


class GateError(AdvisorError):
    """A rule was not evaluated, so nothing passes."""


class GateInterruptedError(GateError):
    """The database connection was lost."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """``quarantined``: excluded from advice."""

    gate: Gate
    subject: str
    checks: tuple[store.Check, ...]
    quarantined: tuple[store.Quarantined, ...] = ()

    @property
    def is_blocked(self) -> bool:
        return any(check.level == Level.BLOCK and not check.is_passed for check in self.checks)

    def __str__(self) -> str:
        broken = [check_text(check) for check in self.checks if not check.is_passed]
        return "\n".join(map(visible, broken)) or f"all {len(self.checks)} rules passed"


def check_text(check: store.Check) -> str:
    return f"{check.rule} ({check.level}): {render(Fact(FactCode(check.rule)))}: {check.first_rows}"


def check_input(dsn: str, snapshot_id: str) -> GateResult:
    """Mark the snapshot passed or blocked."""
    with store.connect(dsn) as connection:
        store.require_snapshot(connection, snapshot_id)
        by_rule = _evaluate(dsn, Gate.INPUT, snapshot_id)
        quarantined = tuple(
            store.Quarantined(str(rule.subject_type), subject, rule.name)
            for rule in rules_of(Gate.INPUT)
            if rule.level is Level.QUARANTINE and by_rule[rule.name].count
            for subject in store.broken_subjects(connection, rule.name, snapshot_id)
        )
        checks = _checks(Gate.INPUT, by_rule)
        store.record_input_checks(connection, snapshot_id, checks, quarantined)
    return GateResult(Gate.INPUT, snapshot_id, checks, quarantined)


def check_results(dsn: str, run_id: str) -> GateResult:
    """A blocked run is not published."""
    with store.connect(dsn) as connection:
        store.load_run(connection, run_id)
        checks = _checks(Gate.RESULTS, _evaluate(dsn, Gate.RESULTS, run_id))
        store.record_result_checks(connection, run_id, checks)
    return GateResult(Gate.RESULTS, run_id, checks)


def _evaluate(dsn: str, gate: Gate, batch: str) -> dict[str, Unexpected]:
    try:
        return unexpected_rows(dsn, gate, batch)
    except RuntimeError as error:
        kind = GateInterruptedError if _INTERRUPTED.search(str(error)) else GateError
        raise kind(f"the {gate} gate cannot work: {error}") from error


def _checks(gate: Gate, by_rule: dict[str, Unexpected]) -> tuple[store.Check, ...]:
    return tuple(
        store.Check(rule.name, rule.level.value, by_rule[rule.name].count, by_rule[rule.name].rows[:_KEPT_ROWS])
        for rule in rules_of(gate)
    )
