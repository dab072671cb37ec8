"""Elections recommended by findings, on random clusters: leaders are never less even afterwards, and always eligible.

Kafka's rule is repeated here: a partition's first replica leads if its broker serves, the replica is in sync and its
log dir works; all others stay as they are.
"""

from __future__ import annotations

import random

import pytest

from kafka_rebalance.findings.broker_rules import Way, leaders_piled_up, preferred_leaders_off, preferred_order_uneven
from kafka_rebalance.findings.context import FindingContext
from kafka_rebalance.findings.finding import Finding, Severity
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot.model import Broker, BrokerState, ClusterSnapshot, Partition
from tests.unit.findings.sample_clusters import cluster, findings_of

CLUSTERS = 500
STATES = (BrokerState.ALIVE,) * 8 + (BrokerState.DEAD, BrokerState.FENCED, BrokerState.SILENT)


def random_cluster(chance: random.Random) -> ClusterSnapshot:
    """Lists that favour some brokers, leaders apart from them, replicas out of sync, brokers that are away."""
    count = chance.randint(2, 7)
    brokers = tuple(Broker(number, state=chance.choice(STATES)) for number in range(count))
    if not any(broker.state.is_responsive for broker in brokers):
        brokers = (Broker(0), *brokers[1:])
    away = {broker.id for broker in brokers if not broker.state.is_responsive}
    favourite, skewed, moved = chance.randrange(count), chance.random(), chance.random()
    rows = []
    for number in range(chance.randint(1, 40)):
        replicas = chance.sample(range(count), chance.randint(1, min(count, 3)))
        if favourite in replicas and chance.random() < skewed:
            replicas = [favourite, *(broker for broker in replicas if broker != favourite)]
        isr = [broker for broker in replicas if broker not in away and chance.random() > 0.2]
        leader = None if not isr else isr[0] if chance.random() > moved else chance.choice(isr)
        rows.append(Partition("t", number, tuple(replicas), leader, tuple(isr)))
    return cluster(rows, of=brokers)


def elected(snapshot: ClusterSnapshot, leaders_now: set[int] | None = None) -> list[int]:
    """Leaders afterwards; of partitions that ``leaders_now`` lead alone where it is given. -1: none."""
    serves = {broker.id for broker in snapshot.brokers if broker.state.is_responsive}
    after = []
    for row in snapshot.each_partition():
        first = row.replicas[0]
        may = row.leader is not None and first in serves and first in (row.isr or ()) and first not in row.offline
        is_asked = leaders_now is None or row.leader in leaders_now
        after.append(first if may and is_asked else -1 if row.leader is None else row.leader)
    return after


def squares(snapshot: ClusterSnapshot, leaders: list[int]) -> int:
    """Sum of squares of remaining leaders a broker: with equal totals, less is more even."""
    return sum(leaders.count(broker.id) ** 2 for broker in snapshot.brokers if broker.state.stays)


def rules_of(snapshot: ClusterSnapshot) -> list[Finding]:
    context = FindingContext(snapshot, score_cluster(snapshot), [])
    return [
        item for rule in (preferred_leaders_off, preferred_order_uneven, leaders_piled_up) for item in rule(context)
    ]


def test_no_finding_recommends_an_election_after_which_leaders_are_less_even() -> None:
    seen = dict.fromkeys(("recommended", "waits", "uneven", "partly"), 0)
    for seed in range(CLUSTERS):
        snapshot = random_cluster(random.Random(seed))
        today = [-1 if row.leader is None else row.leader for row in snapshot.each_partition()]
        for item in rules_of(snapshot):
            way = item.recommendation.args.get("way")
            recommends = way in (Way.ELECT_THESE, Way.ELECT_ALL)
            after = elected(snapshot, {int(item.subject)} if way == Way.ELECT_THESE else None)
            if recommends:
                assert after != today, (seed, item)
                assert squares(snapshot, after) <= squares(snapshot, today), (seed, item)
                seen["recommended"] += 1
            if item.code == "preferred_leaders_off":
                off = [row for row, led in zip(snapshot.each_partition(), after, strict=True)
                       if row.leader is not None and led != row.replicas[0]]  # fmt: skip
                assert item.evidence["waiting_partitions"] == len(off), (seed, item)
                seen["partly"] += bool(off) and recommends
                seen["waits"] += way == Way.WAIT
            if item.code == "preferred_order_uneven":
                worse = squares(snapshot, after) > squares(snapshot, today)
                higher = max(map(after.count, range(7))) > max(map(today.count, range(7)))
                assert worse or higher, (seed, item)
                seen["uneven"] += 1
    assert min(seen.values()) >= 20, seen  # every kind was met


def test_a_restarted_broker_is_elected_though_another_gets_one_leader_more() -> None:
    """Broker 2 led nothing; the election leaves 5, 4 and 3 where the largest had 6."""
    lists = [(0, 1, 2)] * 5 + [(1, 2, 0)] * 4 + [(2, 0, 1)] * 3
    leaders = [0] * 5 + [1] * 4 + [0, 1, 1]
    rows = [Partition("t", n, lists[n], leaders[n], lists[n]) for n in range(12)]
    (off,) = findings_of(cluster(rows, of=tuple(map(Broker, range(3)))), "preferred_leaders_off")
    assert off.recommendation.args["way"] == Way.ELECT_ALL
    assert off.evidence["elected_partitions"] == 3


def test_an_election_that_makes_leaders_slightly_less_even_is_not_recommended_and_no_trouble() -> None:
    """8, 8 and 8 would be 9, 8 and 7: no broker a quarter above its share."""
    lists = [(0, 1, 2)] * 9 + [(1, 2, 0)] * 8 + [(2, 0, 1)] * 7
    leaders = [2, 1, *[0] * 7, 0, *[1] * 7, *[2] * 7]
    rows = [Partition("t", n, lists[n], leaders[n], lists[n]) for n in range(24)]
    snapshot = cluster(rows, of=tuple(map(Broker, range(3))))
    assert findings_of(snapshot, "preferred_order_uneven") == []
    (off,) = findings_of(snapshot, "preferred_leaders_off")
    assert (off.severity, off.evidence["elected_partitions"], off.gain) == (Severity.INFO, 0, 0)
    assert off.recommendation.args["way"] == Way.NONE


@pytest.mark.parametrize(
    ("setting", "severity", "is_automatic"),
    [(None, Severity.MEDIUM, True), ("true", Severity.MEDIUM, True), ("false", Severity.LOW, False)],
)
def test_an_uneven_order_weighs_less_where_the_controller_does_not_elect(
    setting: str | None, severity: Severity, *, is_automatic: bool
) -> None:
    configs = {} if setting is None else {"auto.leader.rebalance.enable": setting}
    brokers = tuple(Broker(number, configs=configs) for number in range(3))
    rows = [Partition("t", n, (0, 1, 2), n % 3, (0, 1, 2)) for n in range(12)]
    (finding,) = findings_of(cluster(rows, of=brokers), "preferred_order_uneven")
    assert finding.severity is severity
    assert finding.recommendation.args["is_automatic"] is is_automatic


def on_few(
    partitions: int, brokers: int, leaders: int, holders: int, others: int = 20, **loads: float
) -> ClusterSnapshot:
    """Topic ``hot`` of ``partitions`` led by ``leaders`` brokers, held by ``holders``, and an even topic."""
    rows = []
    for n in range(partitions):
        first = n % leaders
        replicas = (first, (first + 1 + n % (holders - 1)) % holders)
        rows.append(Partition("hot", n, replicas, first, replicas))
    rows += [
        Partition("even", n, (n % brokers, (n + 1) % brokers), n % brokers, (n % brokers, (n + 1) % brokers))
        for n in range(others)
    ]
    rates = {kind: [1.0] * others + [rate] * partitions for kind, rate in loads.items()}  # by topic, as in the table
    return cluster(rows, of=tuple(map(Broker, range(brokers))), **rates)


@pytest.mark.parametrize(
    ("partitions", "brokers", "leaders", "holders", "severity"),
    [
        (12, 4, 1, 4, Severity.LOW),
        (12, 4, 2, 4, None),
        (12, 4, 2, 2, Severity.LOW),  # all replicas on half of the brokers
        (12, 6, 2, 6, Severity.LOW),
        (12, 6, 3, 6, None),
        (6, 2, 1, 2, Severity.LOW),
        (5, 4, 1, 4, None),  # few partitions
        (7, 8, 1, 4, None),  # fewer than brokers: no even spread has one on each
    ],
)
def test_a_topic_on_few_brokers_whose_traffic_is_unknown_is_told_low(
    partitions: int, brokers: int, leaders: int, holders: int, severity: Severity | None
) -> None:
    findings = findings_of(on_few(partitions, brokers, leaders, holders), "topic_on_few_brokers")
    assert [finding.severity for finding in findings if finding.subject == "hot"] == ([severity] if severity else [])
    assert [finding.subject for finding in findings if finding.subject != "hot"] == []


@pytest.mark.parametrize(
    ("rate", "severity"),
    [(0.1, None), (0.18, None), (0.2, Severity.MEDIUM), (0.5, Severity.MEDIUM), (1.0, Severity.HIGH)],
)
def test_traffic_that_is_known_decides(rate: float, severity: Severity | None) -> None:
    """12 partitions at ``rate`` beside 20 at 1: 0.18 is a share of 9.7 %, 0.2 of 10.7 %, 0.5 of 23 %, 1 of 37.5 %."""
    findings = findings_of(on_few(12, 4, 1, 4, in_bytes_per_s=rate), "topic_on_few_brokers")
    assert [finding.severity for finding in findings] == ([severity] if severity else [])
    read = findings_of(on_few(12, 4, 1, 4, in_bytes_per_s=0.0, out_bytes_per_s=rate), "topic_on_few_brokers")
    assert [finding.severity for finding in read] == ([severity] if severity else [])
    if read:
        assert read[0].recommendation.args["load"] == "out_bytes_per_s"


def test_traffic_of_exactly_a_threshold_is_enough() -> None:
    """6 of 60 alike partitions are a tenth, 8 of 32 a quarter."""
    for partitions, others, severity in ((6, 54, Severity.MEDIUM), (8, 24, Severity.HIGH)):
        snapshot = on_few(partitions, 4, 1, 4, others, in_bytes_per_s=1.0)
        assert [found.severity for found in findings_of(snapshot, "topic_on_few_brokers")] == [severity]


def test_the_leaders_that_each_broker_can_have_of_a_topic_are_told() -> None:
    (finding,) = findings_of(on_few(12, 4, 1, 4), "topic_on_few_brokers")
    assert (finding.recommendation.args["topic"], finding.recommendation.args["leaders_each"]) == ("hot", 3)
