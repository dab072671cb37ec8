import copy
import json
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from kafka_assignors.connect_work import ConnectTask, Work
from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.facts import FactCode
from kafka_rebalance.snapshot.codec import snapshot_from_document, snapshot_id, snapshot_to_document
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.group import ConnectWorker, Subtopology, Tasks
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    Capacity,
    ClusterSnapshot,
    CommittedOffset,
    Group,
    GroupType,
    LogDir,
    Member,
    Partition,
    PartitionTable,
    Quota,
    Topic,
    partition_table,
)
from kafka_rebalance.snapshot.partition_table import FutureReplica, LoadColumn, PartitionLoads
from tests.coverage_gaps import gap_of

WORKER = ConnectWorker(
    version=2, url="http://w:8083/", config_offset=7, joined_with=Work(), leader="w-1", leader_url="http://w:8083/",
    assigned_offset=8, delay_ms=9, error=1, revoked=Work(("a",)),
    assigned=Work(("b", "a"), (ConnectTask("a", 1), ConnectTask("b", 0), ConnectTask("a", 0))),
)  # fmt: skip


def whole_snapshot() -> ClusterSnapshot:
    """Everything that a snapshot can hold, once."""
    rows = [
        Partition("a", 0, (1, 2), 1, isr=(1,), log_bytes=(10, None), start_offset=5, end_offset=9),
        Partition(
            "a",
            1,
            (2, 3, 1),
            None,
            isr=(),
            log_bytes=(0, 0, 7),
            adding=(3,),
            removing=(1,),
            offline=(2,),
            observers=(3,),
            eligible=(1,),
        ),
        Partition(
            "b_2",
            0,
            (3,),
            3,
            isr=(3,),
            log_bytes=(1 << 45,),
            log_dirs=(1,),
            future=(FutureReplica(3, 0, 1 << 44),),
            local_start_offset=0,
        ),
    ]
    loads = PartitionLoads(
        {
            LoadKind.IN_BYTES_PER_S: LoadColumn(np.array([1.5, np.nan, 0.0]), LoadSource.LOG_DIR_GROWTH, 60.0),
            LoadKind.CPU_PERCENT: LoadColumn(np.array([1.0, 2.0, 3.0]), LoadSource.GIVEN),
        }
    )
    member = Member(
        "m-1", "static-1", "client", "/10.0.0.1", "r1", ("a", "b"), "x.*", (("a", (0, 1)),), (("a", (0,)),), (), 3,
        b"\x00\xff", "odd", is_classic=True, subscription_version=3,
    )  # fmt: skip
    flow = Group(
        "flow", GroupType.STREAMS, state="Stable", generation=5, assignment_epoch=4, configs={"k": "v"}, client="java",
        client_version="3.7.0", member_count=3,
        members=(
            Member("s-1", process_id="p", tasks=Tasks((("0", (0, 1)),), warmup=(("1", ()),)), target_tasks=Tasks(),
                   task_offsets=(("0", ((0, 2**40), (1, 0))),), task_end_offsets=()),
        ),
        committed=(CommittedOffset("a", 0, 6, 0), CommittedOffset("a", 1, 7), CommittedOffset("b_2", 0, 8, 1, 2.5)),
        subtopologies=(Subtopology("0", ("a",), ("r",), ("c",)), Subtopology("1")),
    )  # fmt: skip
    group = Group(
        "g",
        GroupType.CONSUMER,
        "consumer",
        "uniform",
        "Stable",
        7,
        2,
        (member, Member("m-2", partition_count=4), Member("w-1", worker=WORKER)),
        (CommittedOffset("a", 0, 6), CommittedOffset("a", 1, 3, None, 0.1)),
    )
    return ClusterSnapshot(
        cluster="demo",
        brokers=(
            Broker(1, "r1", "h1", 9092, is_controller=True, configs={"leader.replication.throttled.rate": "5"}),
            Broker(2, "r2", state=BrokerState.DRAINING, capacity=Capacity(disk_bytes=1e12, cpu_percent=100.0)),
            Broker(
                3, None, log_dirs=(LogDir("/d", 100, 50, None, True, 2, 7, "gone-0"), LogDir("/e", error="offline"))
            ),
        ),
        topics=(Topic("a", "id", configs={"min.insync.replicas": "2\U0001f600"}), Topic("b_2", is_internal=True)),
        partitions=partition_table(rows, {"a": 0, "b_2": 1}),
        groups=(group, flow),
        loads=loads,
        cluster_id="c1",
        captured_at=datetime(2026, 11, 20, 6, tzinfo=UTC),
        source="live",
        kafka_version="4.3",
        coverage=(gap_of("topic", "hidden", FactCode.LACKS_DESCRIPTION, "no Describe right"),),
        features={"group.version": 1},
        quotas=(Quota((("user", "u"), ("client-id", None)), {"producer_byte_rate": 2.5}),),
    )


def test_a_snapshot_survives_json_byte_for_byte() -> None:
    snapshot = whole_snapshot()
    document = json.loads(json.dumps(snapshot_to_document(snapshot)))
    again = snapshot_from_document(document)
    assert snapshot_to_document(again) == snapshot_to_document(snapshot)
    assert snapshot_id(again) == snapshot_id(snapshot)
    assert list(again.each_partition()) == list(snapshot.each_partition())
    assert again.brokers == snapshot.brokers
    assert again.groups == snapshot.groups
    assert again.coverage == snapshot.coverage
    assert (again.features, again.quotas) == (snapshot.features, snapshot.quotas)


def test_what_newer_releases_tell_is_left_out_where_there_is_none() -> None:
    """Then the document is what an earlier version wrote, and its id the same."""
    snapshot = whole_snapshot()
    plain = PartitionTable(
        **{name: getattr(snapshot.partitions, name) for name in ("topic", "partition", "offsets", "replicas", "leader",
                                                                 "replica_log_bytes", "start_offset", "end_offset")}
    )  # fmt: skip
    document = snapshot_to_document(
        replace(snapshot, partitions=plain, groups=(Group("g", members=(Member("m"),)),), features={}, quotas=())
    )
    assert document.keys().isdisjoint({"features", "quotas"})
    assert document["groups"][0].keys().isdisjoint({"assignment_epoch", "subtopologies", "configs"})
    assert document["groups"][0]["members"] == [{"id": "m", "assigned": []}]
    fields = {"partition", "replicas", "leader", "log_bytes", "start_offset", "end_offset"}
    assert all(row.keys() == fields for topic in document["topics"] for row in topic["partitions"])


def test_the_id_changes_with_any_content() -> None:
    snapshot = whole_snapshot()
    document = snapshot_to_document(snapshot)
    document["topics"][0]["partitions"][0]["log_bytes"][0] = 11
    assert snapshot_id(snapshot_from_document(document)) != snapshot_id(snapshot)


def test_the_leaders_size_stands_for_an_unknown_load() -> None:
    assert whole_snapshot().load(LoadKind.LOG_BYTES).tolist() == [10.0, 7.0, float(1 << 45)]
    assert np.isnan(whole_snapshot().load(LoadKind.OUT_BYTES_PER_S)).all()


def _with(path: str, value: object) -> dict[str, object]:
    document = json.loads(json.dumps(snapshot_to_document(whole_snapshot())))
    spot = document
    *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    for step in steps:
        spot = spot[step]
    spot[last] = value
    return document


BROKEN = [
    ("format", "other", "format"),
    ("format_version", 9, "format_version"),
    ("cluster", None, "'cluster' is missing"),
    ("brokers/0/id", "one", "brokers[0].id"),
    ("brokers/0/id", 2, "broker 2: is listed twice"),
    ("brokers/1/state", "gone", "brokers[1].state"),
    ("brokers/0/colour", "red", "unknown field 'colour'"),
    ("topics/1/name", "a", "topic a: is listed twice"),
    ("topics/0/partitions/0/replicas", [1, 1], "a-0: broker 1 stands twice"),
    ("topics/0/partitions/0/replicas", [1, 9], "a-0: replica on broker 9"),
    ("topics/0/partitions/0/replicas", [], "a-0"),
    ("topics/0/partitions/0/replicas", ["1", 2], "a-0: 'replicas'"),
    ("topics/0/partitions/0/leader", 3, "a-0: leader 3 is not among replicas"),
    ("topics/0/partitions/0/log_bytes", [1], "a-0: 1 sizes for 2 replicas"),
    ("topics/0/partitions/0/size", 1, "a-0: unknown field 'size'"),
    ("topics/0/partitions/0/log_dirs", [1], "a-0: 1 log dirs for 2 replicas"),
    ("topics/0/partitions/0/future", [[1, 0]], "a-0: 'future' must be a list of"),
    ("topics/0/partitions/0/local_start_offset", -1, "a-0: 'local_start_offset'"),
    ("topics/0/partitions/1/eligible", [9], "a-1: eligible names broker 9"),
    ("features/group.version", -1, "features.group.version"),
    ("quotas/0/entity", [["user"]], "quotas[0].entity[0]"),
    ("groups/1/members/0/tasks", {"idle": []}, "unknown field 'idle'"),
    ("groups/1/committed/0", ["a", 0], "expected [topic, partition, offset]"),
    ("topics/0/partitions/1/partition", 0, "is listed twice"),
    ("topics/0/partitions/1/partition", "x", "topics[0].partitions"),
    ("loads/in_bytes_per_s/values", [1.0], "1 values for 3 partitions"),
    ("loads/in_bytes_per_s/values", [-1.0, 0, 0], "-1.0 is no load"),
    ("loads/in_bytes_per_s/source", "guess", "source"),
    ("loads/karma", {}, "karma"),
    ("groups/0/members/1/id", "m-1", "member m-1 is listed twice"),
    ("groups/0/type", "odd", "groups[0].type"),
    ("groups/0/members/0/user_data", "?", "user_data"),
    ("groups/0/members/0/owned", [["a"]], "owned"),
    ("groups/0/committed/0", ["a", 0], "committed[0]"),
    ("groups/0/committed/0", ["a", 0, 6, None], "committed[0]"),
    ("groups/0/committed/1", ["a", 0, 6, None, -0.5], "committed[1]"),
    ("groups/0/committed/1", ["a", 0, 6, None, float("nan")], "committed[1]"),
    ("groups/0/committed/1", ["a", 0, 6, 1, "fast"], "committed[1]"),
    ("groups/0/committed/1", ["a", 0, 6, 1, 2, 3], "committed[1]"),
]


@pytest.mark.parametrize(
    ("path", "value", "location"), BROKEN, ids=[f"{path}={value}"[:60] for path, value, _ in BROKEN]
)
def test_a_wrong_document_is_refused_with_its_place(path: str, value: object, location: str) -> None:
    with pytest.raises(InvalidInputError, match=__import__("re").escape(location)):
        snapshot_from_document(_with(path, value))


def test_reading_leaves_the_document_as_it_was() -> None:
    document = snapshot_to_document(whole_snapshot())
    before = copy.deepcopy(document)
    snapshot_from_document(document)
    assert document == before
