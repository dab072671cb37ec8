"""Facts: what plans, findings, gates and stored rows say, as a code with named arguments.

``render`` alone makes words of them. A fact is data: it is hashed, stored and verified, and its wording may change at
any time. Arguments are JSON values with their unit in the name (``copied_bytes``, ``times_share``), ids, names, lists
of these, and further facts. Example: ``fact(FactCode.BROKER_OUTSIDE_BAND, broker=3, resource="disk", times_mean=1.4)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class FactCode(StrEnum):
    """Every code, by the part that says it. A code is its value in JSON and SQL, and never changes its meaning."""

    # Moves of a plan: why each is made, and what is worse without it.
    RELIEVES_BROKER = "relieves_broker"
    FILLS_BROKER = "fills_broker"
    MAKES_UP_FOR_MOVES = "makes_up_for_moves"
    ONE_OF_SEVERAL = "one_of_several"
    RAISES_REPLICATION_FACTOR = "raises_replication_factor"
    LOWERS_REPLICATION_FACTOR = "lowers_replication_factor"
    SEPARATES_RACKS = "separates_racks"
    LEAVES_FORBIDDEN_BROKER = "leaves_forbidden_broker"
    LEAVES_OFFLINE_LOG_DIR = "leaves_offline_log_dir"
    LEAVES_BROKER = "leaves_broker"
    DROPS_OUT_OF_SYNC = "drops_out_of_sync"
    ELECTS_PREFERRED = "elects_preferred"
    KEEPS_LEADER = "keeps_leader"
    NAMES_NEXT_LEADER = "names_next_leader"
    LEAVES_DEMOTED_LEADER = "leaves_demoted_leader"
    KEEPS_WITHIN_CAPACITY = "keeps_within_capacity"
    HAS_TOPIC_LEADERS = "has_topic_leaders"
    BROKER_FURTHER_OFF = "broker_further_off"
    OFF_ONLY_TOGETHER = "off_only_together"
    NO_LOAD_CHANGES = "no_load_changes"
    KEEPS_TOO_FEW_REPLICAS = "keeps_too_few_replicas"
    KEEPS_TOO_MANY_REPLICAS = "keeps_too_many_replicas"
    SHARES_RACK = "shares_rack"
    STAYS_ON_FORBIDDEN_BROKER = "stays_on_forbidden_broker"
    STAYS_OFFLINE = "stays_offline"
    STAYS_ON_BROKER = "stays_on_broker"
    GOES_ON_LEADING = "goes_on_leading"
    LOSES_LEADER_AT_ELECTION = "loses_leader_at_election"
    TAKES_OVER_TOO_MUCH = "takes_over_too_much"
    ABOVE_CAPACITY = "above_capacity"
    LEADS_TOO_FEW = "leads_too_few"

    # What each broker gives and gets, and what must still be true when a plan is executed.
    BROKER_CHANGES = "broker_changes"
    REPLICAS_AS_PLANNED = "replicas_as_planned"
    BROKERS_ALIVE = "brokers_alive"
    KEPT_REPLICAS_IN_SYNC = "kept_replicas_in_sync"
    ADDED_BROKERS_JOINED = "added_brokers_joined"
    FREE_DISK_LEFT = "free_disk_left"
    BALANCER_STOPPED = "balancer_stopped"
    VERDICT_HOLDS = "verdict_holds"

    # Verdict, notes and causes of a plan.

    # Causes that no plan keeps every hard rule.

    # Findings about brokers, topics and the cluster.

    # Findings and advice about groups.

    # Gaps of a snapshot, gates, runs.


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact. ``args`` holds plain JSON values, tuples of them, and facts."""

    code: FactCode
    args: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the JSON object ``{"code": ..., "args": {...}}``."""
        return {"code": self.code.value, "args": {name: _plain(value) for name, value in self.args.items()}}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Fact:
        """Return the fact of a JSON object. Raises ValueError for an unknown code."""
        return cls(FactCode(document["code"]), {name: _typed(value) for name, value in document["args"].items()})


def fact(code: FactCode, **args: Any) -> Fact:
    """Return the fact with its arguments by name."""
    return Fact(code, args)


def _plain(value: Any) -> Any:
    if isinstance(value, Fact):
        return value.document()
    return [_plain(part) for part in value] if isinstance(value, (tuple, list)) else value


def _typed(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_typed(part) for part in value)
    is_fact = isinstance(value, Mapping) and value.keys() == {"code", "args"}
    return Fact.from_document(value) if is_fact else value
