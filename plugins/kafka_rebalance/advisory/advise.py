"""The whole way from a snapshot to an advisory, in one process: wiring, nothing else.

The pipeline goes the same steps apart: ``score_cluster``, ``replay_group`` and ``replay_topic`` in one Spark job,
``make_plan`` in another, ``evaluate_rules`` and ``verify_plan`` before it publishes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kafka_rebalance.advisory.advisory import advisory_document
from kafka_rebalance.findings.annotations.heavy_keys import with_heavy_keys
from kafka_rebalance.findings.annotations.ownership import with_owners
from kafka_rebalance.findings.annotations.rack_price import with_rack_price
from kafka_rebalance.findings.finding import Finding
from kafka_rebalance.findings.rules import evaluate_rules
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.replay_options import EVERYTHING, ReplayOptions
from kafka_rebalance.options.heavy_key import HeavyKeyOf
from kafka_rebalance.options.ownership import MuteRule, OwnerRule
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.placement.topic_replay import (
    TopicReplay,
    placement_brokers,
    placement_ground,
    replay_topic,
    topic_placements,
)
from kafka_rebalance.plans.hours_outside import HoursOutside, hours_outside
from kafka_rebalance.plans.params import DEFAULTS, PlanParams
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.plans.state import Watch, ignore
from kafka_rebalance.plans.verified_plan import verified
from kafka_rebalance.scoring.placement_scores import ClusterScores
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.history.hourly_loads import HourlyLoads
from kafka_rebalance.snapshot.model import ClusterSnapshot


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """Everything that one advisory says."""

    snapshot: ClusterSnapshot
    scores: ClusterScores
    groups: tuple[GroupReplay, ...]
    topics: tuple[TopicReplay, ...]
    plan: Plan
    findings: tuple[Finding, ...]
    hours: HoursOutside | None = None  # of the window of history, where one was asked for
    replay_options: ReplayOptions = EVERYTHING  # what the groups were asked

    def document(self) -> dict[str, Any]:
        """The object that all files are rendered from."""
        told = self.replay_options.told(self.snapshot)  # whose clients decides which steps a group takes
        return advisory_document(told, self.plan, self.findings, self.groups, self.topics, self.scores, self.hours)


def advise(
    snapshot: ClusterSnapshot,
    options: PlanOptions,
    *,
    replay_options: ReplayOptions = EVERYTHING,
    previous: Mapping[str, Any] | None = None,
    advisor_version: str = "",
    progress: Callable[[str], None] = lambda _: None,
    params: PlanParams = DEFAULTS,
    watch: Watch = ignore,
) -> Advice:
    """Score, replay, plan, verify, find; the plan has the seed of ``replay_options``.

    Raises InvalidPlanError when the plan fails its own verification.
    """
    progress("scoring")
    scores = score_cluster(snapshot)
    progress("replaying groups")
    groups = replay_options.replays(snapshot)
    progress("replaying placement")
    ground = placement_ground(placement_brokers(snapshot))
    topics = tuple(replay_topic(today, ground) for today in topic_placements(snapshot))
    plan = make_plan(
        snapshot,
        options,
        seed=replay_options.seed,
        previous=previous,
        advisor_version=advisor_version,
        progress=progress,
        params=params,
        watch=watch,
    )
    progress("verifying")
    plan = verified(plan, snapshot, params.check).plan
    findings = evaluate_rules(replay_options.told(snapshot), scores, groups, plan)
    return Advice(snapshot, scores, groups, topics, plan, findings, replay_options=replay_options)


def knowing_keys(advice: Advice, keys: Sequence[HeavyKeyOf]) -> Advice:
    """The same with the key that makes a partition hot, where samples found it."""
    return replace(advice, findings=with_heavy_keys(advice.findings, keys)) if keys else advice


def priced(advice: Advice, rack_byte_price: float | None) -> Advice:
    """The same with what traffic across racks costs, where a price of a GB of it is given."""
    if rack_byte_price is None:
        return advice
    return replace(
        advice, findings=with_rack_price(advice.findings, advice.snapshot, advice.plan, rack_byte_price, advice.groups)
    )


def owned(advice: Advice, owners: Sequence[OwnerRule], mutes: Sequence[MuteRule]) -> Advice:
    """The same with whose each finding is, and those that are muted behind all others."""
    return replace(advice, findings=with_owners(advice.findings, owners, mutes, advice.snapshot.captured_at))


def with_hours(advice: Advice, hourly: HourlyLoads | None) -> Advice:
    """The same, with how its plan would have stood in the hours that the loads of its snapshot are made of."""
    hours = hours_outside(advice.snapshot, advice.plan, hourly)
    if hours is None:
        return advice
    told = advice.replay_options.told(advice.snapshot)
    findings = evaluate_rules(told, advice.scores, advice.groups, advice.plan, hours)
    return replace(advice, hours=hours, findings=findings)
