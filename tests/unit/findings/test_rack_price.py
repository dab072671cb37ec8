from __future__ import annotations

import json
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kafka_rebalance.advisory.advise import rack_traffic_price, reads_as_advised, with_rack_price
from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.findings.finding import Finding
from kafka_rebalance.groups.answers import score_answer
from kafka_rebalance.groups.group_input import GroupInput, group_inputs
from kafka_rebalance.groups.group_replay import GroupReplay, replay_group
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Cost, Move, MoveKind, Plan, Verdict
from kafka_rebalance.scoring.rack_traffic import RackTraffic, rack_traffic
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.figures import LoadKind
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, Group
from rebalance_advisor.cli.main import main
from rebalance_advisor.request.run_request import RunRequest
from tests.sample import for_each
from tests.unit.planner.sample_clusters import brokers, cluster, random_cluster, row
from tests.unit.scoring.test_rack_traffic import read_by, with_readers

WHY, WORSE = fact(FactCode.SEPARATES_RACKS), fact(FactCode.SHARES_RACK)
MB = 1e6
ROWS = [row("t", 0, (0, 1, 2)), row("t", 1, (1, 4)), row("u", 0, (2,))]


RATES = {LoadKind.IN_BYTES_PER_S: [10 * MB, 4 * MB, math.nan]}
BY_RACK = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


def two_groups(configs: Mapping[str, str]) -> ClusterSnapshot:
    told = [replace(broker, configs=configs) for broker in brokers(6, racks=3)]
    group = read_by("apart", ("rack-1", {"t": (0,)}), ("rack-2", {"t": (1,)}))
    return replace(cluster(ROWS, told, rates=RATES), groups=(group, read_by("who", (None, {"t": (0,)}))))


def test_by_hand() -> None:
    """20 MB/s of replication and 14 of reads: 51,840 and 36,288 GB in 30 days, at 0.02 each 1,036.8 and 725.76."""
    found = rack_traffic_price(two_groups({"min.insync.replicas": "2"}), None, 0.02)
    args = found.recommendation.args
    assert args["is_selector_known"]
    assert args["dearest_topics"] == (("t", pytest.approx(1036.8)),)
    assert args["dearest_groups"] == (("apart", pytest.approx(725.76)),)
    assert (args["unknown_partitions"], args["unknown_groups"], args["unknown_members"]) == (1, 1, 0)
    assert found.evidence["replication_price_per_month"] == pytest.approx(1036.8)
    assert found.evidence["planned_replication_price_per_month"] == pytest.approx(1036.8)
    assert found.evidence["reads_price_per_month"] == pytest.approx(725.76)
    assert found.evidence["reads_price_per_month_served_in_rack"] == pytest.approx(207.36)
    assert found.gain == pytest.approx((725.76 - 207.36) / (1036.8 + 725.76))


def test_who_serves_readers_is_never_guessed() -> None:
    """Without brokers' configs, reads are a range, and only its lower end is in "at least"."""
    found = rack_traffic_price(two_groups({}), None, 0.02)
    args = found.recommendation.args
    assert not args["is_selector_known"]
    assert (args["reads_in_rack"], args["reads"]) == (pytest.approx(207.36), pytest.approx(725.76))
    assert found.gain == 0.0


def test_what_brokers_serve_in_the_rack_already_is_not_charged() -> None:
    found = rack_traffic_price(two_groups({"replica.selector.class": BY_RACK}), None, 0.02)
    assert found.evidence["reads_price_per_month"] == found.evidence["reads_price_per_month_served_in_rack"]


def test_members_without_a_rack_beside_others_are_counted() -> None:
    group = read_by("half", ("rack-1", {"t": (0,)}), (None, {"t": (1,)}), (None, {}))
    found = rack_traffic_price(replace(cluster(ROWS, brokers(6, racks=3), rates=RATES), groups=(group,)), None, 0.02)
    assert (found.evidence["members_unknown"], found.evidence["groups_unknown"]) == (1, 0)


@pytest.mark.parametrize(("rate", "gain"), [(0.5, 1 / 3), (0.4999, 0.0)])
def test_what_rounds_to_nothing_is_no_gain(rate: float, gain: float) -> None:
    """At a month's price of 1 for each byte/s: two copies and one read cross racks, and the read need not."""
    told = [replace(broker, configs={"min.insync.replicas": "2"}) for broker in brokers(6, racks=3)]
    group = read_by("apart", ("rack-1", {"t": (0,)}))
    snapshot = cluster([row("t", 0, (0, 1, 2))], told, rates={LoadKind.IN_BYTES_PER_S: [rate]})
    found = rack_traffic_price(replace(snapshot, groups=(group,)), None, 1e9 / (30 * 24 * 3600))
    assert found.evidence["reads_price_per_month"] == rate
    assert found.gain == pytest.approx(gain)


def test_without_rates_nothing_is_invented() -> None:
    found = rack_traffic_price(cluster(ROWS, brokers(6, racks=3)), None, 0.02)
    args = found.recommendation.args
    assert (args["replication"], args["reads"], args["unknown_partitions"], args["dearest_topics"]) == (0, 0, 3, ())


def moved(snapshot: ClusterSnapshot, plan: Plan, added: Mapping[int, str | None]) -> ClusterSnapshot:
    """The cluster after the plan, built anew."""
    placed = {(move.topic, move.partition): (move.to_replicas, move.leader_to) for move in plan.moves}
    table, rows = snapshot.partitions, []
    for i in range(len(table)):
        topic, partition = snapshot.topics[int(table.topic[i])].name, int(table.partition[i])
        here = (tuple(table.replicas[table.offsets[i] : table.offsets[i + 1]].tolist()), int(table.leader[i]))
        replicas, leader = placed.get((topic, partition), here)
        rows.append(row(topic, partition, replicas, leader=leader))
    rates = {LoadKind.IN_BYTES_PER_S: snapshot.loads.values(LoadKind.IN_BYTES_PER_S, len(table)).tolist()}
    all_brokers = [*snapshot.brokers, *(Broker(broker, rack) for broker, rack in added.items())]
    return replace(cluster(rows, all_brokers, rates=rates), groups=snapshot.groups)


PER_MONTH = 30 * 24 * 3600 / 1e9
ADDED: dict[int, str | None] = {20: "rack-2", 21: "rack-0", 22: None}


def require_told(found: Finding, today: RackTraffic, wanted: RackTraffic) -> None:
    for traffic, kind in ((today, ""), (wanted, "planned_")):
        replication, reads = sum(traffic.replication.values()), sum(traffic.reads.values())
        assert found.evidence[f"{kind}replication_price_per_month"] == pytest.approx(replication * PER_MONTH)
        assert found.evidence[f"{kind}reads_price_per_month"] == pytest.approx(reads * PER_MONTH)
        assert found.evidence[f"{kind}partitions_unknown"] == traffic.unknown_partitions


@pytest.mark.parametrize(("added", "leaders_only"), [({}, True), ({20: "rack-2", 21: "rack-0"}, False)])
def test_what_the_plan_makes_of_it_is_what_the_moved_cluster_has(
    added: dict[int, str | None], *, leaders_only: bool
) -> None:
    """Two racks of three replicas: where they go and who leads them changes what crosses."""
    snapshot = with_readers(random_cluster(0, broker_count=6, racks=2, topics=4), random.Random(0))
    options = PlanOptions(within=0.1, with_frontier=False, add_brokers=added, leaders_only=leaders_only)
    plan = make_plan(snapshot, options)
    assert plan.moves
    wanted = rack_traffic(moved(snapshot, plan, added))
    assert sum(wanted.reads.values()) != pytest.approx(sum(rack_traffic(snapshot).reads.values()))
    require_told(rack_traffic_price(snapshot, plan, 1.0), rack_traffic(snapshot), wanted)


@for_each("seed", range(20))
def test_any_moves_are_told_as_the_moved_cluster_would_be(seed: int) -> None:
    """To present or planned brokers, one of them with unknown rack; factors change, too."""
    draw = random.Random(seed)
    snapshot = with_readers(random_cluster(seed, broker_count=6, racks=2, topics=4), draw)
    moves = []
    for (topic, partition), i in snapshot.row_of.items():
        here, to = snapshot.partition(i), tuple(draw.sample([*range(6), *ADDED], draw.randint(1, 4)))
        if draw.random() < 0.6:
            leader = here.leader
            moves.append(
                Move(
                    topic, partition, here.replicas, to, leader, draw.choice(to), MoveKind.REPLICA, None, 1, WHY, WORSE
                )
            )
    parameters = PlanOptions(add_brokers=ADDED).document()
    plan = Plan("test", Verdict.REBALANCE, (), "", Cost(0, 0, 0), parameters=parameters, moves=tuple(moves))
    found, wanted = rack_traffic_price(snapshot, plan, 1.0), rack_traffic(moved(snapshot, plan, ADDED))
    require_told(found, rack_traffic(snapshot), wanted)
    assert wanted.unknown_partitions > 0
    assert found.recommendation.args["planned_unknown_partitions"] == wanted.unknown_partitions


def dealt(group_input: GroupInput, reader: Sequence[int]) -> Group:
    """The group with each partition at the member that ``reader`` names."""
    first, members = group_input.first_row.tolist(), []
    for number, member in enumerate(group_input.group.members):
        mine = [
            (topic, tuple(row - first[t] for row in range(first[t], first[t + 1]) if reader[row] == number))
            for t, topic in enumerate(group_input.topics)
        ]
        members.append(replace(member, assigned=tuple((topic, runs) for topic, runs in mine if runs)))
    return replace(group_input.group, members=tuple(members))


@pytest.mark.parametrize("selector", ["none", BY_RACK])
@for_each("seed", range(5))
def test_reads_as_advised_are_those_of_a_group_that_reads_so(seed: int, selector: str) -> None:
    """Groups whose members all say a rack are dealt otherwise at random; others stay as they are."""
    draw = random.Random(seed)
    plain = with_readers(random_cluster(seed, broker_count=8, racks=4, topics=4), draw)
    first, *others = plain.groups
    known = replace(first, members=tuple(replace(member, rack=member.rack or "rack-3") for member in first.members))
    told = tuple(replace(broker, configs={"replica.selector.class": selector}) for broker in plain.brokers)
    snapshot = replace(plain, brokers=told, groups=(known, *others))
    replays, after = [], []
    for asked in group_inputs(snapshot):
        reader = np.array([draw.randrange(3) for _ in range(int(asked.first_row[-1]))], dtype=np.int32)
        rows = tuple(
            score_answer(asked, name, read, asked.reader) for name, read in (("now", asked.reader), ("x", reader))
        )
        replays.append(GroupReplay(asked.group.id, SubscriptionBasis.GIVEN, None, rows, (), "x"))
        is_known = all(member.rack for member in asked.group.members)
        after.append(dealt(asked, reader.tolist()) if is_known else asked.group)
    wanted = rack_traffic(replace(snapshot, groups=tuple(after))).reads
    assert reads_as_advised(rack_traffic(snapshot), replays) == pytest.approx(wanted)
    found = rack_traffic_price(snapshot, None, 1e3, replays)
    assert found.evidence["reads_price_per_month_as_advised"] == pytest.approx(sum(wanted.values()) * PER_MONTH * 1e3)
    assert found.recommendation.args["reads_as_advised"] == pytest.approx(sum(wanted.values()) * PER_MONTH * 1e3)


def test_brokers_that_differ_in_how_they_serve_leave_advised_reads_as_they_are() -> None:
    snapshot = two_groups({})
    first = replace(snapshot.brokers[0], configs={"replica.selector.class": BY_RACK})
    traffic = rack_traffic(replace(snapshot, brokers=(first, *snapshot.brokers[1:])))
    assert (traffic.is_selecting, traffic.is_selector_told) == (None, False)
    assert traffic.reads == {"apart": pytest.approx(4 * MB)}  # broker 0 serves the other one in its rack
    replays = [replay_group(asked) for asked in group_inputs(snapshot)]
    assert reads_as_advised(traffic, replays) == traffic.reads


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
    assert added["recommendation"]["text"][:30] in (tmp_path / "priced" / "report.html").read_text()


def test_findings_are_ranked_anew() -> None:
    snapshot = random_cluster(1, broker_count=6, topics=3)
    first = rack_traffic_price(snapshot, None, 0.01)
    assert with_rack_price([first], snapshot, None, 0.02)[0].evidence["price_per_gb"] in (0.01, 0.02)
    assert len(with_rack_price([], snapshot, None, 0.02)) == 1


@pytest.mark.parametrize("price", ["0", "-1", "cheap", "1e9", "nan", ""])
def test_what_is_no_price(price: str) -> None:
    with pytest.raises(UsageError, match="--rack-byte-price"):
        RunRequest.from_mapping({"rack_byte_price": price})
