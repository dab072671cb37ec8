"""What traffic across racks costs is one finding more, in the asker's currency, with what is not known in it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.findings.annotations.rack_price import rack_traffic_price, with_rack_price
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.builder import make_plan
from kafka_rebalance.scoring.rack_traffic import rack_traffic
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.load import LoadKind
from rebalance_advisor.cli.main import main
from rebalance_advisor.request.run_request import RunRequest
from tests.unit.planner.sample_clusters import brokers, cluster, random_cluster, row
from tests.unit.scoring.test_rack_traffic import read_by

MB = 1e6
ROWS = [row("t", 0, (0, 1, 2)), row("t", 1, (1, 4)), row("u", 0, (2,))]


def test_by_hand() -> None:
    """20 MB/s of replication and 14 of reads: 51,840 and 36,288 GB in 30 days, at 0.02 each 1,036.8 and 725.76."""
    snapshot = cluster(ROWS, brokers(6, racks=3), rates={LoadKind.IN_BYTES_PER_S: [10 * MB, 4 * MB, math.nan]})
    group = read_by("apart", ("rack-1", {"t": (0,)}), ("rack-2", {"t": (1,)}))
    found = rack_traffic_price(replace(snapshot, groups=(group, read_by("who", (None, {"t": (0,)})))), None, 0.02)
    assert found.recommendation == (
        "Traffic between racks costs at least 1,763 in 30 days: replication 1,037, reads 726. Reads would cost 207 if "
        "brokers served members in their own rack (replica.selector.class=RackAwareReplicaSelector, client.rack). "
        "Most: topic t 1,037, group apart 726. Not counted: what producers send, 1 partition of unknown rate, leader "
        "or rack, 1 group whose members say no rack."
    )
    assert found.evidence["replication_price_per_month"] == pytest.approx(1036.8)
    assert found.evidence["planned_replication_price_per_month"] == pytest.approx(1036.8)
    assert found.evidence["reads_price_per_month"] == pytest.approx(725.76)
    assert found.evidence["reads_price_per_month_served_in_rack"] == pytest.approx(207.36)
    assert found.gain == pytest.approx((725.76 - 207.36) / (1036.8 + 725.76))


def test_without_rates_nothing_is_invented() -> None:
    found = rack_traffic_price(cluster(ROWS, brokers(6, racks=3)), None, 0.02)
    assert found.recommendation == (
        "Traffic between racks costs at least 0 in 30 days: replication 0, reads 0. Not counted: what producers send, "
        "3 partitions of unknown rate, leader or rack."
    )


@pytest.mark.parametrize("seed", range(6))
def test_what_the_plan_makes_of_it_is_what_the_moved_cluster_has(seed: int) -> None:
    snapshot = random_cluster(seed, broker_count=6, topics=4)
    plan = make_plan(snapshot, PlanOptions(within=0.1, with_frontier=False))
    found = rack_traffic_price(snapshot, plan, 1.0)
    placed = {(move.topic, move.partition): (move.to_replicas, move.leader_to) for move in plan.moves}
    table, rows = snapshot.partitions, []
    for i in range(len(table)):
        topic, partition = snapshot.topics[int(table.topic[i])].name, int(table.partition[i])
        here = (tuple(table.replicas[table.offsets[i] : table.offsets[i + 1]].tolist()), int(table.leader[i]))
        replicas, leader = placed.get((topic, partition), here)
        rows.append(row(topic, partition, replicas, leader=leader))
    rates = {LoadKind.IN_BYTES_PER_S: snapshot.loads.values(LoadKind.IN_BYTES_PER_S, len(table)).tolist()}
    moved = cluster(rows, snapshot.brokers, rates=rates)
    per_month = 30 * 24 * 3600 / 1e9
    wanted = sum(rack_traffic(moved).replication.values()) * per_month
    assert found.evidence["planned_replication_price_per_month"] == pytest.approx(wanted)
    assert plan.moves


def test_no_other_finding_is_changed_and_none_is_there_without_a_price(tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps(snapshot_to_document(random_cluster(3, broker_count=6, topics=3))))
    words = ["advise", str(file), "--scenarios", "today", "--no-frontier", "--out"]
    assert main([*words, str(tmp_path / "plain")]) == 0
    assert main([*words, str(tmp_path / "priced"), "--rack-byte-price", "0.02"]) == 0
    plain, priced = (json.loads((tmp_path / name / "findings.json").read_text()) for name in ("plain", "priced"))
    (added,) = [finding for finding in priced if finding["code"] == "rack_traffic_price"]
    assert [finding for finding in priced if finding is not added] == plain
    plans = [(tmp_path / name / "plan.json").read_bytes() for name in ("plain", "priced")]
    assert plans[0] == plans[1], "a price is nothing that a plan is made for"
    assert "Traffic between racks costs at least" in (tmp_path / "priced" / "report.html").read_text()


def test_findings_are_ranked_anew() -> None:
    snapshot = random_cluster(1, broker_count=6, topics=3)
    first = rack_traffic_price(snapshot, None, 0.01)
    assert with_rack_price([first], snapshot, None, 0.02)[0].evidence["price_per_gb"] in (0.01, 0.02)
    assert len(with_rack_price([], snapshot, None, 0.02)) == 1


@pytest.mark.parametrize("price", ["0", "-1", "cheap", "1e9", "nan", ""])
def test_what_is_no_price(price: str) -> None:
    with pytest.raises(UsageError, match="--rack-byte-price"):
        RunRequest.from_mapping({"rack_byte_price": price})
