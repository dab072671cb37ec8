from __future__ import annotations

from typing import Any

import pytest

from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.render import render, with_texts


def said(code: FactCode, **args: Any) -> str:
    return render(fact(code, **args))


@pytest.mark.parametrize(
    ("after", "message"),
    [
        (900.0, "the plan moves 300 B off it, which leaves 900 B"),
        (1200.0, "the plan moves nothing off it (it then has 1.2 KiB)"),
        (1300.0, "the plan moves nothing off it (it then has 1.3 KiB)"),
    ],
)
def test_what_the_plan_makes_of_a_load_stands_in_the_finding(after: float, message: str) -> None:
    outcome = fact(FactCode.PLAN_CHANGES_LOAD, resource="disk", before=1200.0, after=after)
    text = said(FactCode.BROKER_DISK_OVER_SHARE, broker=3, disk_bytes=1200.0, times_share=1.5, outcome=outcome)
    assert text == f"Broker 3 holds 1.2 KiB, 1.50 × its share: {message}."


@pytest.mark.parametrize(
    ("more", "end"),
    [
        ({}, ". The disks of the cluster are 40% full: move it away."),
        (
            {"cluster_used_ratio": None},
            ": move it away. The disk sizes of some other brokers are unknown: give their capacities.",
        ),
        (
            {"least_seconds_to_full": 5400.0},
            (
                ", and all full in 1 h 30 min at the earliest, if nothing is deleted. "
                "The disks of the cluster are 40% full: move it away."
            ),
        ),
        (
            {"is_cluster_full": True},
            ". The disks of the cluster are 40% full, too. Moving does not help: add brokers or keep less.",
        ),
        (
            {"filling_stray_bytes": 310},
            ". 310 B of it are logs that no replica list has. Without these it is not full.",
        ),
    ],
)
def test_a_full_disk_comes_with_what_helps(more: dict[str, Any], end: str) -> None:
    known = {"broker": 1, "used_ratio": 0.91, "cluster_used_ratio": 0.4, "is_cluster_full": False,
             "filling_stray_bytes": 0, "least_seconds_to_full": None, "outcome": "move it away"}  # fmt: skip
    assert said(FactCode.BROKER_DISK_FULL, **(known | more)) == f"The disks of broker 1 are 91% full{end}"


@pytest.mark.parametrize(
    ("effect", "message"),
    [
        ((0, 0.0, 0, 0.0, 0), "nothing: the plan does not touch it"),
        ((1, 100.0, 0, 0.0, 1), "100 B moved off it, 1 leader change"),
        ((2, None, 1, 50.0, 0), "an unknown size moved off it, 50 B copied to it"),
    ],
)
def test_what_a_plan_does_to_a_broker(effect: tuple[Any, ...], message: str) -> None:
    names = ("replicas_out", "bytes_out", "replicas_in", "bytes_in", "leader_changes")
    assert said(FactCode.PLAN_TOUCHES_BROKER, **dict(zip(names, effect, strict=True))) == message


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ("elect_these", "elect these again (kafka-leader-election --election-type preferred), but 2 not before "),
        ("wait", "do not elect these before "),
    ],
)
def test_leaders_that_cannot_be_elected_yet_are_waited_for(way: str, message: str) -> None:
    back = fact(FactCode.BROKER_BACK, broker=7, state="dead", partitions=1)
    synced = fact(FactCode.IN_SYNC_AGAIN, broker=2, partitions=1)
    text = said(
        FactCode.LEADERS_PILED_UP, broker=3, leaders=12, times_share=2.0, taken_over=6, way=way, waiting_leaders=2,
        awaited=(back, synced),
    )  # fmt: skip
    assert text == (
        f"Broker 3 leads 12 partitions, 2.00 × its share. It took over 6 of them from their preferred leaders: "
        f"{message}"
        "broker 7, which is dead, is back (1 partition), broker 2 is in sync again (1 partition)."
    )


def test_an_election_leaves_those_that_wait() -> None:
    known = {"partitions": 12, "off_partitions": 4, "idle_brokers": (1,), "elected_by_plan": 1}
    synced = fact(FactCode.IN_SYNC_AGAIN, broker=2, partitions=1)
    assert said(FactCode.PREFERRED_LEADERS_OFF, way="elect_all", waiting_leaders=1, awaited=(synced,), **known) == (
        "4 of 12 partitions (33.3%) are not led by their preferred leader; broker 1 leads nothing: run "
        "kafka-leader-election --election-type preferred --all-topic-partitions, which leaves 1 as they are until "
        "broker 2 is in sync again (1 partition); after the plan 1 of them is."
    )


@pytest.mark.parametrize(
    ("load", "part"),
    [
        ("in_bytes_per_s", "gets 38% of what producers write"),
        ("out_bytes_per_s", "sends 38% of what consumers read"),
        (None, "has 38% of the cluster's partitions (its traffic is unknown)"),
    ],
)
def test_a_dot_in_a_topics_name_is_written_so_that_the_option_matches_it_alone(load: str | None, part: str) -> None:
    text = said(
        FactCode.TOPIC_ON_FEW_BROKERS, topic="a.hot", load=load, load_ratio=0.375, leading_brokers=(1,),
        led_partitions=12, partitions=12, brokers=4, brokers_with_replicas=None, leaders_each=3,
    )  # fmt: skip
    assert text == (
        f"a.hot {part}. Broker 1 leads 12 of its 12 partitions, and 4 brokers could. Spread it: plan "
        r"--min-topic-leaders 'a\.hot=3'."
    )


def test_too_few_replicas_for_writes_come_with_the_factor_that_would_do() -> None:
    known = {"partitions": 3, "topic": "a.b", "min_insync_replicas": 2, "serving_brokers": 6}
    text = said(
        FactCode.BELOW_MIN_ISR, fewer_replicas_partitions=1, is_release_known=False, is_isr_known=False, **known
    )
    assert text == (
        "1 partition of a.b has fewer replicas at all than min.insync.replicas (2): producers with acks=all fail now, "
        "unless brokers are 3.7 or newer (they ask for fewer). Raise the replication factor (plan --include-topic "
        r"'a\.b' --replication-factor 3) or lower min.insync.replicas. 2 more have too few in sync: find the broker "
        "that lags or is down, and bring it back. How many replicas are in sync is unknown."
    )
    text = said(FactCode.BELOW_MIN_ISR, fewer_replicas_partitions=0, is_release_known=True, is_isr_known=True, **known)
    assert text == (
        "3 partitions of a.b have fewer replicas in sync than min.insync.replicas (2): producers with acks=all fail "
        "now. Find the broker that lags or is down, and bring it back."
    )


def test_another_replication_factor_is_brought_back_once_there_are_brokers() -> None:
    known = {"partitions": 2, "topic": "t", "replication_factor": 3, "differing": (("t-1", 2), ("t-7", 5))}
    text = said(FactCode.MIXED_REPLICATION_FACTOR, serving_brokers=2, needed_brokers=3, **known)
    assert text == (
        "2 partitions of t have another replication factor than its others, 3: t-1 has 2, t-7 has 5. An aborted move "
        "may have left them so. That takes 3 brokers in service, and 2 are. Once there are, plan --include-topic 't' "
        "--replication-factor 3 brings them back."
    )


def test_many_topics_and_many_names_are_cut() -> None:
    assert said(FactCode.UNDER_REPLICATED, partitions=66, topics=11).startswith("66 partitions of 11 topics lack")
    text = said(FactCode.RACKS_UNKNOWN, brokers=tuple(range(50)), brokers_without_rack=70, racks=3)
    assert text.startswith("Brokers 0, 1, 2, 3, 4 and 65 more have no rack, the others are in 3 racks.")


def test_a_reassignment_that_cannot_end_is_cancelled_by_a_command() -> None:
    known = {"partitions": 1, "names": ("t-1",), "brokers": ((4, "dead"),), "broker_count": 1}
    text = said(FactCode.REASSIGNMENT_STUCK, cancel_json='{"version":1}', **known)
    assert text == (
        "The reassignment of 1 partition (t-1) waits for broker 4, which is dead: it cannot end unless that broker "
        "comes back. Cancel it: kafka-reassign-partitions.sh --bootstrap-server HOST:9092 --reassignment-json-file "
        "cancel.json "
        '--cancel, with cancel.json: {"version":1}'
    )
    text = said(FactCode.REASSIGNMENT_STUCK, cancel_json=None, **known)
    assert text.endswith("with cancel.json: the value of cancel_json in findings.json")


PRICES: dict[str, Any] = {
    "replication": 1036.8, "planned_replication": 1036.8, "reads": 725.76, "planned_reads": 725.76,
    "reads_in_rack": 207.36, "planned_reads_in_rack": 207.36, "reads_as_advised": 725.76, "is_selector_known": True,
    "dearest_topics": (("t", 1036.8),), "dearest_groups": (("apart", 725.76),), "unknown_partitions": 1,
    "planned_unknown_partitions": 1, "unknown_groups": 1, "unknown_members": 0,
}  # fmt: skip


def test_the_price_of_traffic_between_racks() -> None:
    assert said(FactCode.RACK_TRAFFIC_PRICE, **PRICES) == (
        "Traffic between racks costs at least 1,763 in 30 days: replication 1,037, reads 726. Reads would cost 207 if "
        "brokers served members in their own rack (replica.selector.class=RackAwareReplicaSelector, client.rack). "
        "Most: topic t 1,037, group apart 726. Not counted: traffic of producers, 1 partition of unknown rate, leader "
        "or rack, 1 group whose members give no rack."
    )


def test_a_price_that_depends_on_who_serves_readers_is_a_range() -> None:
    changed = {"is_selector_known": False, "reads_as_advised": 300.0, "planned_reads": 600.0,
               "planned_unknown_partitions": 4, "unknown_members": 1}  # fmt: skip
    assert said(FactCode.RACK_TRAFFIC_PRICE, **(PRICES | changed)) == (
        "Traffic between racks costs at least 1,244 in 30 days: replication 1,037, reads 207 to 726 (207 to 600 after "
        "the plan). Reads cost 207 if brokers serve members in their own rack "
        "(replica.selector.class=RackAwareReplicaSelector, client.rack), 726 if leaders serve them: the snapshot does "
        "not show which. With the recommended strategies reads from leaders would cost 300. Most: topic t 1,037, group "
        "apart 726. Not counted: traffic of producers, 1 partition of unknown rate, leader or rack (4 after the plan), "
        "1 group whose members give no rack, 1 member of other groups without one."
    )


def test_each_fact_of_a_document_gets_its_text() -> None:
    inner = fact(FactCode.PLAN_LEAVES_BROKER)
    reason = fact(FactCode.BROKER_DISK_OVER_SHARE, broker=3, disk_bytes=1.0, times_share=1.5, outcome=inner).document()
    assert with_texts([{"code": "x", "recommendation": reason, "cost": None}]) == [
        {
            "code": "x",
            "recommendation": {**reason, "text": "Broker 3 holds 1 B, 1.50 × its share: the plan leaves it as it is."},
            "cost": None,
        }
    ]
    assert with_texts({**reason, "text": "old"}) == with_texts(reason)
