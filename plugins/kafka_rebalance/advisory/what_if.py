"""A cluster today and after each scenario. A plan here is for a cluster that does not exist, so only its figures are
shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.groups.scenarios import changed_groups
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.plans.searches import PlanQuestion, planned
from kafka_rebalance.scenarios.scenario import Scenario, scenario_document
from kafka_rebalance.scoring.scores import ClusterScores, GroupScore
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.partition_table import NO_LEADER

FORMAT = "kafka-rebalance-what-if"
FORMAT_VERSION = 1
_OF_PLAN = ("verdict", "reasons", "cost", "lower_bound", "left_out")


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """A cluster after a scenario, or today (``scenario`` is ``None``)."""

    scenario: Scenario | None
    snapshot: ClusterSnapshot
    scores: ClusterScores
    groups: tuple[GroupScore, ...] = ()
    plan: Plan | None = None

    @property
    def name(self) -> str:
        return "today" if self.scenario is None else self.scenario.name

    @property
    def brokers_in_service(self) -> int:
        return sum(broker.state.is_responsive for broker in self.snapshot.brokers)

    @property
    def partitions_without_leader(self) -> int:
        return int((self.snapshot.partitions.leader == NO_LEADER).sum())

    def document(self) -> dict[str, Any]:
        plan = None if self.plan is None else self.plan.document
        return {
            "name": self.name,
            "scenario": None if self.scenario is None else scenario_document(self.scenario),
            "brokers_in_service": self.brokers_in_service,
            "partitions_without_leader": self.partitions_without_leader,
            "resources": [asdict(level) for level in levels(self.scores)],
            "racks": [asdict(rack) for rack in self.scores.racks],
            "left_out": {name: why.document() for name, why in self.scores.left_out.items()},
            "plan": None if plan is None else {name: plan[name] for name in _OF_PLAN},
            "groups": [row.document() for row in self.groups],
        }


@dataclass(frozen=True, slots=True)
class Level:
    resource: str
    unit: str
    highest: float
    broker: int
    capacity: float | None
    over_mean: float
    above_capacity: tuple[int, ...]
    fullest_rack: str | None
    fullest_rack_over_mean: float | None


def levels(scores: ClusterScores) -> Iterator[Level]:
    for resource in scores.resources:
        staying = [broker for broker in scores.of_resource(resource.resource) if broker.stays]
        if not staying:
            continue
        fullest = max(staying, key=lambda broker: broker.level)
        racks = [rack for rack in scores.racks if rack.resource == resource.resource]
        rack = max(racks, key=lambda rack: rack.level, default=None)
        yield Level(
            resource=resource.resource,
            unit=resource.unit,
            highest=fullest.load,
            broker=fullest.broker,
            capacity=fullest.capacity,
            over_mean=fullest.over_mean,
            above_capacity=tuple(
                broker.broker for broker in staying if broker.capacity is not None and broker.load > broker.capacity
            ),
            fullest_rack=None if rack is None else rack.rack,
            fullest_rack_over_mean=None if rack is None else rack.over_mean,
        )


def outcomes(snapshot: ClusterSnapshot, scenarios: Sequence[Scenario], *, seed: int = 0) -> tuple[Outcome, ...]:
    """Return today, then each scenario. Raises InvalidInputError for one that does not fit."""
    changed = [(scenario, scenario.applied(snapshot, seed)) for scenario in scenarios]
    return tuple(Outcome(scenario, after, score_cluster(after)) for scenario, after in [(None, snapshot), *changed])


def with_groups(found: tuple[Outcome, ...]) -> tuple[Outcome, ...]:
    before = tuple(group_inputs(found[0].snapshot))
    changed = changed_groups(before, {one.scenario: one.snapshot for one in found if one.scenario is not None})
    rows: list[GroupScore] = []
    for group_input in before:
        if group_input.group.id in changed:
            rows += replay_group(group_input, changed=changed[group_input.group.id]).scenarios
    return tuple(replace(one, groups=tuple(row for row in rows if row.scenario == one.name)) for one in found)


def with_plans(
    found: tuple[Outcome, ...],
    options: PlanOptions,
    *,
    seed: int = 0,
    advisor_version: str = "",
    progress: Callable[[str], None] = lambda _: None,
) -> tuple[Outcome, ...]:
    without_frontier = replace(options, with_frontier=False)
    with_plan: list[Outcome] = []
    for one in found:
        progress(f"planning: {one.name}")
        question = PlanQuestion(one.snapshot, without_frontier, seed, advisor_version=advisor_version)
        with_plan.append(replace(one, plan=planned(question).plan))
    return tuple(with_plan)


def what_if_document(found: tuple[Outcome, ...], seed: int) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "cluster": found[0].snapshot.cluster,
        "seed": seed,
        "outcomes": [one.document() for one in found],
    }
