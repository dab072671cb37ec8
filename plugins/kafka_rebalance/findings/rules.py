"""``RULES`` yield findings from one context; ``evaluate_rules`` runs them all.

Thresholds are in ``CODES`` (``findings.finding``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from kafka_rebalance.findings import (
    broker_rules,
    cluster_rules,
    group_rules,
    lag_rules,
    placement_rules,
    streams_rules,
)
from kafka_rebalance.findings.causes import fold
from kafka_rebalance.findings.context import FindingContext, threshold
from kafka_rebalance.findings.finding import Actor, Finding, Severity, rank
from kafka_rebalance.findings.placement_rules import MANY_TOPICS
from kafka_rebalance.findings.plan_outcome import carried_out
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.hours_outside import HoursOutside
from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.scoring.scores import ClusterScores
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.model import ClusterSnapshot

RULES: tuple[Callable[[FindingContext], Iterator[Finding]], ...] = (
    placement_rules.broker_disk_over_share,
    placement_rules.broker_disk_full,
    placement_rules.log_dir_full,
    placement_rules.broker_rate_over_share,
    broker_rules.leaders_piled_up,
    broker_rules.leaders_over_share,
    broker_rules.preferred_leaders_off,
    broker_rules.preferred_order_uneven,
    broker_rules.topic_on_few_brokers,
    broker_rules.coordinator_piled_up,
    broker_rules.broker_loss_overloads,
    broker_rules.rack_loss_overloads,
    placement_rules.rack_violated,
    placement_rules.single_replica,
    placement_rules.single_broker_rack,
    placement_rules.mixed_replication_factor,
    placement_rules.below_min_isr,
    placement_rules.min_isr_at_replication_factor,
    placement_rules.under_replicated,
    placement_rules.offline_partition,
    placement_rules.dead_broker,
    broker_rules.broker_not_heard,
    broker_rules.log_dir_offline,
    broker_rules.stray_logs,
    broker_rules.racks_unknown,
    placement_rules.hot_partition,
    group_rules.group_in_motion,
    group_rules.group_assignments_unknown,
    group_rules.idle_members,
    group_rules.assignor_uneven,
    lag_rules.group_hot_partition,
    lag_rules.uneven_by_rate,
    lag_rules.uneven_per_topic,
    group_rules.server_assignor_uneven,
    group_rules.rollover_half_done,
    group_rules.mixed_clients,
    group_rules.server_uniform_may_throw,
    group_rules.share_group_behind,
    streams_rules.streams_threads_idle,
    streams_rules.streams_no_standby,
    streams_rules.streams_standbys_missing,
    streams_rules.streams_tasks_uneven,
    streams_rules.streams_standbys_move,
    group_rules.connect_idle_workers,
    group_rules.connect_uneven_workers,
    group_rules.static_members_partly,
    group_rules.static_membership,
    group_rules.cross_rack_reads,
    group_rules.dead_static_member,
    group_rules.lag_growing,
    lag_rules.lag_concentrated,
    lag_rules.partition_not_read,
    lag_rules.unread_partitions,
    lag_rules.topic_without_reader,
    lag_rules.read_without_joining,
    lag_rules.commit_out_of_range,
    group_rules.sticky_endless,
    group_rules.shared_offsets,
    group_rules.mixed_static_members,
    group_rules.leader_may_crash,
    group_rules.unknown_topic_stops_group,
    cluster_rules.throttle_left_over,
    cluster_rules.reassignment_running,
    cluster_rules.reassignment_stuck,
    cluster_rules.other_balancer,
    cluster_rules.broker_cordoned,
    cluster_rules.load_unknown,
    cluster_rules.coverage_gap,
    cluster_rules.hours_outside_band,
    cluster_rules.nothing_to_do,
    cluster_rules.cannot_tell,
    cluster_rules.not_fixable_by_moving,
)

# Rules about placement. They run again on the cluster after the plan; what they no longer report, the plan settles.
_SETTLED_BY_MOVES = (
    placement_rules.broker_disk_over_share, placement_rules.broker_rate_over_share, broker_rules.leaders_piled_up,
    broker_rules.leaders_over_share, broker_rules.preferred_leaders_off, broker_rules.preferred_order_uneven,
    broker_rules.topic_on_few_brokers, placement_rules.rack_violated, placement_rules.single_replica,
    placement_rules.mixed_replication_factor, placement_rules.below_min_isr, placement_rules.under_replicated,
    placement_rules.min_isr_at_replication_factor, placement_rules.dead_broker, broker_rules.log_dir_offline,
)  # fmt: skip
_SETTLED_CODES = frozenset(rule.__name__ for rule in _SETTLED_BY_MOVES)

# Reasons to wake a person: a broker or partition stops, or soon will.
URGENT_RULES = (
    placement_rules.offline_partition,
    placement_rules.below_min_isr,
    placement_rules.dead_broker,
    broker_rules.log_dir_offline,
    placement_rules.broker_disk_full,
    placement_rules.log_dir_full,
)

# These need replicas, which a group table alone lacks.
_OF_BROKERS = frozenset(
    (
        *(rule for rule in RULES if rule.__module__ in (placement_rules.__name__, broker_rules.__name__)),
        cluster_rules.reassignment_running,
        cluster_rules.reassignment_stuck,
        cluster_rules.other_balancer,
        cluster_rules.broker_cordoned,
        group_rules.cross_rack_reads,
    )
)


def evaluate_rules(
    snapshot: ClusterSnapshot,
    scores: ClusterScores,
    replays: Sequence[GroupReplay],
    plan: Plan | None = None,
    hours: HoursOutside | None = None,
) -> tuple[Finding, ...]:
    """Return all findings, worst first, with symptoms inside their causes."""
    context = FindingContext(snapshot, scores, replays, plan, hours)
    rules = (
        RULES
        if snapshot.brokers or not len(snapshot.partitions)
        else [rule for rule in RULES if rule not in _OF_BROKERS]
    )
    findings = fold(context, [finding for rule in rules for finding in rule(context)])
    return rank(findings if plan is None or not plan.moves else settle_by_plan(context, plan, findings))


def settle_by_plan(context: FindingContext, plan: Plan, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings; those that the plan settles have the actor ``PLAN``.

    It settles a finding that no rule reports after the plan, if each symptom is gone, too, or less severe than it.
    """
    after = carried_out(plan, context.snapshot)
    context_after = FindingContext(after, score_cluster(after), context.replays)
    left = [finding for rule in _SETTLED_BY_MOVES for finding in rule(context_after)]

    def settle(finding: Finding) -> Finding:
        is_settled = (
            finding.actor is not Actor.NONE
            and _is_settled(finding, left, Severity.OK)
            and all(_is_settled(symptom, left, finding.severity) for symptom in finding.symptoms)
        )
        actor = Actor.PLAN if is_settled else finding.actor
        return replace(finding, actor=actor, symptoms=tuple(map(settle, finding.symptoms)))

    return [settle(finding) for finding in findings]


def _is_settled(finding: Finding, left: Sequence[Finding], least: Severity) -> bool:
    """``left``: once the plan is done; of these, what is less severe than ``least`` does not count."""
    evidence = finding.evidence
    match finding.code:
        case "broker_disk_full":
            out, added = evidence["plan_bytes_out"], evidence["plan_bytes_in"]
            if out is None or added is None:
                return False
            used_ratio = (evidence["used_bytes"] - out + added) / evidence["total_bytes"]
            return bool(used_ratio < threshold(finding.code, "used_ratio"))
        case "broker_loss_overloads" | "rack_loss_overloads":
            ratio = evidence["over_capacity_ratio_after_plan"]
            return ratio is not None and bool(ratio <= threshold(finding.code, "over_capacity_ratio"))
        case code if code in _SETTLED_CODES:
            # Many topics are one finding: what is left of them may be several.
            return not any(
                other.code == code
                and finding.subject in (other.subject, MANY_TOPICS)
                and other.severity.rank <= least.rank
                for other in left
            )
    return False


def urgent_findings(snapshot: ClusterSnapshot, plan: Plan) -> tuple[Finding, ...]:
    """Return the findings of ``URGENT_RULES``, worst first."""
    if not snapshot.brokers:
        return ()
    sized = snapshot.with_capacities(PlanOptions.from_document(plan.parameters).capacities)
    context = FindingContext(sized, score_cluster(sized), (), plan)
    return rank([finding for rule in URGENT_RULES for finding in rule(context)])


__all__ = ["RULES", "URGENT_RULES", "evaluate_rules", "urgent_findings"]
