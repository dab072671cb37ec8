"""The registry of gate rules: codes and levels. SQL is in ``sql/checks/NAME.sql``, sentences in ``render.coverage``.

Database constraints see one row; these rules see a whole reading or a whole advisory. Real trouble (a dead broker, a
violated rack) passes: it is what the advisor is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from kafka_rebalance.facts import FactCode


class Gate(StrEnum):
    """Which door a rule guards."""

    INPUT = "input"  # a snapshot, before anything is computed from it
    RESULTS = "results"  # a run, before it is published


class Level(StrEnum):
    """What a broken rule means."""

    BLOCK = "block"  # incoherent: the run stops
    QUARANTINE = "quarantine"  # one subject is odd: advice leaves it out
    WARN = "warn"  # said, nothing else


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. A quarantine's rows name who is left out in their column ``subject``."""

    code: FactCode
    gate: Gate
    level: Level
    subject_type: str | None = None

    @property
    def name(self) -> str:
        """The code as files, rows and logs have it."""
        return self.code.value

    def __post_init__(self) -> None:
        if (self.level is Level.QUARANTINE) != (self.subject_type is not None):
            raise ValueError(f"rule {self.name}: a quarantine, and nothing else, says what kind of subject it holds")


RULES: tuple[Rule, ...] = (
    Rule(FactCode.PARTITION_LISTED_TWICE, Gate.INPUT, Level.BLOCK),
    Rule(FactCode.BROKER_TWICE_IN_REPLICAS, Gate.INPUT, Level.BLOCK),
    Rule(FactCode.REPLICA_ON_UNKNOWN_BROKER, Gate.INPUT, Level.BLOCK),
    Rule(FactCode.REPLICA_LISTS_DISAGREE, Gate.INPUT, Level.BLOCK),
    Rule(FactCode.ROWS_ARE_MISSING, Gate.INPUT, Level.BLOCK),
    Rule(FactCode.LOAD_IMPOSSIBLE, Gate.INPUT, Level.BLOCK),
    Rule(FactCode.GROUP_VANISHED, Gate.INPUT, Level.QUARANTINE, "group"),
    Rule(FactCode.MEMBER_READS_UNSUBSCRIBED, Gate.INPUT, Level.QUARANTINE, "group"),
    Rule(FactCode.PARTITION_READ_TWICE, Gate.INPUT, Level.QUARANTINE, "group"),
    Rule(FactCode.OFFSETS_BACKWARDS, Gate.INPUT, Level.QUARANTINE, "topic"),
    Rule(FactCode.COMMITTED_BEYOND_END, Gate.INPUT, Level.WARN),
    Rule(FactCode.CLOCK_AHEAD, Gate.INPUT, Level.BLOCK),
    Rule(FactCode.MOVE_DISAGREES_WITH_SNAPSHOT, Gate.RESULTS, Level.BLOCK),
    Rule(FactCode.MOVE_TO_UNFIT_BROKER, Gate.RESULTS, Level.BLOCK),
    Rule(FactCode.PLAN_DOES_NOT_ADD_UP, Gate.RESULTS, Level.BLOCK),
    Rule(FactCode.SCORES_DO_NOT_ADD_UP, Gate.RESULTS, Level.BLOCK),
    Rule(FactCode.GROUP_SCORES_ARE_INCOMPLETE, Gate.RESULTS, Level.BLOCK),
    Rule(FactCode.MEMBER_SCORES_DO_NOT_ADD_UP, Gate.RESULTS, Level.BLOCK),
    Rule(FactCode.FINDING_OF_UNKNOWN_SUBJECT, Gate.RESULTS, Level.WARN),
)


def rules_of(gate: Gate) -> tuple[Rule, ...]:
    """The rules of one gate, in the order in which they are told."""
    return tuple(rule for rule in RULES if rule.gate is gate)
