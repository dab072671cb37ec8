"""The two gates: run every rule, keep the results in Postgres, decide what follows."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kafka_assignors.errors import AdvisorError
from kafka_assignors.visible_text import visible
from kafka_rebalance.facts import Fact, FactCode
from kafka_rebalance.render import render
from rebalance_advisor import store
from rebalance_advisor.gates.expectations import Unexpected, unexpected_rows
from rebalance_advisor.gates.rules import Gate, Level, Rule, rules_of

# Great Expectations keeps of a database's error only its text.
_INTERRUPTED = re.compile(
    "OperationalError|InterfaceError|AdminShutdown|CrashShutdown|server closed the connection|terminating connection"
)


class GateError(AdvisorError):
    """A rule could not be asked: nothing passes a gate that does not work."""


class GateInterruptedError(GateError):
    """The database went away while a gate asked its rules."""


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a gate found. ``quarantined`` are the subjects that advice leaves out."""

    gate: Gate
    subject: str
    checks: tuple[store.Check, ...]
    quarantined: tuple[store.Quarantined, ...] = ()

    @property
    def is_blocked(self) -> bool:
        """A rule of level ``block`` was broken: the run stops."""
        return any(check.level == Level.BLOCK and not check.is_passed for check in self.checks)

    def __str__(self) -> str:
        broken = [check_words(check) for check in self.checks if not check.is_passed]
        return "\n".join(map(visible, broken)) or f"all {len(self.checks)} rules passed"


def check_words(check: store.Check) -> str:
    """Return rule, level, what is wrong, and the first rows; for logs and errors."""
    return f"{check.rule} ({check.level}): {render(Fact(FactCode(check.rule)))}: {check.first_rows}"


def check_input(dsn: str, snapshot_id: str) -> GateResult:
    """Ask the input rules about a stored snapshot, keep the answers, and mark it passed or blocked.

    Raises StoreError for an unknown snapshot, GateError where a rule cannot be asked.
    """
    with store.connect(dsn) as connection:
        batch = store.snapshot_batch(connection, snapshot_id)
        answers = _ask(dsn, batch, Gate.INPUT)
        checks = tuple(_check(rule, answer) for rule, answer in answers.items())
        quarantined = tuple(
            held
            for rule, answer in answers.items()
            if rule.level is Level.QUARANTINE and answer.count
            for held in _held(rule, answer)
        )
        store.record_input_checks(connection, snapshot_id, checks, quarantined)
    return GateResult(Gate.INPUT, snapshot_id, checks, quarantined)


def check_results(dsn: str, run_id: str) -> GateResult:
    """Ask the result rules about a run, and keep the answers; a blocked run cannot be published until it runs again.

    Raises RunPublishedError for a published run, StoreError for an unknown one, GateError where a rule cannot be asked.
    """
    with store.connect(dsn) as connection:
        answers = _ask(dsn, store.run_batch(connection, run_id), Gate.RESULTS)
        checks = tuple(_check(rule, answer) for rule, answer in answers.items())
        store.record_result_checks(connection, run_id, checks)
    return GateResult(Gate.RESULTS, run_id, checks)


def _ask(dsn: str, batch: str, gate: Gate) -> dict[Rule, Unexpected]:
    rules = rules_of(gate)
    try:
        queries = {
            rule.name: store.rule_query(rule.name, has_subjects=rule.level is Level.QUARANTINE) for rule in rules
        }
        found = unexpected_rows(dsn, batch, queries)
    except RuntimeError as error:
        kind = GateInterruptedError if _INTERRUPTED.search(str(error)) else GateError
        raise kind(f"the {gate} gate cannot work: {error}") from error
    return {rule: found[rule.name] for rule in rules}


def _check(rule: Rule, answer: Unexpected) -> store.Check:
    return store.Check(rule.name, rule.level.value, answer.count, answer.rows)


def _held(rule: Rule, answer: Unexpected) -> list[store.Quarantined]:
    return [store.Quarantined(str(rule.subject_type), subject, rule.name) for subject in answer.subjects]
