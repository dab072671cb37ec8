"""The registry of gate rules: what each refuses, its level and its message. Their SQL is ``sql/checks/NAME.sql``.

Database constraints see one row; these rules see a whole reading or a whole advisory. Real trouble (a dead broker, a
violated rack) passes: it is what the advisor is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
    """One rule. ``says`` follows "3 rows: "; a quarantine's rows name who is left out in their column ``subject``."""

    name: str
    gate: Gate
    level: Level
    says: str
    subject_type: str | None = None

    def __post_init__(self) -> None:
        if (self.level is Level.QUARANTINE) != (self.subject_type is not None):
            raise ValueError(f"rule {self.name}: a quarantine, and nothing else, says what kind of subject it holds")


RULES: tuple[Rule, ...] = (
    Rule("partition_listed_twice", Gate.INPUT, Level.BLOCK, "a partition is listed more than once"),
    Rule("broker_twice_in_replicas", Gate.INPUT, Level.BLOCK, "a replica list is empty or names a broker twice"),
    Rule("replica_on_unknown_broker", Gate.INPUT, Level.BLOCK, "a replica is on a broker that is not listed"),
    Rule(
        "replica_lists_disagree",
        Gate.INPUT,
        Level.BLOCK,
        "leader, ISR or reassignment name a broker that holds no replica, or sizes do not fit the replicas",
    ),
    Rule("rows_are_missing", Gate.INPUT, Level.BLOCK, "the reading announces other numbers of rows than it has"),
    Rule("load_impossible", Gate.INPUT, Level.BLOCK, "a load is negative, infinite or of an unknown partition"),
    Rule("group_vanished", Gate.INPUT, Level.QUARANTINE, "the group was deleted while the cluster was read", "group"),
    Rule(
        "member_reads_unsubscribed",
        Gate.INPUT,
        Level.QUARANTINE,
        "a member owns or reads a topic that it does not subscribe to",
        "group",
    ),
    Rule("partition_read_twice", Gate.INPUT, Level.QUARANTINE, "two members read the same partition", "group"),
    Rule("offsets_backwards", Gate.INPUT, Level.QUARANTINE, "a partition starts behind its end", "topic"),
    Rule("committed_beyond_end", Gate.INPUT, Level.WARN, "a group committed behind the end of a partition"),
    Rule(
        "clock_ahead",
        Gate.INPUT,
        Level.BLOCK,
        "the reading is ahead of the store's clock: set the clock of the machine that read the cluster right",
    ),
    Rule(
        "move_disagrees_with_snapshot",
        Gate.RESULTS,
        Level.BLOCK,
        "a move does not start where the reading shows its partition, or moves it twice",
    ),
    Rule(
        "move_to_unfit_broker",
        Gate.RESULTS,
        Level.BLOCK,
        "a move goes to a broker that does not stay, names one twice, or has its leader outside",
    ),
    Rule("plan_does_not_add_up", Gate.RESULTS, Level.BLOCK, "the plan's cost is not the sum of its moves"),
    Rule(
        "scores_do_not_add_up", Gate.RESULTS, Level.BLOCK, "totals, skew or the plan's start differ from broker loads"
    ),
    Rule(
        "group_scores_are_incomplete",
        Gate.RESULTS,
        Level.BLOCK,
        "a group is not scored as it is today exactly once, is unknown, or is advised though in quarantine",
    ),
    Rule(
        "member_scores_do_not_add_up",
        Gate.RESULTS,
        Level.BLOCK,
        "a group's members read more partitions than it has, or are unknown",
    ),
    Rule("finding_of_unknown_subject", Gate.RESULTS, Level.WARN, "a finding is about something that was not read"),
)


def rules_of(gate: Gate) -> tuple[Rule, ...]:
    """The rules of one gate, in the order in which they are told."""
    return tuple(rule for rule in RULES if rule.gate is gate)
