"""The plan's ``parameters``, read from its document: each field checked, nothing assumed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kafka_rebalance.verify.faults import FaultList


@dataclass(frozen=True, slots=True)
class PlanParameters:
    """The parameters that bind a plan. Regular expressions match a whole topic name."""

    balance_within: float | None
    targets: Mapping[str, tuple[float | None, float | None]]
    caps: Mapping[str, float]
    max_move_bytes: int | None
    max_moves: int | None
    max_leader_changes: int | None
    remove_brokers: frozenset[int]
    add_brokers: Mapping[int, str | None]
    demote_brokers: frozenset[int]
    exclude_brokers: frozenset[int]
    replication_factor: int | None
    leaders_only: bool
    preferred_election: bool
    include_topics: tuple[str, ...]
    exclude_topics: tuple[str, ...]
    capacities: Mapping[int, Mapping[str, float]]
    moves_per_broker: int
    partitions_per_wave: int
    max_leader_changes_per_wave: int | None
    throttle_bytes_per_s: int
    is_explicit: bool
    is_within_ordered: bool
    dead_band: float
    least_gain_per_byte: float
    remove_racks: frozenset[str]
    headroom: Mapping[str, float]
    max_reorders: int
    topic_brokers: tuple[tuple[str, frozenset[int], frozenset[str]], ...]
    max_hours: float | None
    survive: str | None
    also_balance: frozenset[str]
    min_topic_leaders: tuple[tuple[str, int], ...]

    @property
    def has_budget(self) -> bool:
        """A plan may stop before everything is done."""
        limits = (self.max_move_bytes, self.max_moves, self.max_leader_changes, self.max_hours)
        return any(limit is not None for limit in limits)

    @property
    def moves_replicas(self) -> bool:
        """Replicas may be moved at all."""
        return not (self.leaders_only or self.preferred_election)

    def is_topic_allowed(self, name: str) -> bool:
        """Included (or nothing is included by name), and not excluded."""
        is_in = not self.include_topics or any(re.fullmatch(pattern, name) for pattern in self.include_topics)
        return is_in and not any(re.fullmatch(pattern, name) for pattern in self.exclude_topics)

    def may_be_on(self, topic: str, broker: int, rack: str | None) -> bool:
        """No rule that is about the topic keeps it from the broker."""
        mine = (rule for rule in self.topic_brokers if re.fullmatch(rule[0], topic))
        return all(broker in brokers or (rack is not None and rack in racks) for _, brokers, racks in mine)


def read_parameters(parameters: Mapping[str, Any], faults: FaultList) -> PlanParameters | None:
    """The parameters, or None where the parameters cannot be read (then a fault names the reason)."""
    try:
        return PlanParameters(
            balance_within=_number(parameters["balance_within"]),
            targets={name: (_number(low), _number(high)) for name, (low, high) in parameters["targets"].items()},
            caps={name: float(cap) for name, cap in parameters["caps"].items()},
            max_move_bytes=_number(parameters["max_move_bytes"]),
            max_moves=_number(parameters["max_moves"]),
            max_leader_changes=_number(parameters["max_leader_changes"]),
            remove_brokers=frozenset(map(int, parameters["remove_brokers"])),
            add_brokers={int(broker): rack or None for broker, rack in parameters["add_brokers"].items()},
            demote_brokers=frozenset(map(int, parameters["demote_brokers"])),
            exclude_brokers=frozenset(map(int, parameters["exclude_brokers"])),
            replication_factor=_number(parameters["replication_factor"]),
            leaders_only=bool(parameters["leaders_only"]),
            preferred_election=bool(parameters["preferred_election"]),
            include_topics=tuple(re.compile(pattern).pattern for pattern in parameters["include_topics"]),
            exclude_topics=tuple(re.compile(pattern).pattern for pattern in parameters["exclude_topics"]),
            capacities={
                int(broker): {name: float(value) for name, value in capacity.items() if value is not None}
                for broker, capacity in parameters["capacities"].items()
            },
            moves_per_broker=int(parameters["moves_per_broker"]),
            partitions_per_wave=int(parameters["partitions_per_wave"]),
            max_leader_changes_per_wave=_number(parameters["max_leader_changes_per_wave"]),
            throttle_bytes_per_s=int(parameters["throttle_bytes_per_s"]),
            is_explicit=bool(parameters["is_explicit"]),
            is_within_ordered=parameters["is_within_ordered"],
            dead_band=float(parameters["dead_band"]),
            least_gain_per_byte=float(parameters["least_gain_per_byte"]),
            remove_racks=frozenset(parameters["remove_racks"]),
            headroom={name: float(share) for name, share in parameters["headroom"].items()},
            max_reorders=int(parameters["max_reorders"]),
            topic_brokers=tuple(
                (re.compile(rule["pattern"]).pattern, frozenset(rule["brokers"]), frozenset(rule["racks"]))
                for rule in parameters["topic_brokers"]
            ),
            max_hours=_number(parameters["max_hours"]),
            survive=parameters["survive"],
            also_balance=frozenset(parameters["also_balance"]),
            min_topic_leaders=tuple(
                (re.compile(rule["pattern"]).pattern, int(rule["leaders"])) for rule in parameters["min_topic_leaders"]
            ),
        )
    except (KeyError, TypeError, ValueError, AttributeError, re.error) as error:
        faults.add("shape", "plan.parameters", f"cannot be read ({type(error).__name__}: {error})")
        return None


def _number(value: Any) -> Any:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise ValueError(f"{value!r} is no number")
