"""A plan for a cluster; its waves executed as they are by Kafka's own tool while producers and consumers run."""

import json
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.rates import measure_rates
from rebalance_advisor.cli.main import main
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.demo.run_plan import run_rollback, run_waves
from stack.kafka.live_cluster import EMPTY_BROKER, LiveCluster, in_sync
from stack.kafka.traffic import read_values

pytestmark = pytest.mark.live
THROTTLE = 8_000_000


def read(live_cluster: LiveCluster) -> ClusterSnapshot:
    return read_cluster(
        {"bootstrap.servers": live_cluster.cluster.bootstrap}, cluster_name="live", now=datetime.now(UTC)
    )


def read_settled(live_cluster: LiveCluster) -> ClusterSnapshot:
    """Once every ISR is full again: a new replica joins it a moment after the tool says completed."""
    return in_sync(lambda: read(live_cluster))


def placement(snapshot: ClusterSnapshot) -> dict[tuple[str, int], tuple]:
    return {(row.topic, row.partition): (row.replicas, row.leader) for row in snapshot.each_partition()}


@dataclass(frozen=True)
class Executed:
    """One plan's life: the snapshot it was made for, the plan, the cluster after it and after its rollback."""

    start: ClusterSnapshot
    plan: dict
    folder: Path
    after: ClusterSnapshot
    restored: ClusterSnapshot


@pytest.fixture(scope="module")
def executed(live_cluster: LiveCluster, tmp_path_factory: pytest.TempPathFactory) -> Executed:
    folder = tmp_path_factory.mktemp("plan")
    older = read(live_cluster)
    time.sleep(5)
    start = measure_rates(older, read(live_cluster))
    file = folder / "snapshot.json"
    file.write_bytes(orjson.dumps(snapshot_to_document(start)))
    assert main(["plan", str(file), "--out", str(folder / "out"), "--throttle", str(THROTTLE)]) == 0
    plan = json.loads((folder / "out" / "plan.json").read_text())
    run_waves(live_cluster.cluster.tools, folder / "out")
    after = read_settled(live_cluster)
    run_rollback(live_cluster.cluster.tools, folder / "out")
    return Executed(start, plan, folder / "out", after, read_settled(live_cluster))


def test_the_plan_fills_the_empty_broker(executed: Executed):
    assert executed.plan["verdict"] == "rebalance"
    assert any(EMPTY_BROKER in move["to"] for move in executed.plan["moves"])
    assert len(executed.plan["waves"]) >= 2


def test_placement_and_leaders_are_those_of_the_plan(executed: Executed):
    expected = placement(executed.start)
    for move in executed.plan["moves"]:
        expected[move["topic"], move["partition"]] = (tuple(move["to"]), move["leader_to"])
    assert placement(executed.after) == expected


def test_every_isr_is_full_and_nothing_moves_any_more(executed: Executed):
    for snapshot in (executed.after, executed.restored):
        assert all(set(row.isr) == set(row.replicas) for row in snapshot.each_partition())
        assert not snapshot.partitions.adding
        assert not snapshot.partitions.removing


def test_no_throttle_is_left(executed: Executed):
    for snapshot in (executed.after, executed.restored):
        configs = [subject.configs for subject in (*snapshot.brokers, *snapshot.topics)]
        assert not [key for config in configs for key in config if "throttled" in key]


def test_the_rollback_restores_the_start(executed: Executed):
    assert placement(executed.restored) == placement(executed.start)


def test_no_acknowledged_record_was_lost_and_the_traffic_never_failed(live_cluster: LiveCluster, executed: Executed):
    acknowledged = dict(live_cluster.producer.acknowledged)
    assert len(acknowledged) > 500
    kept = {topic for topic, _, _ in acknowledged} - {
        "audit"
    }  # compacted: a record may have made place for a newer one
    values = read_values(live_cluster.cluster.bootstrap, sorted(kept))
    lost = [
        key
        for key, number in acknowledged.items()
        if key[0] in kept and not values.get(key, b"").startswith(b"%d:" % number)
    ]
    assert lost == []
    assert live_cluster.failures == []


def test_the_sizes_that_moved_are_those_of_the_plan(executed: Executed):
    """The plan's bytes of the empty broker against what its log dirs held afterwards; traffic adds a little."""
    planned = sum(
        move["bytes"] / max(1, len(set(move["to"]) - set(move["from"])))
        for move in executed.plan["moves"]
        if EMPTY_BROKER in move["to"] and EMPTY_BROKER not in move["from"]
    )
    held = sum(
        size or 0
        for row in executed.after.each_partition()
        for broker, size in zip(row.replicas, row.log_bytes, strict=True)
        if broker == EMPTY_BROKER
    )
    assert planned <= held < 1.3 * planned + 1_000_000
