"""Groups caught in each state in which no advice holds: the advisory says what is under way, and gives no other advice.

A member that stops polling keeps its group in such a state for as long as its ``max.poll.interval.ms``, so that no
reading depends on a moment. Of the groups that are still, one has a partition that its member has paused.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.model import ClusterSnapshot, Group
from kafka_rebalance.snapshot.rates import SHORTEST_WINDOW_S, measure_rates
from rebalance_advisor.cli.main import main
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.setup import create_topics, fill
from stack.kafka.traffic import ReadingGroup
from stack.waiting import wait_for
from tests.live.librdkafka_members import LibrdkafkaMembers

pytestmark = pytest.mark.live
TOPIC, PARTITIONS = "orders", 6
# A new target assignment of a KIP-848 group is worked out only as long after the last one (KIP-1263).
ASSIGNMENT_INTERVAL_MS = 15_000
CLASSIC = {"session.timeout.ms": "45000", "heartbeat.interval.ms": "500", "max.poll.interval.ms": "600000"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    properties = {
        "group.consumer.min.heartbeat.interval.ms": "500",
        "group.consumer.heartbeat.interval.ms": "500",
        "group.consumer.assignment.interval.ms": str(ASSIGNMENT_INTERVAL_MS),
    }
    spec = ClusterSpec(racks={1: "a"}, broker_properties=properties)
    with start_cluster(spec, tmp_path_factory.mktemp("motion") / "cluster") as started:
        create_topics(started.bootstrap, {TOPIC: [[1]] * PARTITIONS}, {})
        fill(started.bootstrap, {TOPIC: 600})
        yield started


@pytest.fixture
def members() -> Iterator[LibrdkafkaMembers]:
    with LibrdkafkaMembers() as started:
        yield started


def read(cluster: KafkaCluster) -> ClusterSnapshot:
    return read_cluster({"bootstrap.servers": cluster.bootstrap}, cluster_name="motion", now=datetime.now(UTC))


def group_of(snapshot: ClusterSnapshot, name: str) -> Group | None:
    return next((group for group in snapshot.groups if group.id == name), None)


def caught(cluster: KafkaCluster, name: str, until: Callable[[Group], bool]) -> ClusterSnapshot:
    """The first reading in which the group is as wanted."""

    def is_as_wanted(seen: ClusterSnapshot) -> bool:
        group = group_of(seen, name)
        return group is not None and until(group)

    return wait_for(f"group {name} to be as wanted", lambda: read(cluster), until=is_as_wanted, every_s=0.2)


def settings(cluster: KafkaCluster, group: str, client: str, more: Mapping[str, str]) -> dict[str, str]:
    own = {"bootstrap.servers": cluster.bootstrap, "group.id": group, "client.id": client}
    return own | {"auto.offset.reset": "earliest"} | more


def held_by(group: Group) -> dict[str | None, int]:
    return {m.client_id: sum(len(partitions) for _, partitions in m.assigned) for m in group.members}


def advise(folder: Path, snapshot: ClusterSnapshot) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Findings, and groups by id."""
    folder.mkdir()
    (folder / "snapshot.json").write_bytes(orjson.dumps(snapshot_to_document(snapshot)))
    assert main(["advise", str(folder / "snapshot.json"), "--out", str(folder / "out")]) == 0
    findings = json.loads((folder / "out" / "findings.json").read_text())
    groups = json.loads((folder / "out" / "groups.json").read_text())
    return findings, {group["group"]: group for group in groups}


def assert_only_its_motion(folder: Path, seen: ClusterSnapshot, name: str, *arguments: str) -> None:
    """One finding about the group, which says what is under way; no strategy and no member is judged."""
    findings, groups = advise(folder, seen)
    own = [finding for finding in findings if finding["subject"] == name]
    assert [finding["code"] for finding in own] == ["group_in_motion"]
    for word in arguments:
        assert word in json.dumps(own[0])
    assert groups[name]["advised"] is None


def test_a_member_that_does_not_poll_keeps_its_group_preparing(
    cluster: KafkaCluster, members: LibrdkafkaMembers, tmp_path: Path
) -> None:
    eager = {"partition.assignment.strategy": "range", **CLASSIC}
    for client in ("a", "b"):
        members.join(client, [TOPIC], settings(cluster, "preparing", client, eager))
    caught(cluster, "preparing", lambda group: held_by(group) == {"a": 3, "b": 3})
    members.stall(["a"])
    members.join("c", [TOPIC], settings(cluster, "preparing", "c", eager))
    seen = caught(cluster, "preparing", lambda group: group.state == "PreparingRebalance")
    assert_only_its_motion(tmp_path / "advice", seen, "preparing", "max.poll.interval.ms")


def test_a_leader_that_does_not_answer_keeps_its_group_completing(cluster: KafkaCluster, tmp_path: Path) -> None:
    from kafka.coordinator.assignors.range import RangePartitionAssignor

    released = threading.Event()

    class SlowAssignor(RangePartitionAssignor):
        @classmethod
        def assign(cls, *arguments: Any, **named: Any) -> Any:
            released.wait(300)
            return super().assign(*arguments, **named)

    with ExitStack() as ends:
        reading = ReadingGroup(cluster.bootstrap, "completing", [TOPIC], members=2, assignor=SlowAssignor)
        ends.callback(reading.stop)
        ends.callback(released.set)
        seen = caught(cluster, "completing", lambda group: group.state == "CompletingRebalance")
        assert_only_its_motion(tmp_path / "advice", seen, "completing")


def test_a_cooperative_group_between_its_rounds(
    cluster: KafkaCluster, members: LibrdkafkaMembers, tmp_path: Path
) -> None:
    cooperative = {"partition.assignment.strategy": "cooperative-sticky", **CLASSIC}
    members.join("a", [TOPIC], settings(cluster, "rounds", "a", cooperative))
    caught(cluster, "rounds", lambda group: held_by(group) == {"a": 6})
    members.stall(["a"])  # it joins again by itself, and gives up what it has to only when it polls
    members.join("b", [TOPIC], settings(cluster, "rounds", "b", cooperative))
    seen = caught(cluster, "rounds", lambda group: group.state == "Stable" and held_by(group) == {"a": 3, "b": 0})
    assert_only_its_motion(tmp_path / "advice", seen, "rounds")


def test_a_member_of_kip_848_that_does_not_revoke_keeps_its_group_reconciling(
    cluster: KafkaCluster, members: LibrdkafkaMembers, tmp_path: Path
) -> None:
    modern = {"group.protocol": "consumer"}
    members.join("a", [TOPIC], settings(cluster, "modern", "a", modern))
    caught(cluster, "modern", lambda group: group.state == "Stable" and held_by(group) == {"a": 6})
    members.stall(["a"])
    members.join("b", [TOPIC], settings(cluster, "modern", "b", modern))
    assigning = caught(cluster, "modern", lambda group: group.state == "Assigning")
    assert_only_its_motion(tmp_path / "assigning", assigning, "modern")
    reconciling = caught(cluster, "modern", lambda group: group.state == "Reconciling" and len(group.members) == 2)
    holder = next(m.id for m in group_of(reconciling, "modern").members if m.client_id == "a")  # type: ignore[union-attr]
    assert_only_its_motion(tmp_path / "reconciling", reconciling, "modern", holder)


def write_to_each(cluster: KafkaCluster, records: int) -> None:
    """So many records to each partition: a partitioner leaves some of them out."""
    from kafka import KafkaProducer

    producer = KafkaProducer(bootstrap_servers=cluster.bootstrap, acks="all")
    try:
        for number in range(records):
            for partition in range(PARTITIONS):
                producer.send(TOPIC, value=b"%d" % number, partition=partition)
        producer.flush(timeout=300)
    finally:
        producer.close()


def test_a_partition_that_its_member_has_paused_does_not_move(
    cluster: KafkaCluster, members: LibrdkafkaMembers, tmp_path: Path
) -> None:
    reads = {"partition.assignment.strategy": "range", "auto.commit.interval.ms": "200", **CLASSIC}

    def unread(seen: ClusterSnapshot) -> set[int]:
        """Partitions with messages behind the group's commits; all of them where it has none yet."""
        group = group_of(seen, "paused")
        ends = {row.partition: row.end_offset for row in seen.each_partition() if row.topic == TOPIC}
        commits = {} if group is None else {commit.partition: commit.offset for commit in group.committed}
        return {partition for partition, end in ends.items() if commits.get(partition) != end}

    def wait_for_unread(wanted: set[int], *, after: datetime | None = None) -> ClusterSnapshot:
        """The first reading in which the group has read all but these; rates need SHORTEST_WINDOW_S between two."""

        def is_as_wanted(seen: ClusterSnapshot) -> bool:
            assert seen.captured_at is not None
            is_late = after is None or (seen.captured_at - after).total_seconds() > SHORTEST_WINDOW_S
            return is_late and unread(seen) == wanted

        return wait_for(f"all but {wanted} to be read", lambda: read(cluster), until=is_as_wanted, every_s=0.2)

    write_to_each(cluster, 10)
    members.join("a", [TOPIC], settings(cluster, "paused", "a", reads))
    wait_for_unread(set())
    members.pause("a", (TOPIC, 2))
    write_to_each(cluster, 200)
    earlier = wait_for_unread({2})
    write_to_each(cluster, 100)
    later = wait_for_unread({2}, after=earlier.captured_at)
    findings, _ = advise(tmp_path / "advice", measure_rates(earlier, later))
    own = [finding for finding in findings if "paused" in finding["subject"]]
    reported = [finding for finding in own if finding["code"] == "partition_not_read"]
    assert len(reported) == 1, own
    assert reported[0]["evidence"]["partition_names"] == [f"{TOPIC}-2"]
    assert reported[0]["evidence"]["partitions_that_their_members_read"] == PARTITIONS - 1
