from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.cluster_arrays.bands import band_of, distinct_racks, even_spread, fair_shares, plain_mean
from kafka_rebalance.cluster_arrays.snapshot_arrays import (
    build_broker_arrays,
    build_partition_arrays,
    usable_bytes,
    volume_bytes,
)
from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import FactCode
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target
from kafka_rebalance.scoring.scores import ClusterScores
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.codec import (
    broker_document,
    gap_document,
    partition_documents,
    read_broker,
    read_gap,
    read_partitions,
    snapshot_from_document,
    snapshot_id,
    snapshot_to_document,
    text,
    whole,
    whole_up_to,
)
from kafka_rebalance.snapshot.model import Broker, BrokerState, Capacity, LogDir
from tests.coverage_gaps import gap_of
from tests.unit.planner.sample_clusters import GB, brokers, cluster
from tests.unit.plans.hand_plans import ROWS, SNAPSHOT


def test_the_plain_mean_is_of_those_that_stay() -> None:
    load, capacity = np.array([30.0]), np.array([[1.0], [1.0], [2.0]])
    assert plain_mean(load, capacity, np.array([True, True, False])).tolist() == [15.0]
    assert plain_mean(load, capacity, np.zeros(3, dtype=bool)).tolist() == [0.0]


def test_an_even_spread_over_racks() -> None:
    held, odd = even_spread(3, np.array([2, 2, 2, 2]))
    assert (held.tolist(), odd) == ([0, 0, 0, 0], 3)
    held, odd = even_spread(5, np.array([1, 3, 3]))
    assert (held.tolist(), odd) == ([1, 2, 2], 0)
    assert distinct_racks(np.array([4, -1, 4, -1])).tolist() == [0, 1, 0, 2]


def test_a_rack_of_four_has_smaller_shares_than_racks_of_three() -> None:
    rack = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2], dtype=np.int32)
    shares = fair_shares(
        rack=rack, capacity=np.ones((10, 1)), may_carry=np.ones((10, 1), dtype=np.bool_),
        may_lead=np.ones(10, dtype=np.bool_),
        target_rf=np.full(30, 3, dtype=np.int32), follower_load=np.ones((30, 1)), leader_extra=np.zeros((30, 1)),
    )  # fmt: skip
    assert shares[:, 0] == pytest.approx([7.5] * 4 + [10.0] * 6)


def test_bands_of_shares_counts_and_targets() -> None:
    bands = band_of(
        resources=("disk", "in", "replicas"), shares=np.array([[10.0, 10.0, 3.4]] * 2),
        total=np.array([20.0, 20.0, 6.8]),
        capacity=np.ones((2, 3)), stays=np.array([True, True]), within={"disk": 0.1, "in": 0.1, "replicas": 0.1},
        targets={"in": Target(None, 1.2)},
    )  # fmt: skip
    assert bands.low[0] == pytest.approx([9.0, 0.0, 3.0])  # 3.4 replicas may be 3 or 4 however narrow the band
    assert bands.high[0] == pytest.approx([11.0, 12.0, 4.0])


def test_brokers_that_are_removed_added_demoted_and_excluded() -> None:
    options = PlanOptions(
        remove_brokers=frozenset({0}),
        demote_brokers=frozenset({1}),
        exclude_brokers=frozenset({2}),
        add_brokers={7: "x"},
    )
    arrays = build_broker_arrays(SNAPSHOT, options).arrays
    assert arrays.ids.tolist() == [0, 1, 2, 7]
    assert arrays.stays.tolist() == [False, True, True, True]
    assert arrays.takes_replicas.tolist() == [False, True, False, True]
    assert arrays.takes_leaders.tolist() == [False, False, False, True]
    assert arrays.keeps_leaders.tolist() == [False, False, True, True]
    assert arrays.is_new.tolist() == [False, False, False, True]


def test_an_option_for_a_broker_that_is_not_there_is_refused() -> None:
    with pytest.raises((UsageError, InvalidInputError), match="9"):
        build_broker_arrays(SNAPSHOT, PlanOptions(remove_brokers=frozenset({9})))


def test_log_dirs_on_one_volume_count_once() -> None:
    both = (LogDir("/a", 100, 40), LogDir("/b", 100, 40), LogDir("/c", 50, 10))
    assert (volume_bytes(both), usable_bytes(both)) == (150, 50)
    assert volume_bytes((LogDir("/a", None, None),)) is None


def test_partitions_with_their_sizes_and_leaders() -> None:
    options = PlanOptions(exclude_topics=("t",))
    setting = build_broker_arrays(SNAPSHOT, PlanOptions())
    free = build_partition_arrays(SNAPSHOT, setting, PlanOptions())
    assert (free.size / GB).tolist() == [6, 4, 5]
    assert (free.placement.leader.tolist(), free.immovable.tolist()) == ([0, 0, 0], [False] * 3)
    assert build_partition_arrays(SNAPSHOT, setting, options).immovable.tolist() == [True] * 3
    unled = cluster([replace(ROWS[0], leader=None, isr=()), *ROWS[1:]], brokers(3))
    assert build_partition_arrays(unled, setting, PlanOptions()).leaderless.tolist() == [True, False, False]


def test_scores_by_hand() -> None:
    scores = score_cluster(SNAPSHOT)
    assert isinstance(scores, ClusterScores)
    disk = {score.broker: score for score in scores.of_resource("disk")}
    assert [disk[b].load for b in range(3)] == [15 * GB, 10 * GB, 5 * GB]
    assert [disk[b].over_mean for b in range(3)] == pytest.approx([1.5, 1.0, 0.5])
    assert set(scores.left_out) == {"in", "leader_in", "out", "potential_out", "cpu"}


def test_documents_of_brokers_gaps_and_partitions_are_read_back() -> None:
    broker = Broker(
        7, rack="a", state=BrokerState.FENCED, capacity=Capacity(disk_bytes=5.0), log_dirs=(LogDir("/a", 9, 1),)
    )
    assert read_broker(broker_document(broker), "b") == broker
    gap = gap_of("topic", "t", FactCode.LACKS_SIZES, "denied")
    assert read_gap(gap_document(gap), "g") == gap
    rows = list(partition_documents(SNAPSHOT.partitions, 1))
    table = read_partitions(rows, ["t"], "s")
    assert (table.leader.tolist(), len(table)) == ([0, 0, 0], 3)
    document = snapshot_to_document(SNAPSHOT)
    again = snapshot_from_document(document)
    assert snapshot_id(again) == snapshot_id(SNAPSHOT)
    assert snapshot_id(replace(SNAPSHOT, cluster="other")) != snapshot_id(SNAPSHOT)
    with pytest.raises(InvalidInputError, match="state"):
        read_broker(broker_document(broker) | {"state": "asleep"}, "b")
    with pytest.raises(InvalidInputError, match="nosuch"):
        snapshot_from_document(document | {"nosuch": 1})


@pytest.mark.parametrize(("read", "wrong"), [(whole, True), (whole, 1.0), (text, 1), (whole_up_to(3), 4)])
def test_a_field_of_the_wrong_kind_is_named(read, wrong: object) -> None:
    with pytest.raises(InvalidInputError, match="here"):
        read(wrong, "here")
    assert whole_up_to(3)(3, "here") == 3
