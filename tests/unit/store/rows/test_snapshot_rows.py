from __future__ import annotations

import numpy as np

from kafka_rebalance.facts import FactCode
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import (
    Broker,
    BrokerState,
    Capacity,
    ClusterSnapshot,
    Group,
    LogDir,
    Member,
    Partition,
    Topic,
    partition_table,
)
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from rebalance_advisor.store.rows.snapshot_rows import TABLES, counts, headed, row_count
from tests.coverage_gaps import gap_of

NULL = r"\N"


def cluster(**changes: object) -> ClusterSnapshot:
    """Two brokers, topics u and t with two partitions together, one group of two members."""
    rows = [
        Partition("t", 0, (1, 2), 1, (1,), (70, None), 0, 9, adding=(2,)),
        Partition("u", 3, (2,), None, (), (None,)),
    ]
    members = (
        Member("m1", "pod\t1", "c", "/h", None, ("t",), None, (("t", (0,)),), (("t", (0,)), ("u", (3, 4))), None, 2),
        Member("m2", user_data=b"\x01\xfe"),
    )
    parts: dict[str, object] = {
        "brokers": (
            Broker(1, "a", "h", 9, is_controller=True, log_dirs=(LogDir("/d", 10, None),), configs={"k": "v"}),
            Broker(2, state=BrokerState.DEAD, capacity=Capacity(cpu_percent=50.0)),
        ),
        "topics": (Topic("u"), Topic("t", "id", is_internal=True)),
        "partitions": partition_table(rows, {"u": 0, "t": 1}),
        "groups": (Group("g", protocol="range", generation=3, coordinator=1, members=members),),
        "loads": PartitionLoads({LoadKind.IN_BYTES_PER_S: LoadColumn(np.array([1.5, np.nan]), LoadSource.GIVEN, 60.0)}),
        "coverage": (gap_of("group", "x", FactCode.LACKS_MEMBERS, "no right\n"),),
    }
    return ClusterSnapshot("c", **(parts | changes))


def rows_of(snapshot: ClusterSnapshot) -> dict[str, dict[str, list[str]]]:
    tables = {table: columns_of(snapshot) for table, columns_of in TABLES.items()}
    return {
        table: {name: list(map(str, cells)) for name, cells in headed(table, columns, 12, "2026-11-20T06:00Z").items()}
        for table, columns in tables.items()
        if row_count(columns)
    }


def test_rows_carry_key_and_time_and_the_two_that_are_no_weekly_partitions_the_key_alone() -> None:
    tables = rows_of(cluster())
    assert list(tables) == [
        "broker", "log_dir", "topic", "partition", "load", "consumer_group", "member", "load_source", "coverage_gap",
    ]  # fmt: skip
    assert [name for name, columns in tables.items() if "captured_at" not in columns] == ["load_source", "coverage_gap"]
    assert {tuple(columns["snapshot_key"]) for columns in tables.values()} <= {("12",), ("12", "12")}
    bare = rows_of(cluster(groups=(), loads=PartitionLoads(), coverage=()))
    assert list(bare) == ["broker", "log_dir", "topic", "partition"]


def test_brokers_dirs_and_topics() -> None:
    tables = rows_of(cluster())
    broker = tables["broker"]
    assert (broker["broker"], broker["rack"], broker["state"]) == (["1", "2"], ["a", NULL], ["alive", "dead"])
    assert (broker["is_controller"], broker["configs"]) == (["t", "f"], ['{"k":"v"}', "{}"])
    assert (broker["capacity_cpu_percent"], broker["capacity_disk_bytes"]) == ([NULL, "50.0"], [NULL, NULL])
    assert (tables["log_dir"]["total_bytes"], tables["log_dir"]["usable_bytes"]) == (["10"], [NULL])
    assert (tables["topic"]["topic"], tables["topic"]["partition_count"]) == (["u", "t"], ["1", "1"])


def test_partitions_stand_in_the_order_of_the_table_with_unknowns_as_null() -> None:
    """u comes first among the topics, so its partition is the first row."""
    tables = rows_of(cluster())
    partition = {
        name: cells for name, cells in tables["partition"].items() if name not in ("snapshot_key", "captured_at")
    }
    assert partition == {
        "topic": ["u", "t"],
        "partition": ["3", "0"],
        "replicas": ["{2}", "{1,2}"],
        "leader": [NULL, "1"],
        "isr": ["{}", "{1}"],
        "log_bytes": ["{NULL}", "{70,NULL}"],
        "start_offset": [NULL, "0"],
        "end_offset": [NULL, "9"],
        "adding": [NULL, "{2}"],
        "removing": [NULL, NULL],
        "offline": [NULL, NULL],
        "observers": [NULL, NULL],
        "eligible": [NULL, NULL],
        "log_dirs": [NULL, NULL],
        "future": [NULL, NULL],
        "local_start_offset": [NULL, NULL],
    }


def test_loads_are_null_where_unknown_and_their_source_says_how_much_is_known() -> None:
    tables = rows_of(cluster())
    assert tables["load"]["in_bytes_per_s"] == ["1.5", NULL]
    source = {name: cells for name, cells in tables["load_source"].items() if name != "snapshot_key"}
    assert source == {"kind": ["in_bytes_per_s"], "source": ["given"], "window_s": ["60.0"], "known_share": ["0.5"]}


def test_members_and_gaps() -> None:
    """m1 is assigned 1 + 2 partitions."""
    tables = rows_of(cluster())
    member = tables["member"]
    assert (member["member_id"], member["instance_id"]) == (["m1", "m2"], [r"pod\t1", NULL])
    assert (member["subscription"], member["assigned_count"]) == (['{"t"}', NULL], ["3", "0"])
    assert member["assigned"] == ['[["t",[0]],["u",[3,4]]]', "[]"]
    assert (member["owned"], member["target"]) == (['[["t",[0]]]', NULL], [NULL, NULL])
    assert (member["generation"], member["user_data"]) == (["2", NULL], [NULL, r"\\x01fe"])
    gap = tables["coverage_gap"]
    assert (gap["missing_code"], gap["missing_args"]) == (["lacks_members"], ["{}"])
    assert (gap["reason_code"], gap["reason_args"]) == (["as_reported"], [r'{"text":"no right\\n"}'])


def test_counts_of_the_snapshots_own_row() -> None:
    assert counts(cluster()) == {
        "broker_count": 2, "topic_count": 2, "partition_count": 2, "replica_count": 3, "group_count": 1,
        "member_count": 2, "gap_count": 1,
    }  # fmt: skip
