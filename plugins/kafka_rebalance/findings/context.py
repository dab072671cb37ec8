"""The input of every rule."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kafka_rebalance.facts import Fact
from kafka_rebalance.findings.finding import CODES, Actor, Confidence, Finding, Severity
from kafka_rebalance.groups.group_input import GroupInput, group_inputs
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.kinds import GroupKind, kind_of
from kafka_rebalance.groups.motion import GroupMotion, motion_of
from kafka_rebalance.plans.hours_outside import HoursOutside
from kafka_rebalance.plans.plan import Plan, ResourceOutcome
from kafka_rebalance.scoring.scores import ClusterScores
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, Group


@dataclass(frozen=True, slots=True)
class BrokerEffect:
    """``bytes_out``: of replicas that leave the broker, ``bytes_in``: copied to it; None with an unknown size.

    A replica counts with its leader's size, as in the plan.
    """

    replicas_out: int = 0
    bytes_out: float | None = 0.0
    replicas_in: int = 0
    bytes_in: float | None = 0.0
    leaders_out: int = 0
    leaders_in: int = 0

    @property
    def is_nothing(self) -> bool:
        return not (self.replicas_out or self.replicas_in or self.leaders_out or self.leaders_in)


NOTHING = BrokerEffect()


def effects_of(plan: Plan, snapshot: ClusterSnapshot) -> dict[int, BrokerEffect]:
    row_of, sizes = snapshot.row_of, snapshot.load(LoadKind.LOG_BYTES)
    tallies: defaultdict[int, _Tally] = defaultdict(_Tally)
    for move in plan.moves:
        size = float(sizes[row_of[move.topic, move.partition]])
        before, after = set(move.from_replicas), set(move.to_replicas)
        for broker in after - before:
            tallies[broker].replicas_in += 1
            tallies[broker].bytes_in += size
        for broker in before - after:
            tallies[broker].replicas_out += 1
            tallies[broker].bytes_out += size
        if move.leader_from != move.leader_to:
            if move.leader_from is not None:
                tallies[move.leader_from].leaders_out += 1
            tallies[move.leader_to].leaders_in += 1
    return {broker: tally.effect() for broker, tally in tallies.items()}


@dataclass(slots=True)
class _Tally:
    replicas_out: int = 0
    bytes_out: float = 0.0
    replicas_in: int = 0
    bytes_in: float = 0.0
    leaders_out: int = 0
    leaders_in: int = 0

    def effect(self) -> BrokerEffect:
        return BrokerEffect(
            self.replicas_out,
            None if isnan(self.bytes_out) else self.bytes_out,
            self.replicas_in,
            None if isnan(self.bytes_in) else self.bytes_in,
            self.leaders_out,
            self.leaders_in,
        )


def outcome_for(plan: Plan, resource: str, broker: int) -> tuple[float, float] | None:
    resource_outcome: ResourceOutcome | None = next(
        (outcome for outcome in plan.resources if outcome.resource == resource), None
    )
    if resource_outcome is None or broker not in resource_outcome.before or broker not in resource_outcome.after:
        return None
    return resource_outcome.before[broker], resource_outcome.after[broker]


Evidence = dict[str, Any]
# In a fact; others are counted.
MOST_NAMED = 50
_ESTIMATED = (LoadSource.ESTIMATED, LoadSource.UNKNOWN)


@dataclass(frozen=True, eq=False)  # no slots: cached_property needs __dict__
class FindingContext:
    snapshot: ClusterSnapshot
    scores: ClusterScores
    replays: Sequence[GroupReplay]
    plan: Plan | None = None
    hours: HoursOutside | None = None

    @cached_property
    def brokers(self) -> dict[int, Broker]:
        return {broker.id: broker for broker in self.snapshot.brokers}

    @cached_property
    def staying(self) -> tuple[int, ...]:
        return tuple(sorted(broker.id for broker in self.snapshot.brokers if broker.state.stays))

    @cached_property
    def serving(self) -> tuple[int, ...]:
        """Ids of remaining, responsive brokers."""
        return tuple(broker for broker in self.staying if self.brokers[broker].state.is_responsive)

    @cached_property
    def group_inputs(self) -> dict[str, GroupInput]:
        return {group_input.group.id: group_input for group_input in group_inputs(self.snapshot)}

    @cached_property
    def kinds(self) -> dict[str, GroupKind]:
        return {group.id: kind_of(group) for group in self.snapshot.groups}

    @cached_property
    def motions(self) -> dict[str, GroupMotion]:
        """Groups that are not judged, and why."""
        motion_by_group = {group.id: motion_of(group) for group in self.snapshot.groups}
        return {group: motion for group, motion in motion_by_group.items() if motion is not None}

    @cached_property
    def judged_groups(self) -> tuple[Group, ...]:
        return tuple(group for group in self.snapshot.groups if group.id not in self.motions)

    @cached_property
    def chosen_inputs(self) -> tuple[GroupInput, ...]:
        """Judged groups whose teams can choose the strategy."""
        return tuple(
            self.group_inputs[group.id] for group in self.judged_groups if self.kinds[group.id].has_choice
        )  # fmt: skip

    @cached_property
    def judged_inputs(self) -> tuple[GroupInput, ...]:
        return tuple(
            self.group_inputs[group.id] for group in self.judged_groups if group.members and group.type.has_strategy
        )

    @cached_property
    def chosen_replays(self) -> tuple[GroupReplay, ...]:
        chosen = {group_input.group.id for group_input in self.chosen_inputs}
        return tuple(replay for replay in self.replays if replay.group_id in chosen)

    @cached_property
    def plan_effects(self) -> dict[int, BrokerEffect]:
        return {} if self.plan is None else effects_of(self.plan, self.snapshot)

    @cached_property
    def topic_rows(self) -> dict[str, range]:
        begins = np.searchsorted(self.snapshot.partitions.topic, np.arange(len(self.snapshot.topics) + 1)).tolist()
        spans = zip(self.snapshot.topics, begins[:-1], begins[1:], strict=True)
        return {topic.name: range(begin, end) for topic, begin, end in spans}

    @cached_property
    def row_of(self) -> dict[tuple[str, int], int]:
        return self.snapshot.row_of

    def rows_of(self, group_input: GroupInput) -> npt.NDArray[np.int64]:
        spans = [self.topic_rows[topic] for topic in group_input.topics if topic in self.topic_rows]
        return np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(span.start, span.stop) for span in spans)])

    @property
    def has_rates_of_window(self) -> bool:
        """Whether write and read rates are of the same two snapshots, not of history."""
        column = self.snapshot.loads.column(LoadKind.IN_MESSAGES_PER_S)
        return column is not None and not column.source.is_of_history

    @cached_property
    def is_in_flight(self) -> npt.NDArray[np.bool_]:
        flags = np.zeros(len(self.snapshot.partitions), dtype=np.bool_)
        flags[sorted({*self.snapshot.partitions.adding, *self.snapshot.partitions.removing})] = True
        return flags

    def confidence(self, kind: LoadKind) -> Confidence:
        column = self.snapshot.loads.column(kind)
        if column is None:
            return Confidence.MEASURED
        if column.source is LoadSource.GIVEN:
            return Confidence.GIVEN
        return Confidence.ESTIMATED if column.source in _ESTIMATED else Confidence.MEASURED


def threshold(code: str, name: str) -> float:
    return CODES[code].thresholds[name]


class Remedy(NamedTuple):
    """``copied_bytes`` and ``changes`` (leader changes, partitions with a new reader, restarts) order costs."""

    recommendation: Fact
    cost: Fact | None = None
    gain: float = 0.0
    copied_bytes: float = 0.0
    changes: int = 0


def finding(
    code: str,
    severity: Severity,
    subject: object,
    evidence: Evidence,
    remedy: Remedy,
    *,
    confidence: Confidence = Confidence.STRUCTURAL,
) -> Finding:
    """Return a finding with sorted evidence."""
    return Finding(
        code=code,
        severity=severity,
        subject_type=CODES[code].subject_type,
        subject=str(subject),
        evidence={name: _plain(evidence[name]) for name in sorted(evidence)},
        recommendation=remedy.recommendation,
        actor=Actor.NONE if severity in (Severity.INFO, Severity.OK) else CODES[code].actor,
        cost=remedy.cost,
        gain=float(min(max(remedy.gain, 0.0), 1.0)),
        cost_bytes=float(remedy.copied_bytes),
        cost_changes=int(remedy.changes),
        confidence=confidence,
    )


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value
