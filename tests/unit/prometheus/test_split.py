import numpy as np
import pytest

from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Broker
from rebalance_advisor.prometheus.loads import broker_of_value, cpu_of_leaders, label_of, split_over_partitions
from tests.sample import for_each
from tests.unit.planner.sample_clusters import brokers, cluster, random_cluster, row

NAN = float("nan")


def test_what_was_counted_where_no_leader_is_is_spread_if_written_and_left_out_if_read():
    """a-0 on broker 0, a-1 on 1; broker 2 counted 30, when it led one of them. By messages 2 : 1."""
    snapshot = cluster([row("a", 0, [0, 2]), row("a", 1, [1, 2])], brokers(3))
    rates, messages = {("a", 0): 50.0, ("a", 1): 20.0, ("a", 2): 30.0}, np.array([2.0, 1.0])
    written = split_over_partitions(snapshot, rates, messages, keeps_elsewhere=True)
    assert written.values.tolist() == [70.0, 30.0]
    read = split_over_partitions(snapshot, rates, messages, keeps_elsewhere=False)
    assert read.values.tolist() == [50.0, 20.0]
    assert (read.total, read.exact, read.elsewhere) == (100.0, 0.7, 0.3)
    assert {name: share for name, share in read.shares.items() if share} == {"exact": 0.7, "elsewhere": 0.3}


def test_how_far_two_ways_to_split_differ_is_told():
    """Messages 3 : 1, sizes 1 : 1: a quarter of the rate differs."""
    snapshot = cluster([row("a", 0, [0]), row("a", 1, [0])], brokers(1))
    result = split_over_partitions(snapshot, {("a", 0): 8.0}, np.array([3.0, 1.0]), keeps_elsewhere=True)
    assert result.values.tolist() == [6.0, 2.0]
    assert result.spread == pytest.approx(0.25)


def test_a_topic_without_a_series_is_unknown_unless_its_offsets_stand_still():
    snapshot = cluster([row("a", 0, [0]), row("a", 1, [0]), row("b", 0, [0], None)], brokers(1))
    result = split_over_partitions(snapshot, {("gone", 0): 5.0}, np.array([0.0, 1.0, NAN]), keeps_elsewhere=True)
    assert result.values[0] == 0
    assert np.isnan(result.values[1:]).all()
    assert (result.elsewhere, result.spread) == (1.0, None)


def test_where_nothing_is_known_of_partitions_they_share_evenly():
    snapshot = cluster([row("a", 0, [0], None), row("a", 1, [0], None)], brokers(1))
    result = split_over_partitions(snapshot, {("a", 0): 8.0}, np.array([NAN, 1.0]), keeps_elsewhere=True)
    assert (result.values.tolist(), result.evenly) == ([4.0, 4.0], 1.0)


@for_each("seed", range(10))
def test_what_all_brokers_counted_is_what_all_partitions_carry(seed):
    draw, snapshot = np.random.default_rng(seed), random_cluster(seed, broker_count=6, topics=8)
    true = draw.lognormal(10, 2, len(snapshot.partitions))
    names = [snapshot.topics[topic].name for topic in snapshot.partitions.topic]
    rates = {}
    for name, leader, rate in zip(names, snapshot.partitions.leader.tolist(), true, strict=True):
        rates[name, leader] = rates.get((name, leader), 0.0) + rate
    exact = split_over_partitions(snapshot, rates, true / 100, keeps_elsewhere=True)
    assert exact.values == pytest.approx(true)  # messages of one size: no error at all
    sizes = split_over_partitions(snapshot, rates, np.full(len(true), NAN), keeps_elsewhere=True)
    assert sizes.values.sum() == pytest.approx(true.sum())
    assert sizes.exact + sizes.by_size == pytest.approx(1)
    assert (sizes.values >= 0).all()


def test_cpu_of_two_brokers_by_hand():
    """One partition each of the same rates: of 30 and 10 percent both get 20, which is 33 % and 100 % off."""
    snapshot = cluster([row("a", 0, [0]), row("a", 1, [1])], brokers(2))
    rates = {LoadKind.IN_BYTES_PER_S: np.array([5.0, 5.0]), LoadKind.OUT_BYTES_PER_S: np.array([7.0, 7.0])}
    result = cpu_of_leaders(snapshot, {0: 30.0, 1: 10.0}, rates)
    assert result is not None
    assert result[0].tolist() == pytest.approx([20.0, 20.0])
    assert result[1].endswith("a broker's sum is 67% off in the median, 100% at most")
    assert cpu_of_leaders(snapshot, {0: 0.0}, rates) is None


def test_a_broker_is_told_by_name_id_host_or_pod_and_never_guessed():
    known = [Broker(1, host="kafka-7"), Broker(2, host="b.example"), Broker(3, host="same"), Broker(4, host="same")]
    broker = broker_of_value(known, {"left:9090": 2})
    values = ("left:9090", "1", "b.example:7071", "b.example", "prod-kafka-2", "prod-kafka-3.headless:1", "kafka-7:80")
    assert [broker(value) for value in values] == [2, 1, 2, 2, 2, 3, 1]
    assert [broker(value) for value in ("9", "same:7071", "prod-kafka-8", "10.0.0.1:9404", "", "kafka")] == [None] * 6


def test_the_label_that_tells_brokers_is_found_by_its_values():
    broker = broker_of_value([Broker(1, host="k")], {})
    series = [{"pod": "exporter-abc", "instance": "k:1"}, {"instance": "x:1"}]
    assert label_of(series, ("broker_id", "pod", "instance"), broker) == "instance"
    assert label_of([], ("broker_id", "pod"), broker) == "pod"
