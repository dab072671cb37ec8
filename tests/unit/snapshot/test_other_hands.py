from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.cluster_rules import broker_cordoned, other_balancer, reassignment_running
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Verdict, to_document
from kafka_rebalance.render.findings import pause_of
from kafka_rebalance.snapshot.model import ClusterSnapshot, Group, LogDir
from kafka_rebalance.snapshot.other_hands import balancers, throttled_resources
from kafka_rebalance.snapshot.partition_table import FutureReplica, Partition
from kafka_rebalance.verify import verify_plan
from tests.facts_said import said
from tests.unit.findings.sample_clusters import brokers, cluster, findings_of, striped

ROWS = striped("t", 6)
TRACES = {
    "cruise control's metrics": ("__CruiseControlMetrics", "Cruise Control"),
    "cruise control's samples": ("__KafkaCruiseControlModelTrainingSamples", "Cruise Control"),
    "strimzi": ("strimzi.cruisecontrol.metrics", "Strimzi's Cruise Control"),
    "confluent": ("_confluent_balancer_api_state", "Confluent's balancer"),
}


def seen(*topics: str, groups: tuple[Group, ...] = (), **configs: str) -> ClusterSnapshot:
    """Six even brokers with one more partition of these topics; ``configs`` of broker 2."""
    rows = [*ROWS, *(row for name in topics for row in striped(name, 1))]
    return cluster(rows, of=brokers(configs={2: {name.replace("_", "."): value for name, value in configs.items()}}),
                   groups=groups)  # fmt: skip


@pytest.mark.parametrize(("topic", "name"), TRACES.values(), ids=TRACES)
def test_a_balancer_is_known_by_its_topics(topic: str, name: str) -> None:
    (found,) = balancers(seen(topic, "cruise-control-of-ships", "confluent"))
    assert (found.name, found.signs) == (name, (f"topic {topic}",))
    (finding,) = findings_of(seen(topic), other_balancer.__name__)
    assert (finding.evidence["balancers"], finding.evidence["signs"]) == ((name,), (f"topic {topic}",))
    assert finding.recommendation.args == {"balancers": (name,), "sign": f"topic {topic}"}
    assert pause_of(name) != pause_of("another balancer")


def test_a_group_or_a_config_gives_it_away_and_a_config_that_is_off_clears_it() -> None:
    sampler = Group("CruiseControlMetricsReporterSampler")
    assert [found.signs for found in balancers(seen(groups=(sampler, Group("orders"))))] == [(f"group {sampler.id}",)]
    on, off = seen("_confluent-metrics", confluent_balancer_enable="true"), seen(confluent_balancer_enable="true")
    assert balancers(on)[0].signs == ("topic _confluent-metrics", "confluent.balancer.enable=true")
    assert balancers(off)[0].signs == ("confluent.balancer.enable=true",)
    assert balancers(seen("_confluent-metrics", confluent_balancer_enable="false")) == ()
    assert balancers(seen()) == ()
    assert findings_of(seen(), other_balancer.__name__) == []


def test_the_plan_says_that_it_may_be_fought_and_moves_the_same() -> None:
    """Reasons in its words, a precondition where something moves; the moves are those of a cluster left in peace."""
    options = PlanOptions(with_frontier=False)
    many = [row for name in ("t", "__CruiseControlMetrics") for row in striped(name, 12)]
    calm = [row for name in ("t", "zz") for row in striped(name, 12)]
    fought, peaceful = (
        make_plan(cluster(rows, of=brokers(7, configs=configs)), options)
        for rows, configs in ((many, {2: {"leader.replication.throttled.rate": "5"}}), (calm, {}))
    )
    assert fought.verdict is peaceful.verdict is Verdict.REBALANCE
    assert fought.cost.replica_moves == peaceful.cost.replica_moves > 0
    assert [args["balancer"] for args in said(fought.reasons, FactCode.BALANCER_MAY_INTERFERE)] == ["Cruise Control"]
    assert fact(FactCode.THROTTLES_SET, topics=0, brokers=1) in fought.reasons
    assert fought.preconditions[-1] == fact(FactCode.BALANCER_STOPPED, balancer="Cruise Control")
    assert all(one.code is not FactCode.BALANCER_STOPPED for one in peaceful.preconditions)
    snapshot = cluster(many, of=brokers(7, configs={2: {"leader.replication.throttled.rate": "5"}}))
    assert [str(fault) for fault in verify_plan(to_document(fought), snapshot).wrong] == []


def test_cordoned_log_dirs_are_told_and_a_wholly_cordoned_broker_gets_nothing() -> None:
    """Only working dirs count. Broker 6 is empty and wholly cordoned."""
    cordoned, plain, failed = LogDir("/a", is_cordoned=True), LogDir("/b"), LogDir("/c", error="KafkaStorage (56)")
    dirs = {1: (cordoned, plain), 6: (cordoned, failed)}
    snapshot = cluster(striped("t", 24), of=brokers(7, log_dirs=dirs))
    partly, whole = findings_of(snapshot, broker_cordoned.__name__)
    assert (partly.subject, partly.evidence["cordoned_log_dirs"], partly.evidence["log_dirs"]) == ("1", 1, 2)
    assert not partly.recommendation.args["is_whole"]
    assert (whole.subject, whole.recommendation.args["is_whole"]) == ("6", True)
    plan = make_plan(snapshot, PlanOptions(with_frontier=False))
    assert fact(FactCode.CORDONED_GETS_NOTHING, broker=6) in plan.reasons
    assert not any(6 in move.to_replicas for move in plan.moves)


def test_what_moves_now_is_told_and_its_throttles_are_not_left_over() -> None:
    rows = [
        *ROWS[1:],
        replace(ROWS[0], replicas=(0, 1, 2, 3), log_bytes=(100,) * 4, adding=(3,), removing=(0,)),
    ]
    dirs = Partition("u", 0, (4,), 4, (4,), (100,), future=(FutureReplica(4, 1, 30),))
    snapshot = cluster([*rows, dirs], configs={"t": {"leader.replication.throttled.replicas": "*"}})
    (finding,) = findings_of(snapshot, reassignment_running.__name__)
    assert (finding.evidence["partitions"], finding.evidence["replicas_between_log_dirs"]) == (1, 1)
    assert finding.evidence["copied_between_log_dirs_bytes"] == 30
    assert throttled_resources(snapshot) == (("t",), ())
    assert findings_of(snapshot, "throttle_left_over") == []
    alone = cluster([*ROWS, dirs])
    assert findings_of(alone, reassignment_running.__name__)[0].evidence["partitions"] == 0
    (where,) = findings_of(cluster([*ROWS, dirs], of=brokers(log_dirs={4: (LogDir("/a"), LogDir("/b"))})), finding.code)
    assert where.recommendation.args["written_to_dirs"] == ((4, "/b", 30),)
    assert findings_of(cluster(ROWS), reassignment_running.__name__) == []
    between = cluster(ROWS, of=brokers(configs={1: {"replica.alter.log.dirs.io.max.bytes.per.second": "9"}}))
    assert findings_of(between, "throttle_left_over")[0].evidence["broker_ids"] == (1,)
