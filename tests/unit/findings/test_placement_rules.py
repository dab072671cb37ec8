from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Confidence, Severity
from kafka_rebalance.snapshot.model import Broker, BrokerState, Capacity, LogDir, Partition
from tests.sample import for_each
from tests.unit.findings.sample_clusters import brokers, cluster, explained, findings_of, striped

EVEN = striped("t", 12)
ALL_CODES = (
    "broker_disk_over_share", "broker_disk_full", "broker_rate_over_share", "leaders_piled_up", "preferred_leaders_off",
    "rack_violated", "under_replicated", "offline_partition", "dead_broker", "hot_partition", "throttle_left_over",
    "coverage_gap",
)  # fmt: skip


def changed(rows, number, **fields):
    return [replace(row, **fields) if row.partition == number else row for row in rows]


@for_each("code", ALL_CODES)
def test_an_even_healthy_cluster_is_quiet(code):
    snapshot = cluster(EVEN, in_bytes_per_s=[10.0] * 12, out_bytes_per_s=[5.0] * 12)
    assert findings_of(snapshot, code) == []


def test_disk_over_share_counts_each_replicas_own_size():
    rows = changed(EVEN, 0, log_bytes=(700, 100, 100))
    (finding,) = findings_of(cluster(rows), "broker_disk_over_share")
    assert finding.subject == "0"
    assert finding.evidence["disk_bytes"] == 5 * 100 + 700
    assert finding.gain == 1.0
    assert finding.confidence is Confidence.MEASURED


def test_a_share_over_by_less_than_a_tenth_is_quiet():
    rows = changed(EVEN, 0, log_bytes=(150, 100, 100))
    assert findings_of(cluster(rows), "broker_disk_over_share") == []


def test_volumes_tell_how_full_a_disk_is_and_two_dirs_on_one_volume_count_once():
    dirs = (LogDir("/a", 1000, 100), LogDir("/b", 1000, 100))
    free = (LogDir("/a", 1000, 800),)
    snapshot = cluster(EVEN, of=brokers(log_dirs={1: dirs} | dict.fromkeys((0, 2, 3, 4, 5), free)))
    (finding,) = findings_of(snapshot, "broker_disk_full")
    assert finding.subject == "1"
    assert finding.evidence["used_ratio"] == 0.9
    assert finding.evidence["cluster_used_ratio"] == (900 + 5 * 200) / 6000
    assert finding.severity is Severity.CRITICAL
    assert not finding.recommendation.args["is_cluster_full"]


def test_a_cluster_whose_disks_are_all_full_is_told_that_moving_does_not_help():
    full = dict.fromkeys(range(6), Capacity(disk_bytes=620))
    findings = findings_of(cluster(EVEN, of=brokers(capacity=full)), "broker_disk_full")
    assert [finding.subject for finding in findings] == list("012345")
    assert {finding.severity for finding in findings} == {Severity.CRITICAL}
    assert {finding.gain for finding in findings} == {0.0}
    assert findings[0].recommendation.args["is_cluster_full"]


@for_each("known, used", [
    ({"log_dirs": {1: (LogDir("/a", 1000, 50),)}}, 950),
    ({"capacity": {1: Capacity(disk_bytes=600 / 0.95)}}, 600),
])  # fmt: skip
def test_one_full_disk_says_nothing_of_the_others(known, used):
    (finding,) = findings_of(cluster(EVEN, of=brokers(**known)), "broker_disk_full")
    assert (finding.subject, finding.severity, finding.evidence["cluster_used_ratio"]) == ("1", Severity.CRITICAL, None)
    assert finding.evidence["used_bytes"] == used
    assert not finding.recommendation.args["is_cluster_full"]
    assert finding.gain > 0


def test_rates_over_share_are_one_finding_a_broker():
    rates = [50.0] + [10.0] * 11
    findings = findings_of(cluster(EVEN, in_bytes_per_s=rates, out_bytes_per_s=rates), "broker_rate_over_share")
    assert [finding.subject for finding in findings] == ["0", "1", "2"], "leader and followers of the busy partition"
    first = findings[0].evidence
    assert first["worst_resource"] == "out"
    assert first["in_over_share_ratio"] == pytest.approx((5 * 10 + 50) / (160 * 3 / 6))
    assert first["out_over_share_ratio"] == pytest.approx((50 * 3 + 10 * 3) / (160 * 3 / 6))
    assert "out_over_share_ratio" not in findings[1].evidence


def test_leaders_pile_up_only_where_others_are_preferred():
    taken = [replace(row, leader=0) if 0 in row.replicas else row for row in EVEN]
    (finding,) = findings_of(cluster(taken), "leaders_piled_up")
    assert (finding.subject, finding.evidence["leaders"], finding.evidence["taken_over_leaders"]) == ("0", 6, 4)
    assert finding.evidence["over_share_ratio"] == 3.0
    assert finding.severity is Severity.HIGH
    assert finding.gain == 1.0
    of_0 = [row for row in taken if 0 in row.replicas]
    preferred = [
        replace(row, replicas=(0, *(replica for replica in row.replicas if replica != 0)), leader=0) for row in of_0
    ]
    others = [row for row in EVEN if 0 not in row.replicas]
    assert findings_of(cluster([*preferred, *others]), "leaders_piled_up") == []


def test_one_leader_in_twelve_that_is_off_is_told_low_and_one_in_thirty_not_at_all():
    rows = changed(EVEN, 3, leader=4)
    (finding,) = findings_of(cluster(rows), "preferred_leaders_off")
    assert (finding.severity, finding.evidence["off_ratio"]) == (Severity.LOW, 1 / 12)
    many = changed(striped("t", 30), 3, leader=4)
    assert findings_of(cluster(many), "preferred_leaders_off") == []


def test_a_running_reassignment_is_no_leader_that_is_off_and_no_replica_that_is_missing():
    running = [
        row
        if 5 in row.replicas
        else replace(row, replicas=(5, *row.replicas), adding=(5,), isr=row.replicas, log_bytes=())
        for row in EVEN
    ]
    assert sum(bool(row.adding) for row in running) == 6
    assert findings_of(cluster(running), "preferred_leaders_off") == []
    assert findings_of(cluster(running), "under_replicated") == []


def test_replicas_in_one_rack_are_told_by_topic():
    rows = changed(changed(EVEN, 1, replicas=(1, 4, 2)), 2, replicas=(0, 1, 3))
    rows = [replace(row, isr=row.replicas, leader=row.replicas[0]) for row in rows]
    (finding,) = findings_of(cluster([*rows, *striped("u", 6)]), "rack_violated")
    assert (finding.subject, finding.evidence["violating_partitions"], finding.evidence["example"]) == ("t", 2, "t-1")
    assert finding.evidence["log_bytes"] == 200
    assert finding.confidence is Confidence.STRUCTURAL


def test_a_trouble_of_many_topics_is_one_finding():
    rows = [replace(row, isr=row.replicas[:2]) for number in range(11) for row in striped(f"t{number:02d}", 6)]
    (finding,) = findings_of(cluster(rows), "under_replicated")
    assert (finding.subject, finding.evidence["topics"]) == ("many topics", 11)
    assert finding.evidence["under_replicated_partitions"] == finding.evidence["partitions"] == 66
    assert finding.recommendation == fact(FactCode.UNDER_REPLICATED, partitions=66, topics=11)
    assert len(findings_of(cluster(rows[:60]), "under_replicated")) == 10


def test_more_replicas_than_racks_violate_nothing_as_long_as_every_rack_has_one():
    rows = [Partition("t", 0, (0, 1, 2, 3), 0, (0, 1, 2, 3))]
    assert findings_of(cluster(rows), "rack_violated") == []
    assert findings_of(cluster([Partition("t", 0, (0, 3, 1, 4), 0, (0, 3, 1, 4))]), "rack_violated") != []


def test_a_broker_without_rack_makes_no_statement_on_racks_possible():
    some = (*brokers(5), Broker(5))
    rows = [Partition("t", 0, (0, 3), 0, (0, 3))]
    assert findings_of(cluster(rows, of=some), "rack_violated") == []


def test_replicas_out_of_sync_are_high_and_below_min_isr_critical():
    rows = changed(EVEN, 0, isr=(0,))
    (finding,) = findings_of(cluster(rows), "under_replicated")
    assert (finding.severity, finding.evidence["missing_replicas"]) == (Severity.HIGH, 2)
    assert findings_of(cluster(rows), "below_min_isr") == []
    below = cluster(rows, configs={"t": {"min.insync.replicas": "2"}})
    assert [item.evidence["below_min_isr_partitions"] for item in findings_of(below, "under_replicated")] == [1]
    (finding,) = findings_of(below, "below_min_isr")
    assert (finding.severity, finding.evidence["least_in_sync"]) == (Severity.CRITICAL, 1)
    assert (finding.recommendation.args["partitions"], finding.recommendation.args["fewer_replicas_partitions"]) == (
        1,
        0,
    )
    (cause,) = [item for item in explained(below) if item.code == "below_min_isr"]
    assert [symptom.code for symptom in cause.symptoms] == ["under_replicated"]
    wider = cluster(changed(rows, 3, isr=(3, 4)), configs={"t": {"min.insync.replicas": "2"}})
    assert {"below_min_isr", "under_replicated"} <= {item.code for item in explained(wider)}  # t-3 has more findings


def test_the_least_that_brokers_set_counts_where_the_topic_says_nothing():
    rows = changed(EVEN, 0, isr=(0,))
    two = {broker: {"min.insync.replicas": "2"} for broker in range(6)}
    assert len(findings_of(cluster(rows, of=brokers(configs=two)), "below_min_isr")) == 1
    own = {"t": {"min.insync.replicas": "1"}}
    assert findings_of(cluster(rows, of=brokers(configs=two), configs=own), "below_min_isr") == []


@pytest.mark.parametrize(
    ("replicas", "isr", "least", "version", "codes"),
    [
        ((0,), (0,), "2", None, ["below_min_isr"]),
        ((0,), (0,), "2", "3.6.2", ["below_min_isr"]),
        ((0,), (0,), "2", "7.6.0-ccs", ["below_min_isr"]),  # a platform version: Kafka's is unknown
        ((0,), (0,), "2", "3.7.0", []),  # brokers ask for no more than there are, and one is no two
        ((0,), None, "2", None, ["below_min_isr"]),
        ((0,), (0,), "1", None, []),
        ((0, 1), (0, 1), "2", None, ["min_isr_at_replication_factor"]),
        ((0, 1), None, "2", None, ["min_isr_at_replication_factor"]),
        ((0, 1), (0, 1), "3", "4.1.0", ["min_isr_at_replication_factor"]),
        ((0, 1), (0,), "2", None, ["below_min_isr"]),
        ((0, 1, 2), (0, 1), "2", None, []),
        ((0, 1, 2), (0,), "2", None, ["below_min_isr"]),
    ],
)
def test_what_writes_need_against_what_there_is(replicas, isr, least, version, codes):
    row = Partition("t", 0, replicas, 0, isr, (10,) * len(replicas))
    snapshot = replace(cluster([row], configs={"t": {"min.insync.replicas": least}}), kafka_version=version)
    results = [*findings_of(snapshot, "below_min_isr"), *findings_of(snapshot, "min_isr_at_replication_factor")]
    assert [item.code for item in results] == codes
    assert [item.severity for item in results] == [
        Severity.CRITICAL if code == "below_min_isr" else Severity.HIGH for code in codes
    ]
    for finding in results:
        if finding.code == "below_min_isr":
            args = finding.recommendation.args
            assert (args["is_isr_known"], args["is_release_known"]) == (isr is not None, version == "3.6.2")
            assert args["fewer_replicas_partitions"] == (len(replicas) < int(least))


def test_nobody_is_told_of_writes_where_there_is_no_leader():
    """All writes fail, which is the other finding."""
    row = Partition("t", 0, (0, 1), None, (0,), (10, 10))
    snapshot = cluster([row], configs={"t": {"min.insync.replicas": "2"}})
    assert findings_of(snapshot, "below_min_isr") == findings_of(snapshot, "min_isr_at_replication_factor") == []


def test_partitions_with_another_replication_factor_than_their_topic_are_named():
    rows = changed(changed(EVEN, 1, replicas=(1, 2), log_bytes=(100, 100)), 7, replicas=(1, 2, 3, 4, 5), log_bytes=())
    rows = [replace(row, isr=row.replicas) for row in rows]
    (finding,) = findings_of(cluster(rows), "mixed_replication_factor")
    assert (finding.subject, finding.evidence["replication_factor"], finding.cost_bytes) == ("t", 3, 100)
    assert (finding.evidence["surplus_replicas"], finding.evidence["missing_replicas"]) == (2, 1)
    args = finding.recommendation.args
    assert (args["topic"], args["replication_factor"]) == ("t", 3)
    assert args["differing"] == (("t-1", 2), ("t-7", 5))
    assert findings_of(cluster([*EVEN, Partition("u", 0, (1,), 1, (1,))]), "mixed_replication_factor") == []


def test_a_factor_counts_once_a_running_reassignment_has_ended():
    growing = [
        replace(row, replicas=(*row.replicas, 5), adding=(5,), log_bytes=()) if row.partition == 0 else row
        for row in EVEN
    ]
    assert findings_of(cluster(growing), "mixed_replication_factor") != []
    moving = [replace(row, removing=(0,)) if row.partition == 0 else row for row in growing]
    assert findings_of(cluster(moving), "mixed_replication_factor") == []
    lost = changed(EVEN, 0, replicas=(0, 1), leader=None, isr=(), log_bytes=())
    assert findings_of(cluster(lost), "mixed_replication_factor") == []  # without a leader no plan brings it back


def test_a_rack_of_one_broker_holds_one_of_each_partition_that_is_in_every_rack():
    racks = {0: "a", 1: "a", 2: "b", 3: "b", 4: "c"}
    of = tuple(Broker(number, rack=rack) for number, rack in racks.items())
    rows = [Partition("t", n, (n % 2, 2 + n % 2, 4), n % 2, (n % 2, 2 + n % 2, 4), (1, 1, 1)) for n in range(10)]
    (finding,) = findings_of(cluster(rows, of=of), "single_broker_rack")
    assert (finding.subject, finding.evidence["broker"], finding.evidence["forced_replicas"]) == ("c", 4, 10)
    assert finding.evidence["over_mean_ratio"] == pytest.approx(10 / 6)
    two = [replace(row, replicas=row.replicas[:2], isr=row.replicas[:2], log_bytes=(1, 1)) for row in rows]
    assert findings_of(cluster(two, of=of), "single_broker_rack") == []  # two replicas need not be in rack c
    even = tuple(Broker(number, rack="abc"[number]) for number in range(3))
    three = [Partition("t", n, (0, 1, 2), 0, (0, 1, 2)) for n in range(10)]
    assert (
        findings_of(cluster(three, of=even), "single_broker_rack") == []
    )  # every rack is of one broker: all are alike


def test_an_unknown_isr_is_no_trouble():
    rows = [replace(row, isr=None) for row in EVEN]
    assert findings_of(cluster(rows), "under_replicated") == []


def test_a_partition_without_leader_says_whom_it_waits_for():
    (finding,) = findings_of(cluster(changed(EVEN, 4, leader=None, isr=(5,))), "offline_partition")
    assert finding.severity is Severity.CRITICAL
    assert finding.evidence["offline_partitions"] == 1
    args = finding.recommendation.args
    assert (args["example"], args["awaited_brokers"]) == ("t-4", (5,))


@pytest.mark.parametrize("state", [BrokerState.DEAD, BrokerState.FENCED])
def test_a_broker_that_serves_nobody_is_told_with_what_lies_on_it(state):
    lonely = Partition("alone", 0, (2,), None, ())
    (finding,) = findings_of(cluster([*EVEN, lonely], of=brokers(state={2: state})), "dead_broker")
    assert finding.subject == "2"
    assert finding.evidence == {
        "replicas": 7, "replicas_being_built": 0, "partitions_without_other_replica": 1, "state": state.value,
    }  # fmt: skip


def test_a_reassignment_to_a_broker_that_does_not_answer_waits_for_it():
    rows = [replace(row, replicas=(*row.replicas, 6), adding=(6,), log_bytes=()) if row.partition < 2 else row
            for row in EVEN]  # fmt: skip
    of = (*brokers(), Broker(6, rack="a", state=BrokerState.SILENT))
    (finding,) = findings_of(cluster(rows, of=of), "reassignment_running")
    args = finding.recommendation.args
    assert (args["waiting_partitions"], args["awaited_brokers"]) == (2, (6,))
    assert findings_of(cluster(rows, of=of), "reassignment_stuck") == []  # it may be back in seconds
    alive = (*brokers(), Broker(6, rack="a"))
    (finding,) = findings_of(cluster(rows, of=alive), "reassignment_running")
    assert finding.recommendation.args["waiting_partitions"] == 0


def test_a_dead_broker_that_is_being_filled_keeps_what_it_has_apart():
    rows = [replace(row, replicas=(*row.replicas, 5), adding=(5,), log_bytes=()) if row.partition == 0 else row
            for row in EVEN]  # fmt: skip
    (finding,) = findings_of(cluster(rows, of=brokers(state={5: BrokerState.DEAD})), "dead_broker")
    assert (finding.evidence["replicas"], finding.evidence["replicas_being_built"]) == (7, 1)
    assert finding.cost == fact(FactCode.MOVES_REPLICAS, replicas=6, if_lost=True)


def test_a_dead_broker_without_replicas_is_nobodys_trouble():
    dead = (*brokers(), Broker(9, state=BrokerState.DEAD))
    assert findings_of(cluster(EVEN, of=dead), "dead_broker") == []


def test_one_hot_partition_among_even_ones_is_told():
    rates = [200.0] + [10.0] * 11
    (finding,) = findings_of(cluster(EVEN, in_bytes_per_s=rates), "hot_partition")
    mean = (200 + 110) * 3 / 6
    assert finding.subject == "t-0"
    assert finding.evidence["in_share_of_broker_mean_ratio"] == pytest.approx(200 / mean)
    assert finding.evidence["topic_median_in_bytes_per_s"] == 10
    assert finding.severity is Severity.HIGH
    assert finding.gain == pytest.approx(1 - 10 / 200)


def test_large_partitions_that_are_all_alike_are_not_hot():
    few = striped("t", 3)
    assert findings_of(cluster(few, in_bytes_per_s=[10.0] * 3), "hot_partition") == []


def test_a_topic_of_one_large_partition_is_hot():
    rows = [*EVEN, Partition("single", 0, (0, 1, 2), 0, (0, 1, 2), (2000, 2000, 2000))]
    (finding,) = findings_of(cluster(rows), "hot_partition")
    assert (finding.subject, finding.evidence["topic_median_log_bytes"]) == ("single-0", None)
    assert finding.evidence["disk_share_of_broker_mean_ratio"] == 2000 / (3 * (1200 + 2000) / 6)


def test_a_topic_with_one_replica_is_told_with_its_brokers_and_size():
    alone = [Partition("lonely", number, (number,), number, (number,), (50,), 0, 10) for number in (0, 1)]
    (finding,) = findings_of(cluster([*EVEN, *alone]), "single_replica")
    assert (finding.subject, finding.severity) == ("lonely", Severity.MEDIUM)
    assert finding.evidence["partitions_with_one_replica"] == 2
    assert finding.evidence["log_bytes"] == 100
    args = finding.recommendation.args
    assert (args["partitions"], args["brokers"], args["replication_factor"]) == (2, (0, 1), 3)
    assert findings_of(cluster(alone[:1], of=brokers(1)), "single_replica") == [], (
        "with one broker there is no second replica"
    )


def test_one_of_a_topics_partitions_with_one_replica_is_counted_alone_and_many_topics_are_one_finding():
    rows = changed(EVEN, 3, replicas=(3,), leader=3, isr=(3,), log_bytes=(100,))
    (finding,) = findings_of(cluster(rows), "single_replica")
    assert (finding.evidence["partitions_with_one_replica"], finding.evidence["partitions"]) == (1, 12)
    many = [Partition(f"t{number:02}", 0, (0,), 0, (0,), (1,), 0, 1) for number in range(11)]
    (finding,) = findings_of(cluster([*EVEN, *many]), "single_replica")
    assert finding.subject == "many topics"
    assert finding.evidence["topics"] == 11


def led_by(counts, of=6):
    """Partitions of three replicas; so many led by each broker, which is the first of their replicas."""
    rows = []
    for broker, count in counts.items():
        for _ in range(count):
            replicas = (broker, (broker + 1) % of, (broker + 2) % of)
            rows.append(Partition("t", len(rows), replicas, broker, replicas, (100,) * 3, 0, 1000))
    return rows


def test_leaders_that_placement_piles_up_are_told_and_what_to_do():
    """Twelve partitions, two each would be even: broker 0 leads five of them, 2.5 times its share."""
    rows = led_by({0: 5, 1: 2, 2: 2, 3: 1, 4: 1, 5: 1})
    (finding,) = findings_of(cluster(rows), "leaders_over_share")
    assert (finding.subject, finding.severity) == ("0", Severity.HIGH)
    assert finding.evidence["preferred_leaders_led"] == 5
    assert finding.evidence["fair_share_leaders"] == 2
    assert finding.evidence["over_share_ratio"] == 2.5
    assert finding.recommendation.args["outcome"] == fact(FactCode.REORDER_AND_ELECT)
    assert findings_of(cluster(rows), "leaders_piled_up") == [], "nobody else is preferred to lead them"


def test_what_was_taken_over_besides_hides_no_pile_of_placement_and_is_its_symptom_where_it_is_little():
    """Forty partitions, ten each for four brokers: broker 0 leads 20 of its own and one of broker 3's."""
    rows = led_by({0: 20, 1: 7, 2: 7, 3: 6}, of=4)
    taken = changed(rows, 39, leader=0)
    (finding,) = findings_of(cluster(taken, of=brokers(4)), "leaders_over_share")
    assert (finding.subject, finding.evidence["preferred_leaders_led"]) == ("0", 20)
    (pile,) = findings_of(cluster(taken, of=brokers(4)), "leaders_piled_up")
    assert pile.evidence["taken_over_leaders"] == 1
    by_code = {result.code: result for result in explained(cluster(taken, of=brokers(4))) if result.subject == "0"}
    assert "leaders_piled_up" in [symptom.code for symptom in by_code["leaders_over_share"].symptoms]
    even = led_by({0: 10, 1: 10, 2: 10, 3: 10}, of=4)
    for number in range(35, 40):
        even = changed(even, number, leader=0)
    assert findings_of(cluster(even, of=brokers(4)), "leaders_over_share") == []
    assert [result.subject for result in findings_of(cluster(even, of=brokers(4)), "leaders_piled_up")] == ["0"]


@pytest.mark.parametrize(("counts", "is_told"), [
    ({0: 2, 1: 2, 2: 1, 3: 1, 4: 1, 5: 1}, False),  # 8 of six brokers: one has to lead two
    ({0: 3, 1: 1, 2: 1, 3: 1, 4: 1, 5: 1}, True),
    ({0: 12, 1: 10, 2: 10, 3: 10, 4: 9, 5: 9}, False),  # 1.2 times
    ({0: 13, 1: 10, 2: 10, 3: 9, 4: 9, 5: 9}, True),  # 1.3 times
])  # fmt: skip
def test_leaders_over_share_asks_for_a_quarter_and_a_whole_partition_more(counts, is_told):
    assert bool(findings_of(cluster(led_by(counts)), "leaders_over_share")) is is_told


def test_who_sends_more_as_it_leads_more_is_told_once():
    """All partitions are read alike: broker 0 leads 2.5 times its share and sends so much more."""
    rows = led_by({0: 5, 1: 2, 2: 2, 3: 1, 4: 1, 5: 1})
    snapshot = cluster(rows, in_bytes_per_s=[0.0] * 12, out_bytes_per_s=[30.0] * 12)
    by_code = {finding.code: finding for finding in explained(snapshot) if finding.subject == "0"}
    assert "broker_rate_over_share" not in by_code
    assert [symptom.code for symptom in by_code["leaders_over_share"].symptoms] == ["broker_rate_over_share"]


def test_partitions_of_unknown_load_do_not_lower_the_median_of_a_hot_topic():
    """Of two others one carries 10 and one is unknown: the median is 10, not 5."""
    rows = [*striped("t", 3), *striped("u", 18)]
    (finding,) = findings_of(cluster(rows, in_bytes_per_s=[400.0, 10.0, float("nan")] + [20.0] * 18), "hot_partition")
    assert (finding.subject, finding.evidence["topic_median_in_bytes_per_s"]) == ("t-0", 10.0)
