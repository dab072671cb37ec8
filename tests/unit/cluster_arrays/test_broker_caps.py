from __future__ import annotations

from dataclasses import replace

from kafka_rebalance.cluster_arrays.snapshot_arrays import broker_caps, build_broker_arrays
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.snapshot.model import Capacity
from kafka_rebalance.verify.cluster import cap_of
from tests.unit.planner.sample_clusters import brokers, cluster, row
from tests.unit.verify.hand_claims import parameters


def test_the_lower_of_cap_and_headroom() -> None:
    # Disks of 100 and 50: a tenth free leaves 90 and 45, with a cap of 60.
    disks = [
        replace(broker, capacity=Capacity(disk_bytes=size)) for broker, size in zip(brokers(2), (100, 50), strict=True)
    ]
    snapshot = cluster([row("t", 0, (0, 1))], disks)
    for caps, expected in (
        ({}, [90.0, 45.0]),
        ({"disk": 60}, [60.0, 45.0]),
        ({"disk": 60, "leaders": 3}, [60.0, 45.0]),
    ):
        options = PlanOptions(headroom={"disk": 0.1, "cpu": 0.5}, caps=caps)
        arrays = build_broker_arrays(snapshot, options)
        result = broker_caps(options, arrays)
        assert result["disk"].tolist() == expected
        assert result.keys() == {"disk"} | caps.keys()  # their CPU capacity is unknown
        asked = parameters(headroom={"disk": 0.1, "cpu": 0.5}, caps=caps)
        checked = cap_of("disk", arrays.arrays.capacity["disk"], 2, asked)
        assert checked is not None
        assert checked.tolist() == expected
        assert cap_of("cpu", None, 2, asked) is None
