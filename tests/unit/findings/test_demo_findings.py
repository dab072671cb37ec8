"""Every trouble of the demo cluster is found, with numbers worked out from the dumps' text alone."""

from __future__ import annotations

from collections import Counter
from statistics import median

import pytest

from kafka_rebalance.findings.finding import Severity
from kafka_rebalance.findings.rules import evaluate_rules
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from rebalance_advisor.dumps import read_input
from stack.demo.cluster import write_demo_cluster
from tests.unit.findings.demo_text import (
    group_lines,
    offsets,
    racks,
    sizes,
    topic_rows,
    written_bytes_per_s,
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return write_demo_cluster(tmp_path_factory.mktemp("findings") / "demo")


@pytest.fixture(scope="module")
def found(demo):
    snapshot = read_input(demo)
    replays = [replay_group(group_input) for group_input in group_inputs(snapshot)]
    return {finding.finding_key: finding for finding in evaluate_rules(snapshot, score_cluster(snapshot), replays)}


def test_the_broker_that_is_nearly_full(demo, found):
    held = sum(size for (_, broker), size in sizes(demo, "later").items() if broker == 9)
    finding = found["broker_disk_full:broker:9"]
    assert finding.severity is Severity.HIGH
    assert finding.evidence["used_bytes"] == held
    assert finding.evidence["total_bytes"] == 4 * 10**12
    assert finding.evidence["used_ratio"] == held / (4 * 10**12)
    assert 0.90 < finding.evidence["used_ratio"] < 0.95
    assert [key for key in found if key.startswith("broker_disk_full")] == ["broker_disk_full:broker:9"]


def test_its_disk_is_above_the_share_that_racks_allow(demo, found):
    # Three racks of four brokers and three replicas: every rack holds everything once, each broker a quarter of that.
    size = sizes(demo, "later")
    once = sum(size[row.name, row.leader] for row in topic_rows(demo))
    held = sum(value for (_, broker), value in size.items() if broker == 9)
    evidence = found["broker_disk_over_share:broker:9"].evidence
    assert evidence["disk_bytes"] == held
    assert evidence["fair_share_disk_bytes"] == pytest.approx(once / 4, rel=1e-9)
    assert evidence["over_share_ratio"] == pytest.approx(held / (once / 4), rel=1e-9)
    assert [key for key in found if key.startswith("broker_disk_over_share")] == ["broker_disk_over_share:broker:9"]


def test_leaders_piled_up_after_the_restart(demo, found):
    rows = topic_rows(demo)
    leads = [row for row in rows if row.leader == 3]
    evidence = found["leaders_piled_up:broker:3"].evidence
    assert evidence["leaders"] == len(leads)
    assert evidence["taken_over_leaders"] == sum(row.replicas[0] != 3 for row in leads)
    assert evidence["preferred_leaders"] == sum(row.replicas[0] == 3 for row in rows)
    assert evidence["fair_share_leaders"] == pytest.approx(len(rows) / 12)
    assert 1.4 < evidence["over_share_ratio"] == pytest.approx(len(leads) / (len(rows) / 12))


def test_leaders_that_are_not_the_preferred_ones(demo, found):
    rows = topic_rows(demo)
    evidence = found["preferred_leaders_off:cluster:demo"].evidence
    off = sum(row.leader != row.replicas[0] for row in rows)
    assert (evidence["partitions"], evidence["off_partitions"]) == (len(rows), off)
    assert evidence["off_ratio"] == off / len(rows)
    assert evidence["brokers_that_lead_nothing"] == "7, 11"
    assert {row.leader for row in rows} == set(range(12)) - {7, 11}


def test_the_hot_partition(demo, found):
    rates = written_bytes_per_s(demo)
    evidence = found["hot_partition:partition:clickstream.raw-17"].evidence
    others = [rate for name, rate in rates.items() if name.startswith("clickstream.raw-") and not name.endswith("-17")]
    assert evidence["in_bytes_per_s"] == pytest.approx(rates["clickstream.raw-17"], rel=1e-9)
    assert evidence["broker_mean_in_bytes_per_s"] == pytest.approx(3 * sum(rates.values()) / 12, rel=1e-9)
    assert evidence["topic_median_in_bytes_per_s"] == pytest.approx(median(others), rel=1e-9)
    share = rates["clickstream.raw-17"] / (3 * sum(rates.values()) / 12)
    assert 0.25 < evidence["in_share_of_broker_mean_ratio"] == pytest.approx(share, rel=1e-9)
    assert [key for key in found if key.startswith("hot_partition")] == ["hot_partition:partition:clickstream.raw-17"]


def test_the_rack_violation(demo, found):
    rack_of, rows = racks(demo), topic_rows(demo)
    violating = [row for row in rows if len({rack_of[broker] for broker in row.replicas}) < len(row.replicas)]
    assert {row.topic for row in violating} == {"legacy.orders"}
    finding = found["rack_violated:topic:legacy.orders"]
    assert finding.evidence["violating_partitions"] == len(violating)
    assert finding.evidence["partitions"] == sum(row.topic == "legacy.orders" for row in rows)
    size = sizes(demo, "later")
    assert finding.evidence["log_bytes"] == sum(size[row.name, row.leader] for row in violating)


def test_the_idle_members(demo, found):
    rows = group_lines(demo, "later", "invoice-mailer", "kafka-consumer-groups-members.txt")
    idle = sum(row[4] == "0" for row in rows)
    evidence = found["idle_members:group:invoice-mailer"].evidence
    assert (evidence["members"], evidence["idle_members"]) == (len(rows), idle) == (8, 2)
    assert evidence["partitions"] == sum(row.topic == "invoices.issued" for row in topic_rows(demo)) == 6
    assert [key for key in found if key.startswith("idle_members")] == ["idle_members:group:invoice-mailer"]


def test_range_on_single_partition_topics(demo, found):
    rows = group_lines(demo, "later", "cdc-sync", "kafka-consumer-groups-members.txt")
    counts = [int(row[4]) for row in rows]
    evidence = found["assignor_uneven:group:cdc-sync"].evidence
    assert (evidence["assignor"], evidence["advised_assignor"]) == ("range", "roundrobin")
    assert evidence["skew_count"] == max(counts) / (sum(counts) / len(counts)) == 6.0
    assert evidence["idle_members"] == counts.count(0) == 5
    # Dealt one by one, 24 topics make 4 for each of 6 members: the first gives 20 away.
    assert (evidence["advised_skew_count"], evidence["advised_idle_members"], evidence["partitions_moved"]) == (
        1,
        0,
        20,
    )
    assert [key for key in found if key.startswith("assignor_uneven")] == ["assignor_uneven:group:cdc-sync"]


def test_the_dead_static_member(demo, found):
    before = {(row[1], row[2]): int(row[3]) for row in group_lines(demo, "earlier", "telemetry-archiver")}
    rows = group_lines(demo, "later", "telemetry-archiver")
    stuck = [row for row in rows if int(row[3]) == before[row[1], row[2]]]
    assert {row[6].split("-")[1] for row in stuck} == {"4"}
    ends = offsets(demo, "later", "latest"), offsets(demo, "earlier", "latest")
    written = sum(ends[0][f"{row[1]}-{row[2]}"] - ends[1][f"{row[1]}-{row[2]}"] for row in stuck)
    finding = found["dead_static_member:group:telemetry-archiver"]
    assert finding.severity is Severity.HIGH
    assert finding.evidence["instance_ids"] == "archiver-4"
    assert (finding.evidence["dead_members"], finding.evidence["partitions_unread"]) == (1, len(stuck))
    assert finding.evidence["lag_messages"] == sum(int(row[5]) for row in stuck)
    assert finding.evidence["in_messages_per_s"] == pytest.approx(written / 3600)


def test_the_group_that_falls_behind(demo, found):
    rows = group_lines(demo, "later", "fraud-scoring")
    before = {row[2]: int(row[3]) for row in group_lines(demo, "earlier", "fraud-scoring")}
    ends = {moment: offsets(demo, moment, "latest") for moment in ("earlier", "later")}
    names = [f"payments.ledger-{row[2]}" for row in rows]
    written = sum(ends["later"][name] - ends["earlier"][name] for name in names)
    read = sum(int(row[3]) - before[row[2]] for row in rows)
    evidence = found["lag_growing:group:fraud-scoring"].evidence
    assert evidence["lag_messages"] == sum(int(row[5]) for row in rows)
    assert evidence["lag_seconds"] == pytest.approx(sum(int(row[5]) for row in rows) / (written / 3600))
    # All messages of the topic are equally large, so bytes read to bytes written is messages to messages.
    assert 0.61 > evidence["read_ratio"] == pytest.approx(read / written)


def test_the_throttle_that_was_left(demo, found):
    text = (demo / "later" / "kafka-topics.txt").read_text()
    throttled = [line for line in text.splitlines() if "throttled.replicas=" in line]
    evidence = found["throttle_left_over:cluster:demo"].evidence
    assert (
        (evidence["topics"], evidence["topic_names"])
        == (len(throttled), "catalog.snapshots")
        == (1, "catalog.snapshots")
    )


def test_coordinators_pile_up_no_more_than_by_chance(demo, found):
    text = (demo / "later" / "kafka-consumer-groups-state.txt").read_text()
    brokers = Counter(int(line.split("(")[1].split(")")[0]) for line in text.splitlines() if ":9092" in line)
    assert sum(brokers.values()) == 40
    # 40 groups on 12 brokers: chance gives some broker 11 or more of them once in a hundred clusters (Poisson).
    assert max(brokers.values()) < 11
    assert not [key for key in found if key.startswith("coordinator_piled_up")]


def test_brokers_above_their_share_of_traffic_are_right(demo, found):
    rates, carried = written_bytes_per_s(demo), Counter()
    for row in topic_rows(demo):
        for broker in row.replicas:
            carried[broker] += rates[row.name]
    share = sum(rates.values()) / 4
    over = {broker for broker, rate in carried.items() if rate >= 1.10 * share}
    told = {
        finding.subject: finding.evidence
        for key, finding in found.items()
        if key.startswith("broker_rate_over_share") and "in_over_share_ratio" in finding.evidence
    }
    assert set(told) == {str(broker) for broker in over}
    for broker, evidence in told.items():
        assert evidence["in_bytes_per_s"] == pytest.approx(carried[int(broker)], rel=1e-9)
        assert evidence["in_over_share_ratio"] == pytest.approx(carried[int(broker)] / share, rel=1e-9)


def test_nothing_is_told_that_is_not_there(found):
    quiet = ("under_replicated", "offline_partition", "dead_broker", "coverage_gap", "nothing_to_do")
    assert not [key for key in found if key.startswith(quiet)]
    assert found["load_unknown:cluster:demo"].evidence == {
        "cpu_left_out": "nobody measured cpu_percent", "resources_left_out": 1,
    }  # fmt: skip
