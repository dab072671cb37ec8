from __future__ import annotations

import re
from dataclasses import dataclass

from kafka_assignors.errors import AdvisorError
from kafka_assignors.visible_text import visible
from kafka_rebalance.facts import Fact, FactCode
from kafka_rebalance.render import render
from rebalance_advisor import store
from rebalance_advisor.gates.expectations import Unexpected, unexpected_rows
from rebalance_advisor.gates.rules import Gate, Level, rules_of

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
        broken = [check_words(check) for check in self.checks if not check.is_passed]
        return "\n".join(map(visible, broken)) or f"all {len(self.checks)} rules passed"


def check_words(check: store.Check) -> str:
    return f"{check.rule} ({check.level}): {render(Fact(FactCode(check.rule)))}: {check.first_rows}"


def check_input(dsn: str, snapshot_id: str) -> GateResult:
    """Mark the snapshot passed or blocked."""
    with store.connect(dsn) as connection:
        store.require_snapshot(connection, snapshot_id)
        found = _evaluate(dsn, Gate.INPUT, snapshot_id)
        quarantined = tuple(
            store.Quarantined(str(rule.subject_type), subject, rule.name)
            for rule in rules_of(Gate.INPUT)
            if rule.level is Level.QUARANTINE and found[rule.name].count
            for subject in store.broken_subjects(connection, rule.name, snapshot_id)
        )
        checks = _checks(Gate.INPUT, found)
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


def _checks(gate: Gate, found: dict[str, Unexpected]) -> tuple[store.Check, ...]:
    return tuple(
        store.Check(rule.name, rule.level.value, found[rule.name].count, found[rule.name].rows[:_KEPT_ROWS])
        for rule in rules_of(gate)
    )
