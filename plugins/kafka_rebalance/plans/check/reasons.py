"""Why a plan is valid, stale, not worth it or harmful: one registry of codes, each with the status that it implies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

from kafka_rebalance.facts import Fact, FactCode, fact
from kafka_rebalance.plans.params import DEFAULTS


class PlanStatus(IntEnum):
    """The values are the exit codes of ``rebalance-advisor check``."""

    VALID = 0
    STALE = 10
    NOT_WORTH_IT = 11
    HARMFUL = 12


class ReasonCode(StrEnum):
    """What a check found, of which a status follows; facts beside a code say of what."""

    MOVES_LEFT = "moves_left"
    STILL_NOTHING_TO_DO = "still_nothing_to_do"

    SNAPSHOT_OLDER = "snapshot_older"  # it was read before the plan's own
    ANOTHER_CLUSTER = "another_cluster"  # no id tells, but what the plan saw is not there
    EXPIRED = "expired"
    TOPIC_DELETED = "topic_deleted"
    TOPIC_RECREATED = "topic_recreated"  # another topic of the same name
    PARTITION_DELETED = "partition_deleted"
    PARTITIONS_ADDED = "partitions_added"  # to a topic that moves
    PARTITION_MOVED = "partition_moved"  # neither where it was nor where the plan sends it
    REPLICATION_FACTOR_CHANGED = "replication_factor_changed"
    BROKER_ADDED = "broker_added"
    BROKER_LOST = "broker_lost"  # gone or dead since, and no target of a move
    BROKER_BACK = "broker_back"  # dead then, alive now
    RACKS_GONE = "racks_gone"
    RACK_CHANGED = "rack_changed"
    SOMETHING_TO_DO = "something_to_do"  # by now, where the plan said that there is nothing
    NOT_SEEN = "not_seen"  # the snapshot shows too little to tell: rights, silence
    NO_PLAN_TO_KEEP = "no_plan_to_keep"  # its verdict advised nothing that could hold or not

    ALL_DONE = "all_done"
    GAINS_TOO_LITTLE = "gains_too_little"
    BALANCED_ALREADY = "balanced_already"

    IN_REASSIGNMENT = "in_reassignment"  # a partition of the plan is being moved elsewhere
    TARGET_GONE = "target_gone"  # not in the cluster, or not yet
    TARGET_UNUSABLE = "target_unusable"  # dead, fenced, or taking no replicas
    NO_LEADER = "no_leader"
    OUT_OF_SYNC = "out_of_sync"  # a replica that its list keeps: no reassignment ends before, nor may it lead
    OVER_CAPACITY = "over_capacity"
    RACKS_SHARED = "racks_shared"
    BALANCE_WORSE = "balance_worse"
    FOREIGN_REASSIGNMENT = "foreign_reassignment"  # begun since, of partitions that the plan leaves alone
    UNDER_MIN_ISR = "under_min_isr"  # copying takes from brokers that have to catch up first

    SIZES_CHANGED = "sizes_changed"  # by more than a tenth: what it copies and what it promises is not what it was
    CAPACITY_CHANGED = "capacity_changed"
    STILL_REASSIGNING = "still_reassigning"  # what was, when the plan was made: its commands start beside that


STATUS_OF = (
    dict.fromkeys(ReasonCode, PlanStatus.STALE)
    | dict.fromkeys((ReasonCode.MOVES_LEFT, ReasonCode.STILL_NOTHING_TO_DO), PlanStatus.VALID)
    | dict.fromkeys(
        (ReasonCode.SIZES_CHANGED, ReasonCode.CAPACITY_CHANGED, ReasonCode.STILL_REASSIGNING), PlanStatus.VALID
    )  # warnings
    | dict.fromkeys(
        (ReasonCode.ALL_DONE, ReasonCode.GAINS_TOO_LITTLE, ReasonCode.BALANCED_ALREADY), PlanStatus.NOT_WORTH_IT
    )
    | dict.fromkeys(
        (
            ReasonCode.IN_REASSIGNMENT,
            ReasonCode.TARGET_GONE,
            ReasonCode.TARGET_UNUSABLE,
            ReasonCode.NO_LEADER,
            ReasonCode.OUT_OF_SYNC,
            ReasonCode.OVER_CAPACITY,
            ReasonCode.RACKS_SHARED,
            ReasonCode.BALANCE_WORSE,
            ReasonCode.FOREIGN_REASSIGNMENT,
            ReasonCode.UNDER_MIN_ISR,
        ),
        PlanStatus.HARMFUL,
    )
)
_ORDER = (PlanStatus.VALID, PlanStatus.NOT_WORTH_IT, PlanStatus.STALE, PlanStatus.HARMFUL)


@dataclass(frozen=True, slots=True)
class Reason:
    """A code, and the facts behind it."""

    code: ReasonCode
    facts: tuple[Fact, ...]

    @property
    def status(self) -> PlanStatus:
        """What this reason alone would make of the plan."""
        return STATUS_OF[self.code]

    def document(self) -> dict[str, Any]:
        """Return the JSON object ``{"code": ..., "facts": [...]}``."""
        return {"code": self.code.value, "facts": [fact.document() for fact in self.facts]}


def reason(code: ReasonCode, fact_code: FactCode, **args: Any) -> Reason:
    """Return the reason of one fact."""
    return Reason(code, (fact(fact_code, **args),))


def worst(reasons: Iterable[Reason]) -> PlanStatus:
    """Harmful before stale before not worth it before valid."""
    return max((one.status for one in reasons), key=_ORDER.index, default=PlanStatus.VALID)


def shortened(reasons: Iterable[Reason], most: int = DEFAULTS.check.reasons_per_code) -> tuple[Reason, ...]:
    """At most ``most`` of each code, and how many more there are; codes in the order in which they come."""
    by_code: dict[ReasonCode, list[Reason]] = {}
    for one in reasons:
        by_code.setdefault(one.code, []).append(one)
    kept: list[Reason] = []
    for code, same in by_code.items():
        kept += same[:most]
        if len(same) > most:
            kept.append(reason(code, FactCode.AND_MORE, count=len(same) - most))
    return tuple(kept)
