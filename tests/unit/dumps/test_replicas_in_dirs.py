from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from kafka_rebalance.cluster_arrays.snapshot_arrays import build_broker_arrays
from kafka_rebalance.errors import InfeasibleError, UsageError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.log_dir_plans.make import LogDirRequest, make_log_dir_plan
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.verify.log_dirs import check_log_dir_plan
from rebalance_advisor.cli.main import main
from rebalance_advisor.dumps import read_input
from tests.sample import for_each
from tests.unit.dumps.test_broker_liveness import topics

Dirs = dict[str, dict[str, int]]  # path → replica → bytes; a name with ! before it is a copy in the making
GB = 10**9


def document(brokers: dict[int, Dirs], failed: tuple[str, ...] = ()) -> str:
    """Output of ``kafka-log-dirs --describe``."""
    rows: list[dict[str, Any]] = []
    for broker, dirs in brokers.items():
        listed = [
            {
                "logDir": path,
                "error": "org.apache.kafka.common.errors.KafkaStorageException" if path in failed else None,
                "partitions": [
                    {"partition": name.lstrip("!"), "size": size, "offsetLag": 0, "isFuture": name.startswith("!")}
                    for name, size in held.items()
                ],
            }
            for path, held in dirs.items()
        ]
        rows.append({"broker": broker, "logDirs": listed})
    head = "Querying brokers for log directories information\nReceived log directory information from brokers 1,2\n"
    return head + json.dumps({"version": 1, "brokers": rows}) + "\n"


def disks_by_path(**mib: int) -> str:
    """A Cruise Control capacity file with the same disks on every broker."""
    by_path = {f"/{name}": str(size) for name, size in mib.items()}
    return json.dumps({"brokerCapacities": [{"brokerId": "-1", "capacity": {"DISK": by_path, "CPU": "100"}}]})


@pytest.fixture
def read(tmp_path):
    def read_files(**files: str) -> ClusterSnapshot:
        for path in tmp_path.iterdir():
            path.unlink()
        for name, text in files.items():
            (tmp_path / name).write_text(text)
        return read_input(tmp_path, cluster="c")

    return read_files


FOUR = topics(([1, 2], 1, [1, 2]), ([2, 1], 2, [2, 1]), ([1, 2], 1, [1, 2]), ([2, 1], 2, [2, 1]))


def test_each_replica_lies_in_the_dir_that_lists_it(read):
    dirs = {1: {"/b": {"t-0": 5, "t-1": 6}, "/a": {"t-2": 7, "t-3": 8}}, 2: {"/x": dict.fromkeys(("t-0", "t-1"), 1)}}
    snapshot = read(topics=FOUR, dirs=document(dirs))
    rows = list(snapshot.each_partition())
    assert [log_dir.path for log_dir in snapshot.brokers[0].log_dirs] == ["/a", "/b"]
    assert [row.log_dirs for row in rows] == [(1, 0), (0, 1), (0, None), (None, 0)]
    assert [row.log_bytes for row in rows] == [(5, 1), (1, 6), (7, None), (None, 8)]


def test_a_copy_on_its_way_between_dirs_is_a_future_replica_and_takes_disk(read):
    dirs = {1: {"/a": {"t-0": 500}, "/b": {"!t-0": 120, "t-1": 30}}, 2: {"/a": {"t-0": 500}}}
    snapshot = read(topics=FOUR, dirs=document(dirs))
    assert [tuple(copy) for copy in snapshot.partition(0).future] == [(1, 1, 120)]
    assert snapshot.unplaced_bytes == {1: 120}
    assert snapshot.held_bytes(snapshot.brokers[0]) is None, "t-2 and t-3 are in no dir"


def test_logs_that_no_replica_list_has_are_strays_of_their_dir(read):
    """Logs of known, unknown and deleted topics, and copies of such; also with a single dir."""
    doomed = "Topic: old\tPartitionCount: 1\tReplicationFactor: 1\tConfigs:\tMarkedForDeletion:true\n"
    dirs = {
        1: {"/a": {"t-0": 1, "t-1": 1, "gone-12": 40, "old-0": 2}, "/b": {"t-2": 1, "t-3": 1, "!gone-12": 7}},
        2: {"/a": {"t-0": 1, "t-1": 1, "t-2": 1, "t-3": 1}},
    }
    snapshot = read(topics=FOUR + doomed, dirs=document(dirs))
    first, second = snapshot.brokers
    strays = [(dir_.path, dir_.stray_logs, dir_.stray_bytes, dir_.largest_stray) for dir_ in first.log_dirs]
    assert strays == [("/a", 2, 42, "gone-12"), ("/b", 1, 7, "gone-12")]
    assert second.log_dirs[0].stray_logs == 0
    assert snapshot.unplaced_bytes == {1: 49}
    assert snapshot.held_bytes(first) == {"/a": 44, "/b": 9}
    assert build_broker_arrays(snapshot, PlanOptions()).unplaced_bytes.tolist() == [49, 0]
    topics_told = [(gap.subject, gap.what.code) for gap in snapshot.coverage if gap.subject_type == "topic"]
    assert sorted(topics_told) == [("gone", FactCode.LACKS_DESCRIPTION), ("old", FactCode.LACKS_EVERYTHING)]


def test_log_dirs_that_were_dumped_topic_by_topic_are_put_together(read):
    rows = FOUR + FOUR.replace("Topic: t\t", "Topic: u\t")
    of_t = {b: {"/a": {"t-0": 9, "t-1": 9}, "/b": {"t-2": 9, "t-3": 9}} for b in (1, 2)}
    of_u = {b: {"/b": {"u-0": 5, "u-1": 5}, "/a": {"u-2": 5, "u-3": 5}} for b in (1, 2)}
    snapshot = read(topics=rows, dirs=document(of_t) + document(of_u))
    assert [row.log_bytes for row in snapshot.each_partition()] == [(9, 9)] * 4 + [(5, 5)] * 4
    assert [row.log_dirs for row in snapshot.each_partition()][::2] == [(0, 0), (1, 1), (1, 1), (0, 0)]
    assert FactCode.LACKS_SIZES not in {gap.what.code for gap in snapshot.coverage}
    assert read(topics=rows, dirs=document(of_t), more=document(of_u)).brokers == snapshot.brokers
    # A replica that moved between two of the dumps counts where it was read last.
    later = {1: {"/a": {}, "/b": {"t-0": 11}}}
    assert read(topics=rows, dirs=document(of_t) + document(of_u) + document(later)).partition(0).log_bytes == (11, 9)


def test_replicas_of_a_failed_dir_are_offline_and_those_that_nobody_asked_for_are_not(read):
    """The failed dir of broker 1 lists nothing. What it led when topics were dumped is left as it was."""
    rows = topics(([1, 2], 2, [2]), ([1, 2], 2, [2, 1]), ([1, 2], 1, [1, 2]), ([2, 1], 2, [2, 1]))
    dirs = {1: {"/a": {"t-3": 4}, "/b": {}}, 2: {"/a": {f"t-{p}": 4 for p in range(4)}}}
    snapshot = read(topics=rows, dirs=document(dirs, failed=("/b",)))
    assert [row.offline for row in snapshot.each_partition()] == [(1,), (1,), (), ()]
    assert snapshot.brokers[0].log_dirs[1].error is not None
    other = document(dirs, failed=("/b",)) + document({1: {"/a": {}}, 2: {"/a": {}}}, failed=("/b",))
    both = rows + FOUR.replace("Topic: t\t", "Topic: u\t")
    assert [row.offline for row in read(topics=both, dirs=other).each_partition()] == [(1,), (1,), *[()] * 6]


def test_a_log_dir_gets_the_size_of_the_disk_that_it_is_on(read):
    """By the longest path above it; two dirs on one disk share it; two disks of equal size are two."""
    dirs = {1: {"/d/0/log": {"t-0": 3 * 2**20, "t-1": 2**20}, "/d/1/log": {"t-2": 2**20, "t-3": 3 * 2**20}}}
    dirs[2] = {"/d/0/a": {"t-0": 3 * 2**20, "t-1": 2**20}, "/d/0/b": {"t-2": 2**20, "t-3": 2**20}, "/e": {"x-0": 2**20}}
    given = disks_by_path(d=1, **{"d/0": 10, "d/1": 10})
    first, second = read(topics=FOUR, dirs=document(dirs), capacity=given).brokers
    assert [(d.total_bytes, d.usable_bytes) for d in first.log_dirs] == [
        (10 * 2**20, 6 * 2**20), (10 * 2**20 - 1, 6 * 2**20 - 1),
    ]  # fmt: skip
    assert [(d.total_bytes, d.usable_bytes) for d in second.log_dirs] == [(10 * 2**20, 4 * 2**20)] * 2 + [(None, None)]
    # Where a replica's dir is unknown, so is the free space of the disk.
    short = {1: {"/d/0/log": {"t-0": 1}, "/d/1/log": {"t-2": 1}}}
    broker = read(topics=FOUR, dirs=document(short), capacity=given).brokers[0]
    assert {log_dir.total_bytes for log_dir in broker.log_dirs} == {None}


UNEVEN = {b: {"/d0": {f"t-{p}": 2**20 for p in range(3)}, "/d1": {"t-3": 2**20}} for b in (1, 2)}


def test_disks_of_a_dump_are_balanced_and_emptied(read):
    """Two dirs of each broker, unevenly used (cruise-control #2324)."""
    known = read(topics=FOUR, dirs=document(UNEVEN), capacity=disks_by_path(d0=10, d1=10))
    plan = make_log_dir_plan(known, LogDirRequest(0.05))
    assert (plan.verdict, plan.replica_moves, plan.left_out) == ("rebalance", 2, {})
    assert check_log_dir_plan(plan.document(), known) == ()
    for snapshot in (known, read(topics=FOUR, dirs=document(UNEVEN))):  # to empty a dir no sizes are needed
        emptied = make_log_dir_plan(snapshot, LogDirRequest(None, frozenset({(1, "/d0")})))
        assert [move.dirs_to for move in emptied.moves] == [("/d1", None), (None, "/d1"), ("/d1", None)]
        assert check_log_dir_plan(emptied.document(), snapshot) == ()


def test_where_sizes_or_places_are_unknown_the_answer_is_cannot_tell(read, tmp_path, capsys):
    snapshot = read(topics=FOUR, dirs=document(UNEVEN))
    plan = make_log_dir_plan(snapshot, LogDirRequest(0.05))
    assert (plan.verdict, sorted(plan.left_out)) == ("cannot_tell", ["1", "2"])
    assert plan.reasons[0] == fact(FactCode.DIRS_NOT_KNOWN, brokers=(1, 2), is_to_empty=False)
    assert plan.left_out["1"] == fact(FactCode.DIRS_LEFT_OUT, why="sizes_unknown")
    assert check_log_dir_plan(plan.document(), snapshot) == ()
    out = str(tmp_path.parent / "out")
    assert main(["plan", str(tmp_path), "--balance-log-dirs", "5%", "--out", out]) == 4
    assert "cannot_tell: too little is known of brokers 1, 2" in capsys.readouterr().out
    # For another topic, the log dirs do not show this one; broker 2 did not answer.
    elsewhere = read(
        topics=FOUR, dirs=document({1: {"/d0": {"x-0": 5}, "/d1": {}}}), capacity=disks_by_path(d0=9, d1=9)
    )
    for request in (LogDirRequest(0.05), LogDirRequest(None, frozenset({(1, "/d0")}))):
        plan = make_log_dir_plan(elsewhere, request)
        assert (plan.verdict, plan.moves) == ("cannot_tell", ())
        assert plan.left_out["1"] == fact(FactCode.DIRS_LEFT_OUT, why="places_unknown")
        assert check_log_dir_plan(plan.document(), elsewhere) == ()
    assert plan.reasons[0] == fact(FactCode.DIRS_NOT_KNOWN, brokers=(1,), is_to_empty=True)


def test_one_dir_that_cannot_be_emptied_leaves_all_in_place(read):
    snapshot = read(topics=FOUR, dirs=document({1: {"/d0": {"x-0": 5}, "/d1": {}}, 2: UNEVEN[2]}))
    plan = make_log_dir_plan(snapshot, LogDirRequest(None, frozenset({(1, "/d0"), (2, "/d0")})))
    assert (plan.verdict, plan.moves, plan.brokers) == ("cannot_tell", (), ())
    assert plan.left_out["2"] == fact(FactCode.DIRS_LEFT_OUT, why="other_broker")
    assert check_log_dir_plan(plan.document(), snapshot) == ()


def test_a_forged_cannot_tell_is_refused(read):
    known = read(topics=FOUR, dirs=document(UNEVEN), capacity=disks_by_path(d0=10, d1=10))
    for request in (LogDirRequest(0.3), LogDirRequest(None, frozenset({(1, "/d0")}))):
        forged = make_log_dir_plan(known, request).document() | {"verdict": "cannot_tell"}
        assert "verdict" in {fault.code for fault in check_log_dir_plan(forged, known)}
    unknown = read(topics=FOUR, dirs=document(UNEVEN))
    forged = make_log_dir_plan(unknown, LogDirRequest(0.05)).document() | {"verdict": "nothing_to_do"}
    assert "verdict" in {fault.code for fault in check_log_dir_plan(forged, unknown)}


def drawn(random: Random) -> tuple[str, str, set[int]]:
    """Topics and log dirs of a random cluster, and brokers with a replica of unknown dir."""
    brokers = random.sample(range(1, 9), random.randint(1, 4))
    held: dict[int, Dirs] = {b: {f"/d{n}": {} for n in range(random.randint(1, 3))} for b in brokers}
    rows, untold = [], set()
    for number in range(random.randint(1, 9)):
        replicas = random.sample(brokers, random.randint(1, len(brokers)))
        rows.append((replicas, replicas[0], replicas))
        for broker in replicas:
            dirs = list(held[broker].values())
            log_dir = random.choice(dirs)
            if random.random() < 0.05:
                untold.add(broker)
                continue
            log_dir[f"t-{number}"] = random.choice([0, random.randint(1, 50) * 2**18])
            if len(dirs) > 1 and random.random() < 0.1:
                random.choice([other for other in dirs if other is not log_dir])[f"!t-{number}"] = 2**18
    for dirs in held.values():
        if random.random() < 0.2:
            random.choice(list(dirs.values()))["gone-0"] = 2**20
    dumped = {b: dirs for b, dirs in held.items() if random.random() < 0.9}
    failed = (random.choice(["/d0", "/d1", "/d2"]),) if random.random() < 0.15 else ()
    for dirs in dumped.values():
        for path in failed:
            if dirs.get(path):
                dirs[path] = {}
    return topics(*rows), document(dumped, failed), untold | (held.keys() - dumped.keys())


@for_each("seed", range(300), range(60))
def test_plans_of_any_dump_are_verified_or_refused_in_words(tmp_path, seed):
    """Unknown loads are never within the band."""
    random = Random(seed)
    described, dirs, untold = drawn(random)
    files = {"topics": described, "dirs": dirs}
    is_sized = random.random() < 0.7
    if is_sized:
        files["capacity"] = disks_by_path(**{f"d{n}": random.randint(60, 300) for n in range(3)})
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    snapshot = read_input(tmp_path)
    several = [broker for broker in snapshot.brokers if len(broker.log_dirs) > 1]
    removed = {
        (broker.id, random.choice(broker.log_dirs).path) for broker in random.sample(several, min(1, len(several)))
    }
    for request in (LogDirRequest(0.05), LogDirRequest(None, frozenset(removed or {(1, "/d0")}))):
        try:
            plan = make_log_dir_plan(snapshot, request)
        except (UsageError, InfeasibleError):
            continue
        assert [str(fault) for fault in check_log_dir_plan(plan.document(), snapshot)] == []
        balanced = [broker.id for broker in several if sum(log_dir.error is None for log_dir in broker.log_dirs) > 1]
        if request.within is not None and balanced and (not is_sized or set(balanced) & untold):
            assert plan.verdict != "nothing_to_do"
