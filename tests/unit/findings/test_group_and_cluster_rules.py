"""Rules on groups, coordinators and the whole cluster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kafka_rebalance.advisory.advise import rack_traffic_price
from kafka_rebalance.amounts import counted, format_amount, format_bytes, format_seconds, listed
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import CODES, Confidence, Severity
from kafka_rebalance.findings.rules import RULES, evaluate_rules
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.plans.plan import Cost, Plan, ResourceOutcome, Verdict
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.group import Tasks
from kafka_rebalance.snapshot.model import CommittedOffset, Group, GroupType, Member
from tests.coverage_gaps import gap_of
from tests.unit.findings.sample_clusters import brokers, cluster, findings_of, striped

ROWS = striped("t", 6)


def group(name="g", members=(), committed=(), **changes):
    return Group(name, protocol="range", state="Stable", members=tuple(members), committed=tuple(committed), **changes)


def static(number, *partitions):
    return Member(f"m{number}", instance_id=f"pod-{number}", assigned=(("t", partitions),) if partitions else ())


def commits(*offsets, topic="t"):
    return [CommittedOffset(topic, number, offset) for number, offset in enumerate(offsets)]


def test_more_members_than_partitions_are_idle():
    members = [Member(f"m{number}", assigned=(("t", (number,)),)) for number in range(6)] + [Member("m7"), Member("m8")]
    (finding,) = findings_of(cluster(ROWS, groups=[group(members=members)]), "idle_members")
    assert (finding.evidence["idle_members"], finding.evidence["members"], finding.gain) == (2, 8, 0.25)
    assert finding.confidence is Confidence.STRUCTURAL


def test_idle_members_that_another_strategy_would_employ_are_told_once():
    rows = [row for number in range(4) for row in striped(f"t{number}", 1)]
    members = [Member("m1", assigned=tuple((f"t{number}", (0,)) for number in range(4))), Member("m2")]
    snapshot = cluster(rows, groups=[group(members=members)])
    assert findings_of(snapshot, "idle_members") == []
    (finding,) = findings_of(snapshot, "assignor_uneven")
    assert (finding.evidence["skew_count"], finding.evidence["advised_skew_count"], finding.gain) == (2.0, 1.0, 0.5)
    assert finding.confidence is Confidence.MEASURED, "today's assignment was reproduced"


@pytest.mark.parametrize("kind", [GroupType.SHARE, GroupType.STREAMS])
def test_nothing_is_advised_to_members_that_share_partitions_or_stand_by(kind):
    """Both share members read both partitions; the second streams member keeps a copy of the first one's state."""
    both = (("t", (0, 1)),)
    second = Member("m2", assigned=both if kind is GroupType.SHARE else (), tasks=Tasks(standby=(("0", (0, 1)),)))
    members = [Member("m1", assigned=both, tasks=Tasks(active=(("0", (0, 1)),))), second, Member("m3")]
    snapshot = cluster(striped("t", 2), groups=[group(members=members, type=kind)])
    assert {code: findings_of(snapshot, code) for code in (
        "idle_members", "assignor_uneven", "dead_static_member"
    )} == {
        "idle_members": [], "assignor_uneven": [], "dead_static_member": [],
    }  # fmt: skip
    (replay,) = (replay_group(group_input) for group_input in group_inputs(snapshot))
    assert (replay.today.idle_members, len(replay.scores), replay.advised) == (1, 1, None)
    assert [member.partitions for member in replay.members] == [2, 2 if kind is GroupType.SHARE else 0, 0]


@pytest.mark.parametrize("kind", [GroupType.CONSUMER, GroupType.SHARE])
def test_groups_that_the_coordinator_shares_out_are_not_told_to_change_a_client(kind):
    rows = [row for number in range(4) for row in striped(f"t{number}", 1)]
    members = [Member("m1", assigned=tuple((f"t{number}", (0,)) for number in range(4))), Member("m2")]
    assert findings_of(cluster(rows, groups=[group(members=members, type=kind)]), "assignor_uneven") == []


DEAD = group(
    members=[static(0, 0, 1), static(1, 2, 3), static(2, 4, 5)], committed=commits(1000, 1000, 400, 300, 999, 1000)
)
WRITTEN = {"in_messages_per_s": [1.0] * 6, "in_bytes_per_s": [10.0] * 6}


def test_a_static_member_whose_partitions_are_written_and_not_read_is_dead():
    snapshot = cluster(ROWS, groups=[DEAD], **WRITTEN, out_bytes_per_s=[10, 10, 0, 0, 10, 10])
    (finding,) = findings_of(snapshot, "dead_static_member")
    assert (finding.evidence["instance_ids"], finding.evidence["partitions_unread"]) == (("pod-1",), 2)
    assert finding.evidence["lag_messages"] == 600 + 700
    assert finding.confidence is Confidence.MEASURED


def test_a_static_member_that_reads_anything_is_alive():
    snapshot = cluster(ROWS, groups=[DEAD], **WRITTEN, out_bytes_per_s=[10, 10, 0, 1, 10, 10])
    assert findings_of(snapshot, "dead_static_member") == []


def test_a_dynamic_member_is_never_called_dead_it_would_have_been_removed():
    dynamic = replace(DEAD, members=tuple(replace(member, instance_id=None) for member in DEAD.members))
    snapshot = cluster(ROWS, groups=[dynamic], **WRITTEN, out_bytes_per_s=[10, 10, 0, 0, 10, 10])
    assert findings_of(snapshot, "dead_static_member") == []


def test_without_rates_a_member_is_dead_if_it_is_far_behind_all_others():
    (finding,) = findings_of(cluster(ROWS, groups=[DEAD]), "dead_static_member")
    assert finding.confidence is Confidence.ESTIMATED
    near = replace(DEAD, committed=tuple(commits(1000, 900, 400, 300, 999, 1000)))
    assert findings_of(cluster(ROWS, groups=[near]), "dead_static_member") == []


SLOW = group(members=[Member("a", assigned=(("t", tuple(range(6))),))], committed=commits(*[500] * 6))


def test_the_one_reader_of_a_topic_falls_behind_if_it_reads_less_than_is_written():
    snapshot = cluster(ROWS, groups=[SLOW], **WRITTEN, out_bytes_per_s=[8.0] * 6)
    (finding,) = findings_of(snapshot, "lag_growing")
    assert finding.evidence["read_ratio"] == pytest.approx(0.8)
    assert (finding.evidence["lag_messages"], finding.evidence["lag_seconds"]) == (3000, 500)
    assert findings_of(cluster(ROWS, groups=[SLOW], **WRITTEN, out_bytes_per_s=[9.5] * 6), "lag_growing") == []


def test_a_topic_with_two_readers_tells_of_neither():
    other = replace(SLOW, id="other")
    assert findings_of(cluster(ROWS, groups=[SLOW, other], **WRITTEN, out_bytes_per_s=[8.0] * 6), "lag_growing") == []


def test_a_group_without_lag_does_not_fall_behind():
    done = replace(SLOW, committed=tuple(commits(*[1000] * 6)))
    assert findings_of(cluster(ROWS, groups=[done], **WRITTEN, out_bytes_per_s=[8.0] * 6), "lag_growing") == []


def coordinated(*coordinators):
    return cluster(
        ROWS, groups=[group(f"g{number}", coordinator=coordinator) for number, coordinator in enumerate(coordinators)]
    )


def test_a_coordinator_of_far_more_groups_than_chance_gives_is_told():
    (finding,) = findings_of(coordinated(*[3] * 20, *range(6), *range(6)), "coordinator_piled_up")
    assert (finding.subject, finding.evidence["groups"]) == ("3", 22)
    assert finding.evidence["over_share_ratio"] == pytest.approx(22 / (32 / 6))


def test_few_groups_on_one_coordinator_are_chance():
    assert findings_of(coordinated(3, 3, 3), "coordinator_piled_up") == []


def test_groups_whose_coordinator_kafka_does_not_know_pile_up_on_no_broker():
    assert findings_of(coordinated(*[-1] * 20, *range(6), *range(6)), "coordinator_piled_up") == []


def test_throttles_are_left_over_only_while_nothing_is_reassigned():
    throttled = {"t": {"leader.replication.throttled.replicas": "0:1"}}
    configs = {2: {"follower.replication.throttled.rate": "1000"}}
    (finding,) = findings_of(cluster(ROWS, configs=throttled, of=brokers(configs=configs)), "throttle_left_over")
    assert (finding.evidence["topic_names"], finding.evidence["broker_ids"]) == (("t",), (2,))
    (of_topics,) = findings_of(cluster(ROWS, configs=throttled), "throttle_left_over")
    assert (of_topics.evidence["topic_names"], of_topics.evidence["broker_ids"]) == (("t",), None)
    (of_brokers,) = findings_of(cluster(ROWS, of=brokers(configs=configs)), "throttle_left_over")
    assert (of_brokers.evidence["topic_names"], of_brokers.evidence["broker_ids"]) == (None, (2,))
    running = [replace(ROWS[0], replicas=(0, 1, 2, 3), adding=(3,), log_bytes=()), *ROWS[1:]]
    assert findings_of(cluster(running, configs=throttled), "throttle_left_over") == []


def test_what_nobody_measured_is_said_and_never_zero():
    rows = [replace(row, log_bytes=()) for row in ROWS]
    (finding,) = findings_of(cluster(rows), "load_unknown")
    assert finding.evidence["resources_left_out"] == 4
    assert finding.evidence["disk_left_out"] == "figure_not_measured"
    assert finding.severity is Severity.INFO
    assert not finding.recommendation.args["has_rates"]


def test_gaps_are_one_finding_with_their_kinds_counted():
    gaps = [gap_of("group", name, FactCode.LACKS_ASSIGNMENT, "it was rebalancing") for name in ("a", "b")]
    (finding,) = findings_of(cluster(ROWS, coverage=gaps), "coverage_gap")
    assert (finding.severity, finding.evidence["gaps"]) == (Severity.INFO, 2)
    assert finding.evidence["group_lacks_assignment"] == 2
    severe = [gap_of("broker", "3", FactCode.LACKS_SIZES, "timed out")]
    assert findings_of(cluster(ROWS, coverage=severe), "coverage_gap")[0].severity is Severity.MEDIUM


def plan(verdict, *, after=None):
    load = dict.fromkeys(range(6), 600.0) | {0: 1200.0}
    outcome = ResourceOutcome(
        resource="disk", unit="bytes", source="log_dirs", mean_level=700.0, basis="fair_share",
        band_asked=(None, None), widened_to=(None, None), skew_before=1.7, skew_after=1.0, before=load,
        after=after or load,
    )  # fmt: skip
    return Plan("c", verdict, (fact(FactCode.NOTHING_MOVABLE),), "snapshot", Cost(0, 0, 0), resources=(outcome,))


def test_the_plans_verdict_becomes_a_finding():
    snapshot = cluster(ROWS)
    (finding,) = findings_of(snapshot, "nothing_to_do", plan(Verdict.NOTHING_TO_DO))
    assert (finding.severity, finding.evidence) == (Severity.OK, {"disk_skew": 1.7})
    (finding,) = findings_of(snapshot, "not_fixable_by_moving", plan(Verdict.NOT_FIXABLE_BY_MOVING))
    assert finding.recommendation.code is FactCode.MOVING_CANNOT_FIX
    assert findings_of(snapshot, "nothing_to_do", plan(Verdict.REBALANCE)) == []


def test_the_gain_of_a_share_is_what_the_plan_takes_away():
    rows = [replace(ROWS[0], log_bytes=(700, 100, 100)), *ROWS[1:]]
    (without,) = findings_of(cluster(rows), "broker_disk_over_share")
    assert without.gain == 1.0
    half = plan(Verdict.REBALANCE, after={0: 1200.0 - 300.0})
    (finding,) = findings_of(cluster(rows), "broker_disk_over_share", half)
    excess = finding.evidence["disk_bytes"] - finding.evidence["fair_share_disk_bytes"]
    assert finding.gain == pytest.approx(300 / excess)


def test_findings_are_ranked_worst_first_and_each_key_stands_once():
    rows = [replace(ROWS[0], leader=None, isr=()), *ROWS[1:]]
    snapshot = cluster(rows, groups=[SLOW], **WRITTEN, out_bytes_per_s=[8.0] * 6)
    findings = evaluate_rules(snapshot, score_cluster(snapshot), [])
    ranks = [(finding.severity.rank, -finding.gain) for finding in findings]
    assert ranks == sorted(ranks)
    assert len({finding.finding_key for finding in findings}) == len(findings)


def test_every_code_of_the_registry_has_a_rule_of_its_name_and_every_rule_a_code():
    told_where_asked = {rack_traffic_price.__name__}  # beside the rules, for it takes a price
    assert {rule.__name__ for rule in RULES} | told_where_asked == set(CODES)
    assert all(rule.__doc__ for rule in RULES)


def test_evidence_holds_plain_numbers_that_json_takes():
    rates = [200.0] + [10.0] * 5
    snapshot = cluster(ROWS, in_bytes_per_s=rates)
    findings = evaluate_rules(snapshot, score_cluster(snapshot), [])
    assert findings
    assert not any(isinstance(value, np.generic) for finding in findings for value in finding.evidence.values())


def test_words_of_numbers():
    assert (format_bytes(0), format_bytes(1536), format_bytes(3 * 2**40)) == ("0 B", "1.5 KiB", "3.0 TiB")
    times = [format_seconds(30), format_seconds(5400), format_seconds(3600 * 72)]
    assert times == ["30 s", "1 h 30 min", "3.0 days"]
    assert (format_amount(12.34, "percent"), format_amount(2048, "bytes/s"), format_amount(1234, "count")) == (
        "12.3 %", "2.0 KiB/s", "1,234",
    )  # fmt: skip
    assert (counted(1, "partition"), counted(2000, "partition")) == ("1 partition", "2,000 partitions")
    assert (listed([1, 2]), listed(range(7))) == ("1, 2", "0, 1, 2, 3, 4 and 2 more")
