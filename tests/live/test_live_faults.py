"""What cannot be read is coverage, never a smaller cluster; and reading changes nothing."""

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from kafka.errors import TopicAlreadyExistsError
from kafka.protocol.metadata import MetadataRequest

from kafka_rebalance.advisory.advise import AdviceRequest, advise
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.snapshot.coverage import CoverageGap
from kafka_rebalance.snapshot.model import BrokerState, ClusterSnapshot
from kafka_rebalance.snapshot.rates import may_hide_groups
from kafka_rebalance.verify import verify_plan
from rebalance_advisor.kafka.connection.client import ClusterClient
from rebalance_advisor.kafka.connection.probe import find_server
from rebalance_advisor.kafka.connection.properties import connection_settings
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.setup import admin, create_topics, fill
from stack.kafka.tools import NEWEST
from stack.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.live
PLACEMENT = {"t": [[1, 2], [2, 3], [3, 1]], "alone": [[3]]}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaCluster]:
    """Three brokers in three racks with two log dirs each, without any topic at first."""
    with start_cluster(
        ClusterSpec(version=NEWEST, log_dirs_per_broker=2), tmp_path_factory.mktemp("faults") / "cluster"
    ) as started:
        yield started


def read(cluster: KafkaCluster, say: Callable[[str], None] = lambda _: None) -> ClusterSnapshot:
    """One reading as the settings are by default; ``say`` hears each of its phases."""
    return read_cluster({"bootstrap.servers": cluster.bootstrap}, cluster_name="faults", now=datetime.now(UTC), say=say)


def gaps_of(snapshot: ClusterSnapshot, broker: int) -> list[CoverageGap]:
    """Gaps of this broker."""
    return [gap for gap in snapshot.coverage if (gap.subject_type, gap.subject) == ("broker", str(broker))]


def gap_codes(snapshot: ClusterSnapshot) -> set[tuple[str, str, FactCode]]:
    return {(gap.subject_type, gap.subject, gap.what.code) for gap in snapshot.coverage}


def test_reading_an_empty_cluster_creates_nothing(cluster: KafkaCluster):
    """Looking for the coordinator of a group would create __consumer_offsets."""
    first = read(cluster)
    assert (first.topics, first.groups, first.coverage) == ((), (), ())
    assert len(first.brokers) == 3
    assert cluster.tools.topics("--list").strip() == ""


def with_topics(cluster: KafkaCluster) -> None:
    """Make those of PLACEMENT that are not there."""
    there = {topic.name for topic in read(cluster).topics}
    if missing := {name: rows for name, rows in PLACEMENT.items() if name not in there}:
        create_topics(cluster.bootstrap, missing, {})


def wait_until(cluster: KafkaCluster, what: str, is_good: Callable[[ClusterSnapshot], object]) -> ClusterSnapshot:
    return wait_for(
        what, lambda: read(cluster), until=is_good, every_s=1,
        gist=lambda seen: (seen.coverage, [broker.state for broker in seen.brokers]),
    )  # fmt: skip


def whole_reading(cluster: KafkaCluster) -> ClusterSnapshot:
    return wait_until(cluster, "a reading that lacks nothing", lambda seen: seen.coverage == ())


def test_a_frozen_broker_is_given_up_after_five_seconds_and_costs_its_share_of_the_coverage(cluster: KafkaCluster):
    with_topics(cluster)
    whole = wait_until(cluster, "4 partitions", lambda seen: len(seen.partitions) == 4 and seen.coverage == ())
    with cluster.frozen_broker(3):
        # A machine that stands still for five seconds makes the others silent, too.
        torn = wait_until(
            cluster,
            "a reading of the two others",
            lambda seen: all(broker.state.is_responsive for broker in seen.brokers[:2]),
        )
    assert len(torn.partitions) == len(whole.partitions)
    assert [broker.id for broker in torn.brokers] == [1, 2, 3]
    assert torn.brokers[2].state is BrokerState.SILENT
    (gap,) = gaps_of(torn, 3)
    parts = (
        FactCode.LACKS_LOG_DIRS, FactCode.LACKS_CONFIGS, FactCode.LACKS_GROUPS_OF_BROKER,
        FactCode.LACKS_OFFSETS_OF_PARTITIONS,
    )  # fmt: skip
    assert gap.codes == parts
    assert gap.reason.args["state"] == "silent"
    assert gap.reason.args["why"] == fact(FactCode.NO_ANSWER_IN_TIME, seconds=5, text=None)
    assert gap.reason.args["address"].startswith("127.0.0.1:")
    assert may_hide_groups(torn)
    row = torn.partition(torn.row_of["t", 0])
    assert row.end_offset == 0
    assert None not in row.log_bytes
    lost = torn.partition(torn.row_of["alone", 0])
    assert (lost.replicas, lost.log_bytes, lost.end_offset) == ((3,), (None,), None)


def test_a_dead_broker_stays_in_the_snapshot_with_its_replicas(cluster: KafkaCluster):
    """Once it is fenced, 4.x still names it with its rack."""
    whole_reading(cluster)
    cluster.kill_broker(3)
    try:
        gone = wait_until(cluster, "broker 3 fenced", lambda seen: seen.brokers[2].state is BrokerState.FENCED)
    finally:
        cluster.start_broker(3)
    broker = gone.brokers[2]
    assert (broker.id, broker.rack, broker.state) == (3, "c", BrokerState.FENCED)
    assert len(gone.partitions) == 4
    assert gone.partition(gone.row_of["alone", 0]).leader is None
    assert 3 in gone.partition(gone.row_of["t", 1]).offline
    (gap,) = gaps_of(gone, 3)
    assert gap.lacks(FactCode.LACKS_LOG_DIRS)
    # By the partition, or by the broker where the metadata still named it as leader when offsets were asked for.
    assert ("topic", "alone", FactCode.LACKS_OFFSETS) in gap_codes(gone) or gap.lacks(
        FactCode.LACKS_OFFSETS_OF_PARTITIONS
    )
    assert gone.partition(gone.row_of["alone", 0]).end_offset is None
    wait_until(
        cluster, "broker 3 alive", lambda seen: seen.coverage == () and seen.brokers[2].state is BrokerState.ALIVE
    )


# The words with which a reading begins each phase; None: before it begins.
PHASES = (None, "connecting", "reading brokers", "reading log dirs", "reading groups", "reading offsets")


def gives_nothing_to(snapshot: ClusterSnapshot, broker: int) -> bool:
    """The plan that would love to fill it: everything else is asked to shrink."""
    plan = make_plan(snapshot, PlanOptions(within=0.01, with_frontier=False))
    assert [str(fault) for fault in verify_plan(to_document(plan), snapshot).wrong] == []
    return not any(
        (broker in move.to_replicas and broker not in move.from_replicas)
        or (move.leader_to == broker and move.leader_from != broker)
        for move in plan.moves
    )


@contextmanager
def killed(cluster: KafkaCluster, broker: int) -> Iterator[None]:
    cluster.kill_broker(broker)
    try:
        yield
    finally:
        cluster.start_broker(broker)


def _at(phase: str | None, strike: Callable[[], object]) -> Callable[[str], None]:
    """Strike when the reading says that it begins this phase."""
    return lambda text: strike() if phase is not None and text.startswith(phase) else None


@pytest.mark.parametrize("how", ["frozen", "killed"])
def test_a_broker_that_goes_at_any_moment_of_a_reading_is_told_and_given_nothing(
    cluster: KafkaCluster, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Twelve moments. Nothing shrinks: all partitions and brokers are there, and what is unknown has a gap."""
    with_topics(cluster)
    table = []
    for phase in PHASES:
        whole_reading(cluster)
        with ExitStack() as until_read:
            gone = cluster.frozen_broker(3) if how == "frozen" else killed(cluster, 3)
            strike = partial(until_read.enter_context, gone)
            if phase is None:
                strike()
            started = time.monotonic()
            snapshot = read(cluster, _at(phase, strike))
            seconds = time.monotonic() - started
        state = snapshot.brokers[2].state
        when = phase or "before"
        table.append(f"{how} {when:<18} {state.value:<13} {seconds:>5.1f} s {len(snapshot.coverage):>3} gaps")
        assert len(snapshot.partitions) == 4, table
        assert not state.is_responsive, table
        assert len(gaps_of(snapshot, 3)) == 1, snapshot.coverage
        assert gives_nothing_to(snapshot, 3), table
    with capsys.disabled():
        print("", *table, sep="\n")


def made_anew(client: Any, name: str, replicas: list[list[int]]) -> None:
    """Delete a topic and make it again at once; Kafka needs a moment between the two."""
    client.delete_topics([name])

    def is_made() -> bool:
        try:
            client.create_topics({name: {"assignments": dict(enumerate(replicas))}}, wait_for_metadata=True)
        except TopicAlreadyExistsError:
            return False
        return True

    wait_for(f"topic {name} to be deleted", is_made, every_s=0.2)


def partition_counts(cluster: KafkaCluster, names: tuple[str, ...]) -> dict[int, dict[str, int]]:
    """Broker → topic → its partitions, as that broker itself knows them."""
    settings = connection_settings({"bootstrap.servers": cluster.bootstrap})
    request = MetadataRequest(topics=None, allow_auto_topic_creation=False)
    with ClusterClient(settings, find_server(settings)) as client:
        client.connect()
        answers = client.send({broker: (broker, request) for broker in client.addresses}, PATIENCE_S)
    return {
        broker: {topic.name: len(topic.partitions) for topic in getattr(answer, "topics", ()) if topic.name in names}
        for broker, answer in answers.items()
    }


@pytest.mark.parametrize("phase", ["reading log dirs", "reading groups", "reading offsets"])
def test_topics_that_change_while_they_are_read_are_as_they_are_or_told(cluster: KafkaCluster, phase: str) -> None:
    """One is deleted, one made anew (and empty), one grown: no figure of the old ones is left."""
    names = ("deleted", "anew", "grown")
    wait_until(cluster, "all brokers", lambda seen: all(broker.state.is_responsive for broker in seen.brokers))
    there = {topic.name for topic in read(cluster).topics}
    create_topics(cluster.bootstrap, {name: [[1, 2]] for name in names if name not in there}, {})
    fill(cluster.bootstrap, dict.fromkeys(names, 40))
    before = {topic.name: topic.topic_id for topic in read(cluster).topics}
    is_done = []

    def strike() -> None:
        with admin(cluster.bootstrap) as client:
            client.delete_topics(["deleted"])
            made_anew(client, "anew", [[2, 3], [3, 1]])
            count = len([row for row in read(cluster).each_partition() if row.topic == "grown"])
            client.create_partitions({"grown": count + 1})
        wanted = {"anew": 2, "grown": count + 1}
        wait_for(  # a broker that lags behind the controller tells of the topics before
            "each broker to know the changed topics", lambda: partition_counts(cluster, names),
            until=lambda counts: all(known == wanted for known in counts.values()),
        )  # fmt: skip
        is_done.append(True)

    torn = read(cluster, _at(phase, strike))
    assert is_done == [True]
    whole = whole_reading(cluster)
    assert {topic.name for topic in torn.topics} == {topic.name for topic in whole.topics}
    assert {topic.name: topic.topic_id for topic in torn.topics} == {
        topic.name: topic.topic_id for topic in whole.topics
    }
    assert before["anew"] != {topic.name: topic.topic_id for topic in torn.topics}["anew"]
    for row in whole.each_partition():
        result = torn.partition(torn.row_of[row.topic, row.partition])
        known = (result.replicas, result.start_offset, result.end_offset)
        assert known == (row.replicas, row.start_offset, row.end_offset) or ("topic", row.topic) in {
            (gap.subject_type, gap.subject) for gap in torn.coverage
        }, (row, torn.coverage)
    assert ("topic", "deleted", FactCode.LACKS_EVERYTHING) in gap_codes(torn)


def test_a_dead_log_dir_is_named_with_its_replicas(cluster: KafkaCluster) -> None:
    """Broker 3 stays up: the dir that vanished is told by its path, its replicas as offline, and by a finding."""
    with_topics(cluster)
    wait_until(
        cluster, "all sizes",
        lambda seen: all(None not in row.log_bytes for row in seen.each_partition()) and not seen.coverage,
    )  # fmt: skip
    dead = next(  # not the dir of the metadata log: a broker that loses that one may halt
        folder for folder in sorted(cluster.folder.glob("data-3-*"))
        if not (folder / "__cluster_metadata-0").is_dir()
        and any((folder / name).is_dir() for name in ("t-1", "t-2", "alone-0"))
    )  # fmt: skip
    assert list(cluster.folder.glob("data-3-*/__cluster_metadata-0"))
    aside = dead.rename(dead.with_name("aside"))
    try:
        snapshot = wait_until(
            cluster, "the error of a log dir", lambda seen: any(log_dir.error for log_dir in seen.brokers[2].log_dirs)
        )
    finally:
        cluster.kill_broker(3)
        shutil.rmtree(dead, ignore_errors=True)  # what Kafka wrote there meanwhile
        aside.rename(dead)
        cluster.start_broker(3)
    assert snapshot.brokers[2].state is BrokerState.ALIVE
    assert fact(FactCode.LACKS_LOG_DIR, path=str(dead)) in [gap.what for gap in gaps_of(snapshot, 3)]
    # Broker 3 says at once that it cannot tell their sizes; the metadata may call them offline later.
    held = [row for row in snapshot.each_partition() if 3 in row.replicas]
    lost = [row for row in held if row.log_bytes[row.replicas.index(3)] is None]
    assert lost
    said = {(subject, what) for _, subject, what in gap_codes(snapshot)}
    assert all(
        {(row.topic, FactCode.LACKS_OFFLINE_REPLICA), (row.topic, FactCode.LACKS_REPLICA_SIZE)} & said for row in lost
    )
    findings = advise(snapshot, AdviceRequest(PlanOptions(with_frontier=False))).document()["findings"]
    (only_finding,) = [finding for finding in findings if finding["code"] == "log_dir_offline"]
    assert (only_finding["subject"], only_finding["evidence"]["replicas"]) == ("3", len(lost))
    assert str(dead) in only_finding["recommendation"]["args"]["paths"]
