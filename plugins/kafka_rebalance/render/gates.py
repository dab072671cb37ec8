"""What is wrong where a rule of a gate is broken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from kafka_rebalance.facts import FactCode

RULE_WORDS: Mapping[FactCode, str] = MappingProxyType(
    {
        FactCode.PARTITION_LISTED_TWICE: "a partition is listed more than once",
        FactCode.BROKER_TWICE_IN_REPLICAS: "a replica list is empty or names a broker twice",
        FactCode.REPLICA_ON_UNKNOWN_BROKER: "a replica is on a broker that is not listed",
        FactCode.REPLICA_LISTS_DISAGREE: (
            "leader, ISR or reassignment name a broker that holds no replica, or sizes do not fit the replicas"
        ),
        FactCode.ROWS_ARE_MISSING: "the reading announces other numbers of rows than it has",
        FactCode.LOAD_IMPOSSIBLE: "a load is negative, infinite or of an unknown partition",
        FactCode.GROUP_VANISHED: "the group was deleted while the cluster was read",
        FactCode.MEMBER_READS_UNSUBSCRIBED: "a member owns or reads a topic that it does not subscribe to",
        FactCode.PARTITION_READ_TWICE: "two members read the same partition",
        FactCode.OFFSETS_BACKWARDS: "a partition starts behind its end",
        FactCode.COMMITTED_BEYOND_END: "a group committed behind the end of a partition",
        FactCode.CLOCK_AHEAD: (
            "the reading is ahead of the store's clock: set the clock of the machine that read the cluster right"
        ),
        FactCode.MOVE_DISAGREES_WITH_SNAPSHOT: (
            "a move does not start where the reading shows its partition, or moves it twice"
        ),
        FactCode.MOVE_TO_UNFIT_BROKER: (
            "a move goes to a broker that does not stay, names one twice, or has its leader outside"
        ),
        FactCode.PLAN_DOES_NOT_ADD_UP: "the plan's cost is not the sum of its moves",
        FactCode.SCORES_DO_NOT_ADD_UP: "totals, skew or the plan's start differ from broker loads",
        FactCode.GROUP_SCORES_ARE_INCOMPLETE: (
            "a group is not scored as it is today exactly once, is unknown, or is advised though in quarantine"
        ),
        FactCode.MEMBER_SCORES_DO_NOT_ADD_UP: "a group's members read more partitions than it has, or are unknown",
        FactCode.FINDING_OF_UNKNOWN_SUBJECT: "a finding is about something that was not read",
    }
)


def _said(words: str) -> Callable[..., str]:
    """Return a message without arguments."""
    return lambda: words


GATES: Mapping[FactCode, Callable[..., str]] = MappingProxyType(
    {code: _said(words) for code, words in RULE_WORDS.items()}
)
