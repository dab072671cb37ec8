from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.advisory.advise import AdviceRequest, advise
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.codec import snapshot_from_document, snapshot_to_document
from kafka_rebalance.snapshot.figures import LARGEST_BYTES, SMALLEST_CAPACITY, LoadKind, LoadSource
from kafka_rebalance.snapshot.model import Broker, Capacity, LogDir
from kafka_rebalance.snapshot.partition_table import LoadColumn, PartitionLoads
from kafka_rebalance.verify import verify_plan
from tests.sample import for_each
from tests.unit.planner.sample_clusters import cluster, row


def snapshot(size=10, rate=1.0, **changes):
    """One partition on two brokers."""
    rows = [row("t", 0, [0, 1], size=size, **changes)]
    return cluster(rows, [Broker(0), Broker(1)], rates={LoadKind.IN_BYTES_PER_S: [rate]})


@pytest.mark.parametrize("broker", [-1, 2**31, 10**30])
def test_broker_ids_are_kafkas_integers(broker):
    with pytest.raises(InvalidInputError, match="a broker id is 0 to 2,147,483,647"):
        Broker(broker)


@for_each("value", [0, -1.0, 1e-320, SMALLEST_CAPACITY / 2, 1e308, float("inf"), float("nan")])
@for_each("name", ["disk_bytes", "in_bytes_per_s", "out_bytes_per_s", "cpu_percent"])
def test_capacities_are_neither_nothing_nor_endless(name, value):
    with pytest.raises(InvalidInputError, match=f"capacity {name}: .* is no capacity"):
        Capacity(**{name: value})


def test_four_billion_percent_of_cpu_is_refused():
    with pytest.raises(InvalidInputError, match="is no capacity"):
        Capacity(cpu_percent=4e12)
    with pytest.raises(InvalidInputError, match="cpu_percent of partition row 0"):
        PartitionLoads({LoadKind.CPU_PERCENT: LoadColumn(np.array([4e12]), LoadSource.GIVEN)})


@pytest.mark.parametrize("rate", [1e308, 1e16, -1.0, float("inf")])
def test_rates_are_finite_and_of_this_world(rate):
    with pytest.raises(InvalidInputError, match="is no load"):
        snapshot(rate=rate)


@pytest.mark.parametrize("rate", [5e-324, 2.964393875e-314, 1e-12])
def test_what_a_decaying_average_leaves_is_zero(rate):
    assert snapshot(rate=rate).load(LoadKind.IN_BYTES_PER_S).tolist() == [0.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": LARGEST_BYTES + 1}, "bytes are no size"),
        ({"size": -5}, "bytes are no size"),
        ({"start_offset": -7}, "start_offset -7 is negative"),
        ({"adding": (5,)}, "adding names broker 5, which is not among its replicas"),
        ({"offline": (2**31 - 1,)}, "offline names broker"),
    ],
)
def test_a_partition_holds_what_one_can(changes, message):
    with pytest.raises(InvalidInputError, match=f"t-0: .*{message}"):
        snapshot(**changes)


def test_all_sizes_together_fit_an_int64():
    rows = [row("t", number, [0], size=LARGEST_BYTES) for number in range(513)]
    with pytest.raises(InvalidInputError, match="more bytes than a cluster can"):
        cluster(rows, [Broker(0)])


@pytest.mark.parametrize(
    ("time", "problem"),
    [
        (datetime(9999, 12, 31, tzinfo=UTC), "no cluster was read in the year 9999"),
        (datetime(1, 1, 2, tzinfo=UTC), "in the year 1$"),
        (datetime(2026, 1, 1), "is no time with a zone"),  # noqa: DTZ001
        ("2026-01-01T00:00:00Z", "'2026-01-01T00:00:00Z' is no time with a zone"),
    ],
)
def test_a_time_is_one_of_a_reading_and_has_a_zone(time, problem):
    with pytest.raises(InvalidInputError, match=rf"captured_at: .*{problem}"):
        replace(snapshot(), captured_at=time)


def test_a_log_dir_holds_no_less_than_nothing():
    with pytest.raises(InvalidInputError, match="log dir /d: total_bytes -1 is no size"):
        LogDir("/d", total_bytes=-1)


DOCUMENTS = {
    "broker id": (lambda d: d["brokers"][0].update(id=10**30), r"\.brokers\[0\]\.id: 1000.* is not from 0 to"),
    "port": (lambda d: d["brokers"][0].update(port=65536), r"\.brokers\[0\]\.port: 65536 is not from"),
    "capacity": (lambda d: d["brokers"][0].update(capacity={"cpu_percent": 4e12}), r"capacity\.cpu_percent: 40000"),
    "huge capacity": (lambda d: d["brokers"][0].update(capacity={"disk_bytes": 10**400}), r"disk_bytes: 1000"),
    "log dir": (lambda d: d["brokers"][0].update(log_dirs=[{"path": "/a", "total_bytes": -2}]), r"total_bytes: -2"),
    "negative size": (lambda d: part(d).update(log_bytes=[-1, 1]), r"topics\[0\], t-0: 'log_bytes' must be .*-1$"),
    "no leader as -1": (lambda d: part(d).update(leader=-1), r"t-0: 'leader' must be"),
    "offset": (lambda d: part(d).update(end_offset=2**63), r"t-0: 'end_offset' must be"),
    "adding": (lambda d: part(d).update(adding=["x"]), r"t-0: 'adding' must be"),
    "partition": (lambda d: part(d).update(partition=2**31), r"'partition' must be"),
    "partition -1": (lambda d: part(d).update(partition=-1), r"'partition' must be"),
    "load": (lambda d: load(d).update(values=[1e308]), r"loads\.in_bytes_per_s\.values\[0\]: 1e\+308 is no load"),
    "load true": (lambda d: load(d).update(values=[True]), r"values\[0\]: True is no load"),
    "window": (lambda d: load(d).update(window_s=-1), r"window_s: -1 is not from 0"),
    "user data": (lambda d: member(d).update(user_data="é"), r"groups\[0\]\.members\[0\]\.user_data: is not base64"),
    "generation": (lambda d: member(d).update(generation=2**40), r"members\[0\]\.generation: "),
    "runs": (lambda d: member(d).update(owned={"t": [1]}), r"owned: expected rows"),
    "run": (lambda d: member(d).update(owned=[["t", "12"]]), r"owned\[0\]: expected \[topic, \[partitions\]\]"),
    "committed": (lambda d: d["groups"][0].update(committed=[["t", 0, -1]]), r"committed\[0\]: -1 is not from 0"),
}


def part(document):
    return document["topics"][0]["partitions"][0]


def load(document):
    return document["loads"]["in_bytes_per_s"]


def member(document):
    return document["groups"][0]["members"][0]


@pytest.mark.parametrize(("change", "message"), DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_a_document_is_refused_with_the_json_path(change, message):
    document = snapshot_to_document(snapshot())
    document["groups"] = [{"id": "g", "type": "classic", "members": [{"id": "m"}]}]
    change(document)
    with pytest.raises(InvalidInputError, match=message):
        snapshot_from_document(document, "file")


def test_the_largest_broker_ids_are_as_good_as_any():
    """No table runs over all ids: brokers are found by their ids, however large."""
    largest = 2**31 - 1
    rows = [row("t", number, [largest, 7 * number + 3], size=10 + number) for number in range(6)]
    ids = sorted({broker for partition_row in rows for broker in partition_row.replicas})
    with_racks = [Broker(broker, rack=f"r{index % 2}") for index, broker in enumerate(ids)]
    snapshot = cluster([*rows, row("u", 0, [3, 10], removing=(10,))], with_racks)
    scores = score_cluster(snapshot)
    assert {score.broker for score in scores.brokers} == set(ids)
    assert verify_plan(to_document(make_plan(snapshot, PlanOptions(with_frontier=False))), snapshot).is_right
    findings = advise(snapshot, AdviceRequest(PlanOptions(with_frontier=False))).findings
    assert findings
