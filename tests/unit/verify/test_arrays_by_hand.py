from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import Broker, BrokerState, Capacity, ClusterSnapshot, LogDir, Topic
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from kafka_rebalance.verify.loads import (
    capacities_of,
    hard_limits,
    limits_of,
    loads_of,
    plain_mean,
    skew_of,
    target_factors,
    topic_excess,
)
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row
from tests.unit.plans.hand_plans import ROWS, SNAPSHOT
from tests.unit.verify.hand_claims import arrays, parameters

RUNNING = cluster(
    [
        row("t", 0, (0, 1), 6 * GB),
        row("t", 1, (0, 1, 2), adding=(2,), log_bytes=(4 * GB, 3 * GB, 1 * GB)),
        # Broker 1 leads it and is to go; 0 has written more than the leader has.
        row("t", 2, (1, 2, 0), adding=(0,), removing=(1,), log_bytes=(5 * GB, 5 * GB, 7 * GB)),
        row("t", 3, (2, 1, 0), adding=(0,), log_bytes=(3 * GB, 3 * GB, None)),
        row("t", 4, (2, 1), removing=(1,), log_bytes=(2 * GB, 1 * GB)),
    ],
    brokers(3),
)


def test_what_runs_is_taken_as_done_and_what_it_still_writes_is_counted() -> None:
    """Of partition 1 broker 2 lacks 3 of 4 GB, of partition 2 nothing, of partition 3 broker 0 lacks all 3 GB."""
    known = arrays(RUNNING)
    assert known.now.tolist() == [[0, 1, -1], [0, 1, 2], [2, 0, -1], [2, 1, 0], [2, -1, -1]]
    assert known.leader.tolist() == [0, 0, 2, 2, 2]
    assert known.in_flight.tolist() == [False, True, True, True, True]
    nan = float("nan")
    own = [[6, 6, nan], [4, 3, nan], [5, nan, nan], [3, 3, nan], [2, nan, nan]]
    assert np.array_equal(known.own_bytes / GB, np.array(own), equal_nan=True)
    assert not known.must_leave.any()  # nothing is offline, nor is what a replica that goes leaves empty
    assert known.under_replicated.tolist()[2::2] == [False, False]
    assert (known.unfinished_bytes / GB).tolist() == [3, 0, 3]
    loads = loads_of(known, known.now, known.leader, known.own_bytes)
    assert (loads["disk"] / GB).tolist() == [6 + 4 + 5 + 3, 6 + 3 + 3, 4 + 5 + 3 + 2]
    assert loads["leaders"].tolist() == [2, 0, 3]
    # Untouched replicas count where they are.
    assert target_factors(known, parameters(replication_factor=3)).tolist() == [3, 3, 2, 3, 1]


def test_a_partition_without_leader_that_is_being_moved_has_none_afterwards() -> None:
    unled = replace(RUNNING, partitions=cluster([row("t", 0, (0, 1), leader=None, isr=(), removing=(0,))],
                                                brokers(3)).partitions)  # fmt: skip
    known = arrays(unled)
    assert (known.leader.tolist(), known.leaderless.tolist(), known.now.tolist()) == ([-1], [True], [[1, -1]])


def test_states_and_wishes_say_who_stays_takes_and_leads() -> None:
    states = {"b1": BrokerState.DEAD, "b2": BrokerState.FENCED, "b3": BrokerState.DEMOTED, "b4": BrokerState.DRAINING}
    known = arrays(
        cluster([row("t", 0, (0,), GB)], brokers(8, **states)),
        remove_brokers=[5], demote_brokers=[1, 6], exclude_brokers=[7], add_brokers={"9": "far", "0": None},
    )  # fmt: skip
    assert known.ids.tolist() == [*range(8), 9]
    assert known.is_added.tolist() == [False] * 8 + [True]
    assert np.flatnonzero(known.stays).tolist() == [0, 3, 6, 7, 8]
    assert np.flatnonzero(known.takes_replicas).tolist() == [0, 3, 6, 8]
    assert np.flatnonzero(known.keeps_leaders).tolist() == [0, 7, 8]
    assert np.flatnonzero(known.takes_leaders).tolist() == [0, 8]
    assert [broker.state for broker in known.brokers][6:] == [BrokerState.DEMOTED, BrokerState.ALIVE, BrokerState.NEW]


def test_a_broker_that_is_cordoned_takes_no_replicas_but_leads() -> None:
    shut = LogDir("/a", 100, 40, is_cordoned=True)
    known = arrays(replace(SNAPSHOT, brokers=(replace(SNAPSHOT.brokers[0], log_dirs=(shut,)), *SNAPSHOT.brokers[1:])))
    assert known.takes_replicas.tolist() == [False, True, True]
    assert known.takes_leaders.tolist() == [True] * 3


def test_brokers_without_a_rack_have_one_each() -> None:
    known = [Broker(4, rack="b"), Broker(7), Broker(8, rack="a"), Broker(9), Broker(11, rack="b")]
    rack = arrays(cluster([row("t", 0, (4,), GB)], known)).rack.tolist()
    assert rack == [1, 2 + 1, 0, 2 + 3, 1]


def test_who_is_out_of_sync() -> None:
    """An observer belongs into the ISR only while it is in it; one replica of partition 3 is on a dead disk."""
    rows = [
        row("t", 0, (0, 1, 2), isr=(0, 1)), row("t", 1, (0, 1, 2), isr=(0, 1), observers=(2,)),
        row("t", 2, (0, 1, 2), isr=(0, 2), observers=(2,)), row("t", 3, (0, 1, 2), offline=(1,)),
        row("t", 4, (0, 1, 2), observers=(2,)), row("t", 5, (0, 1)),
    ]  # fmt: skip
    known = arrays(cluster(rows, brokers(3)))
    assert known.under_replicated.tolist() == [True, False, True, True, False, False]
    assert known.observed.tolist() == known.excluded.tolist() == [False, True, True, False, True, False]
    assert known.must_leave.tolist() == [[False] * 3] * 3 + [[False, True, False]] + [[False] * 3] * 2
    nobody_told = cluster([replace(item, isr=None, offline=(), observers=()) for item in rows], brokers(3))
    assert not arrays(nobody_told).under_replicated.any()


def measured(unknown: int, kinds: tuple[LoadKind, ...], count: int = 10) -> ClusterSnapshot:
    """``count`` partitions; of each kind the first ``unknown`` figures are missing."""
    values = np.where(np.arange(count) < unknown, np.nan, 5.0)
    snapshot = cluster([row("t", p, (0, 1)) for p in range(count)], brokers(2))
    return replace(snapshot, loads=PartitionLoads({kind: LoadColumn(values, LoadSource.PROMETHEUS) for kind in kinds}))


def test_a_figure_is_known_where_nine_tenths_of_partitions_have_it() -> None:
    rate = (LoadKind.IN_BYTES_PER_S,)
    assert set(arrays(measured(1, rate)).figures) == {"disk", "in"}
    assert set(arrays(measured(2, rate)).figures) == {"disk"}
    assert arrays(measured(1, rate)).unknown.tolist() == [True] + [False] * 9
    assert not arrays(measured(2, rate)).unknown.any()  # too few known values for a band
    out, cpu = LoadKind.OUT_BYTES_PER_S, LoadKind.CPU_PERCENT
    assert set(arrays(measured(0, (out, cpu))).figures) == {"disk"}  # replication is part of out
    assert set(arrays(measured(0, (*rate, cpu))).figures) == {"disk", "in"}
    whole = arrays(measured(0, (*rate, out, cpu)))
    assert whole.sources == {
        "replicas": "counted", "leaders": "counted", "disk": LoadSource.LOG_DIRS.value,
        "in": "prometheus", "out": "prometheus", "cpu": "prometheus",
    }  # fmt: skip


def test_sums_of_whole_bytes_are_exact_below_2_to_the_52() -> None:
    def has_whole(*sizes: float) -> bool:
        snapshot = cluster([row("t", p, (0, 1)) for p in range(len(sizes))], brokers(2))
        column = LoadColumn(np.array(sizes), LoadSource.GIVEN)
        return arrays(replace(snapshot, loads=PartitionLoads({LoadKind.LOG_BYTES: column}))).has_whole_sizes

    assert has_whole(1.0, 2.0, float("nan"))
    assert not has_whole(1.0, 2.5)
    assert has_whole(2.0**51 - 1)  # two replicas of it
    assert not has_whole(2.0**51)


def test_a_cluster_without_partitions_carries_nothing() -> None:
    empty = arrays(ClusterSnapshot("test", (*brokers(2),), (Topic("t"),), cluster([], brokers(2)).partitions))
    assert topic_excess(empty, empty.now) == 0
    assert empty.excluded.tolist() == []
    assert set(empty.figures) == set()


def test_replicas_of_a_topic_above_its_even_share() -> None:
    """t: 4 replicas on three brokers, 2 each at most, 3 on broker 0; u: 2 replicas, both on broker 1 of 1 each."""
    rows = [row("t", 0, (0,)), row("t", 1, (0,)), row("t", 2, (0, 2)), row("u", 0, (1,)), row("u", 1, (1,))]
    known = arrays(cluster(rows, brokers(3)))
    assert topic_excess(known, known.now) == 1 + 1
    assert topic_excess(arrays(cluster(rows, brokers(3)), remove_brokers=[2]), known.now) == 1 + 1  # 4 on two: 2 each


def with_dirs(*dirs: LogDir, of: int = 0) -> ClusterSnapshot:
    known = tuple(replace(b, log_dirs=dirs) if b.id == of else b for b in SNAPSHOT.brokers)
    return replace(SNAPSHOT, brokers=known)


def test_volumes_are_told_once_and_say_what_is_still_free() -> None:
    """Two volumes of 100 and 200 bytes, the first under two dirs; 30 and 40 are free, and it holds 15 GB."""
    known = arrays(with_dirs(LogDir("/a", 100, 30), LogDir("/b", 100, 30), LogDir("/c", 200, 40)))
    set_by_hand = {1: Capacity(disk_bytes=70.0), 2: Capacity(disk_bytes=80.0)}
    disk = capacities_of(known, set_by_hand)["disk"]
    assert disk is not None
    assert disk.tolist() == [300, 70, 80]
    nothing = {"disk": np.full(3, np.inf), "replicas": np.full(3, np.inf)}
    before = {"disk": np.array([15.0, 10, 5])}
    limits = hard_limits(known, nothing, before)
    assert limits["disk"].tolist() == [15 + 70, np.inf, np.inf]
    assert limits["replicas"].tolist() == [np.inf] * 3
    assert hard_limits(known, {"disk": np.full(3, 60.0)}, before)["disk"].tolist() == [60, 60, 60]
    full = arrays(with_dirs(LogDir("/a", 100, 0)))
    assert hard_limits(full, nothing, before)["disk"].tolist() == [15, np.inf, np.inf]
    for one_unknown in (LogDir("/b", 100, None), LogDir("/b", None, None)):
        partly = arrays(with_dirs(LogDir("/a", 100, 30), one_unknown))
        assert hard_limits(partly, nothing, before)["disk"].tolist() == [np.inf] * 3
    untold = arrays(with_dirs(LogDir("/a", None, None)))
    assert capacities_of(untold, set_by_hand)["disk"] is None  # broker 0 stays; its capacity is unknown
    assert limits_of(untold, set_by_hand)["disk"].tolist() == [np.inf, 70, 80]
    assert limits_of(known, set_by_hand)["disk"].tolist() == [300, 70, 80]
    nothing_there = arrays(with_dirs(LogDir("/a", 0, 0)))
    assert capacities_of(nothing_there, set_by_hand)["disk"] is None  # a volume of no bytes is unknown
    assert hard_limits(nothing_there, nothing, before)["disk"].tolist() == [15, np.inf, np.inf]
    # 3 of the 14 GB of broker 2 are still to come; 9 are free.
    roomy = replace(RUNNING.brokers[2], log_dirs=(LogDir("/a", 20 * GB, 9 * GB),))
    free = replace(RUNNING, brokers=(*RUNNING.brokers[:2], roomy))
    limits = hard_limits(arrays(free), {"disk": np.full(3, np.inf)}, {"disk": np.array([18.0, 13, 14]) * GB})
    assert limits["disk"].tolist() == [np.inf, np.inf, (14 - 3 + 9) * GB]


def test_levels_of_brokers_that_carry_nothing_or_little() -> None:
    """6 and 3 on brokers of half a unit each: 9 on 1 unit, the highest level 12; without brokers or load no skew."""
    load, half = np.array([6.0, 3.0, 100.0]), np.array([0.5, 0.5, 1.0])
    first, nobody = np.array([True, True, False]), np.zeros(3, dtype=bool)
    assert plain_mean(load, half, first) == 9
    assert plain_mean(load, half / 4, first) == 36
    assert skew_of(load, half, first) == pytest.approx(12 / 9)
    assert plain_mean(load, half, nobody) == plain_mean(load, None, nobody) == 0
    assert skew_of(np.zeros(3), None, first) == 0
    assert skew_of(load / 100, None, first) == pytest.approx(6 / 4.5)


def test_a_new_broker_is_as_large_as_the_others_are_on_average() -> None:
    sized = replace(SNAPSHOT, brokers=tuple(replace(b, capacity=Capacity(disk_bytes=100.0 * (1 + b.id)))
                                            for b in SNAPSHOT.brokers))  # fmt: skip
    added = capacities_of(arrays(sized, add_brokers={"5": None}), {})["disk"]
    assert added is not None
    assert added.tolist() == [100, 200, 300, 200]
    one_is_none = replace(sized, brokers=(replace(sized.brokers[0], capacity=Capacity()), *sized.brokers[1:]))
    assert capacities_of(arrays(one_is_none), {})["disk"] is None
    leaving = capacities_of(arrays(one_is_none, remove_brokers=[0]), {})["disk"]
    assert leaving is not None
    assert leaving.tolist() == [250, 200, 300]
    assert capacities_of(arrays(SNAPSHOT), {})["disk"] is None


def test_a_cluster_reads_the_same_in_whatever_order_its_brokers_stand() -> None:
    turned = replace(SNAPSHOT, brokers=SNAPSHOT.brokers[::-1])
    assert arrays(turned).ids.tolist() == [0, 1, 2]
    assert arrays(turned).now.tolist() == arrays().now.tolist()
    assert arrays(cluster(ROWS, brokers(3))).topic.tolist() == [0, 0, 0]
    assert pytest.approx(arrays(turned).size / GB) == [6, 4, 5]
