from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_assignors.errors import UnknownNameError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.broker_rules import (
    coordinator_piled_up,
    leaders_piled_up,
    preferred_leaders_off,
    preferred_order_uneven,
)
from kafka_rebalance.findings.cluster_rules import coverage_gap, load_unknown, nothing_to_do, throttle_left_over
from kafka_rebalance.findings.context import (
    NOTHING,
    BrokerEffect,
    FindingContext,
    Remedy,
    effects_of,
    finding,
    outcome_for,
    threshold,
)
from kafka_rebalance.findings.finding import Confidence, Severity
from kafka_rebalance.findings.group_rules import (
    assignor_uneven,
    dead_members,
    idle_members,
    lag_growing,
    shared_offsets,
    sticky_endless,
)
from kafka_rebalance.findings.placement_rules import (
    broker_disk_full,
    broker_disk_over_share,
    broker_rate_over_share,
    dead_broker,
    offline_partition,
    rack_violated,
    under_replicated,
)
from kafka_rebalance.findings.plan_outcome import plan_cost, plan_evidence, plan_outcome
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.groups.strategies import MIGRATED, OWN, STRATEGIES, candidates
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict
from kafka_rebalance.resources import COUNTED, LEADER_CARRIED, RESOURCES
from kafka_rebalance.scoring.scores import BrokerScore
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot, Group, GroupType, Member
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from tests.unit.planner.sample_clusters import GB
from tests.unit.plans.hand_plans import SNAPSHOT

EVERY_RULE = (
    shared_offsets, sticky_endless, coverage_gap, nothing_to_do, throttle_left_over, assignor_uneven, idle_members,
    lag_growing, coordinator_piled_up, dead_broker, offline_partition, rack_violated, under_replicated,
    broker_disk_full, broker_rate_over_share,
)  # fmt: skip


def context(snapshot: ClusterSnapshot = SNAPSHOT, plan: Plan | None = None) -> FindingContext:
    """Brokers with 15, 10 and 5 GB, all led by broker 0."""
    replays = [replay_group(group_input) for group_input in group_inputs(snapshot)]
    return FindingContext(snapshot, score_cluster(snapshot), replays, plan)


@pytest.mark.parametrize("rule", EVERY_RULE)
def test_a_rule_is_silent_where_it_has_nothing_to_say(rule) -> None:
    assert list(rule(context())) == []


def test_a_disk_half_as_full_again_is_told_high() -> None:
    (result,) = broker_disk_over_share(context())
    assert (result.subject, result.severity) == ("0", Severity.HIGH)
    assert result.evidence["over_share_ratio"] == pytest.approx(1.5)
    assert result.evidence["fair_share_disk_bytes"] == pytest.approx(10 * GB)


def test_leaders_that_are_preferred_are_no_pile() -> None:
    assert list(leaders_piled_up(context())) == []
    assert list(preferred_leaders_off(context())) == []
    rows = [replace(item, leader=1) if 1 in item.replicas else item for item in SNAPSHOT.each_partition()]
    from tests.unit.planner.sample_clusters import brokers, cluster

    taken = context(cluster(rows, brokers(3)))
    (pile,) = leaders_piled_up(taken)
    assert (pile.subject, pile.evidence["leaders"], pile.evidence["taken_over_leaders"]) == ("1", 2, 2)
    assert list(preferred_leaders_off(taken)) == []  # an election would give broker 0 all three
    (uneven,) = preferred_order_uneven(taken)
    assert (uneven.evidence["broker"], uneven.evidence["leaders_once_elected"]) == (0, 3)


def test_resources_that_nobody_measured_are_told_once() -> None:
    (unknown,) = load_unknown(context())
    assert unknown.evidence["resources_left_out"] == 3  # in, out, cpu


def test_what_stands_on_a_gone_broker_is_counted() -> None:
    dead = replace(SNAPSHOT, brokers=(*SNAPSHOT.brokers[:2], replace(SNAPSHOT.brokers[2], state=BrokerState.DEAD)))
    (result,) = dead_broker(context(dead))
    assert (result.subject, result.evidence["replicas"]) == ("2", 1)


def test_confidence_follows_the_source() -> None:
    known = context()
    assert known.confidence(LoadKind.LOG_BYTES) is Confidence.MEASURED
    sources = {
        LoadSource.GIVEN: Confidence.GIVEN, LoadSource.LOG_DIR_GROWTH: Confidence.MEASURED,
        LoadSource.PROMETHEUS: Confidence.MEASURED, LoadSource.OFFSETS_TIMES_MESSAGE_SIZE: Confidence.MEASURED,
        LoadSource.ESTIMATED: Confidence.ESTIMATED,
    }  # fmt: skip
    for source, confidence in sources.items():
        rates = PartitionLoads({LoadKind.IN_BYTES_PER_S: LoadColumn(np.ones(len(SNAPSHOT.partitions)), source, 60.0)})
        assert context(replace(SNAPSHOT, loads=rates)).confidence(LoadKind.IN_BYTES_PER_S) is confidence
    assert (known.staying, sorted(known.brokers)) == ((0, 1, 2), [0, 1, 2])
    assert not known.is_in_flight.any()


def test_a_findings_gain_is_a_share_and_its_evidence_plain() -> None:
    made = finding("idle_members", Severity.LOW, 7, {"n": np.int64(3)}, Remedy("do", gain=7.0))
    assert (made.gain, made.subject, made.evidence, type(made.evidence["n"])) == (1.0, "7", {"n": 3}, int)
    assert threshold("broker_disk_over_share", "over_share_ratio") == 1.10


MOVING = make_plan(SNAPSHOT, PlanOptions(within=0.2, with_frontier=False))


def test_what_the_plan_does_to_each_broker() -> None:
    effects = effects_of(MOVING, SNAPSHOT)
    assert (effects[0].replicas_out, effects[0].bytes_out, effects[0].replicas_in) == (1, 4 * GB, 0)
    assert (effects[2].replicas_in, effects[2].bytes_in) == (1, 4 * GB)
    assert (outcome_for(MOVING, "disk", 0), outcome_for(MOVING, "cpu", 0)) == ((15 * GB, 11 * GB), None)
    assert NOTHING.is_nothing
    assert not BrokerEffect(leaders_in=1).is_nothing


def test_a_finding_tells_what_the_plan_takes_away() -> None:
    known = context(plan=MOVING)
    (result,) = broker_disk_over_share(known)
    assert result.gain == pytest.approx(0.8)  # 4 of the 5 GB above its share
    (score,) = [item for item in known.scores.of_resource("disk") if item.broker == 0]
    assert isinstance(score, BrokerScore)
    assert plan_evidence(known, [score])["plan_after_disk_bytes"] == 11 * GB
    otherwise = fact(FactCode.MOVE_BUSIEST_AWAY)
    assert plan_outcome(known, score, otherwise) != otherwise
    assert plan_outcome(context(), score, otherwise) == plan_cost(context(), 0, otherwise) == otherwise
    assert plan_evidence(context(), [score]) == {}


def test_a_quiet_plan_is_told() -> None:
    quiet = replace(MOVING, verdict=Verdict.NOTHING_TO_DO, moves=())
    (result,) = nothing_to_do(context(plan=quiet))
    assert (result.severity, result.evidence["disk_skew"]) == (Severity.OK, 1.5)


def test_groups_that_read_nothing_and_members_that_are_dead() -> None:
    group = Group(
        "g", protocol="range", state="Stable",
        members=tuple(Member(f"m{p}", assigned=(("t", (p,)),) if p < 3 else ()) for p in range(4)),
    )  # fmt: skip
    known = context(replace(SNAPSHOT, groups=(group,)))
    (idle,) = idle_members(known)
    assert (idle.evidence["idle_members"], idle.evidence["members"], idle.gain) == (1, 4, 0.25)
    assert dead_members(known, known.group_inputs["g"]) == ([], Confidence.MEASURED)


def test_which_strategies_a_group_could_run() -> None:
    classic = [candidate.name for candidate in candidates(GroupType.CLASSIC, "consumer", None)]
    assert classic == ["range", "roundrobin", "sticky", "cooperative-sticky", OWN, *MIGRATED]
    assert set(classic) < set(STRATEGIES)
    assert candidates(GroupType.SHARE, "share", "4.2") == ()
    assert candidates(GroupType.CLASSIC, "connect", None) == ()
    old, new = (candidates(GroupType.CONSUMER, "consumer", release)[0] for release in ("3.7.1", "4.1.0"))
    assert (old.releases, old.modelled_since, new.releases) == ((), "3.8", ("server-uniform",))
    between = candidates(GroupType.CONSUMER, "consumer", "3.9.0")[0]
    assert between.releases == ("server-uniform@3.8",)
    assert candidates(GroupType.CONSUMER, "consumer", "4.0")[0].releases == ("server-uniform", "server-uniform@4.0.0")


def test_resources_are_counted_or_carried_by_leaders() -> None:
    assert set(COUNTED) | set(LEADER_CARRIED) <= set(RESOURCES)
    assert "disk" not in LEADER_CARRIED


def test_a_finding_has_a_code_that_is_known() -> None:
    known = finding("nothing_to_do", Severity.INFO, "c", {}, Remedy("nothing"), confidence=Confidence.MEASURED)
    with pytest.raises(UnknownNameError, match="nothing_to_be_done"):
        replace(known, code="nothing_to_be_done")
