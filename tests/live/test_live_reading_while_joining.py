"""What a member reads between its commit at a rebalance's beginning and giving partitions up, by client and strategy.

A third member joins while one of two polls nothing, so that the other one waits for it. Java's reads on under
``cooperative-sticky`` and does not commit that: what the advice on a rollover says beside "automatic commits".

The one polls again a while after every coordinator has begun its rebalance, so that a busy machine cannot end the wait
before it began. No record may be older than that wait, ``JOINING_MS`` and what a busy machine took meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.kafka.cluster import ClusterSpec, start_cluster
from stack.kafka.setup import create_topics
from stack.kafka.traffic import RememberingProducer
from stack.waiting import wait_for
from tests.live.java_members import LONG_SESSION_MS, JavaMembers, broker_times, member_settings
from tests.live.librdkafka_members import LibrdkafkaMembers
from tests.live.records_read_twice import Reads, reads_of
from tests.live.stolen_time import StolenTime, now_ms

pytestmark = pytest.mark.live
TOPIC, PARTITIONS, RECORDS_PER_S, SLOW_S, JOINING_MS = "numbers", 6, 300, 1.5, 1_500
_LIBRDKAFKA_KNOWS = (
    "bootstrap.servers", "group.id", "auto.offset.reset", "session.timeout.ms", "heartbeat.interval.ms",
)  # fmt: skip
AUTOMATIC = {"enable.auto.commit": "true"}
CASES = {
    "java.cooperative": ("cooperative-sticky", AUTOMATIC),
    "java.listener": ("cooperative-sticky", {"test.commit.when.revoked": "true"}),
    "java.range": ("range", AUTOMATIC),
    "librdkafka.cooperative": ("cooperative-sticky", AUTOMATIC),
    "librdkafka.range": ("range", AUTOMATIC),
}


@dataclass(frozen=True, slots=True)
class Joined:
    """What each group read, and how old a record may be that it read twice."""

    reads: dict[str, Reads]
    longest_ms: int


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Joined]:
    spec = ClusterSpec(racks={1: "a"}, broker_properties=broker_times(LONG_SESSION_MS))
    with start_cluster(spec, tmp_path_factory.mktemp("joining") / "cluster") as cluster:
        create_topics(cluster.bootstrap, {TOPIC: [[1]] * PARTITIONS}, {})
        yield read_by_all(cluster.bootstrap)


def wait_until_all_rebalance(bootstrap: str) -> None:
    """Until the coordinator of each group knows its third member. One of librdkafka's rebalances without ``b``."""

    def states() -> dict[str, tuple[str | None, int]]:
        snapshot = read_cluster({"bootstrap.servers": bootstrap}, cluster_name="joining", now=datetime.now(UTC))
        return {group.id: (group.state, len(group.members)) for group in snapshot.groups}

    def has_begun(state: str | None, members: int) -> bool:
        return state == "PreparingRebalance" or members == 3

    wait_for(
        "every group to rebalance", states,
        until=lambda seen: seen.keys() >= CASES.keys() and all(has_begun(*seen[name]) for name in CASES),
    )  # fmt: skip


def read_by_all(bootstrap: str) -> Joined:
    """Members ``a`` and ``b`` of each group; ``c`` comes while ``b`` is slow."""
    with JavaMembers() as java, StolenTime() as stolen:
        librdkafka = LibrdkafkaMembers()
        homes = {name: librdkafka if name.startswith("librdkafka") else java for name in CASES}

        def join(letter: str) -> None:
            for name, (strategy, commits) in CASES.items():
                settings = member_settings(
                    bootstrap, name, f"{name}.{letter}", [strategy], is_server=False, session_ms=LONG_SESSION_MS
                )
                if homes[name] is librdkafka:
                    settings = {key: settings[key] for key in _LIBRDKAFKA_KNOWS}
                    settings |= {"partition.assignment.strategy": strategy}
                homes[name].join(f"{name}.{letter}", [TOPIC], settings | commits)

        def settle(letters: str) -> None:
            def parts() -> dict[str, list[int]]:
                held = java.held() | librdkafka.held()
                return {name: [len(held[f"{name}.{letter}"]) for letter in letters] for name in CASES}

            wait_for(
                "all groups to settle", parts,
                until=lambda seen: all(sum(counts) == PARTITIONS and all(counts) for counts in seen.values()),
            )  # fmt: skip

        producer = RememberingProducer(bootstrap, [TOPIC], records_per_s=RECORDS_PER_S)
        try:
            join("a")
            join("b")
            settle("ab")
            time.sleep(2)
            stalled_ms = now_ms()
            for name, home in homes.items():
                home.stall([f"{name}.b"])
            join("c")
            wait_until_all_rebalance(bootstrap)
            time.sleep(SLOW_S)
            for name, home in homes.items():
                home.resume([f"{name}.b"])
            resumed_ms = now_ms()
            settle("abc")
        finally:
            producer.stop()
        time.sleep(2)
        spans = [*java.read(), *librdkafka.read()]
        librdkafka.leave([f"{name}.{letter}" for name in CASES if homes[name] is librdkafka for letter in "abc"])
    reads = {name: reads_of([span for span in spans if span.member.startswith(f"{name}.")]) for name in CASES}
    longest_ms = resumed_ms - stalled_ms + JOINING_MS + stolen.allowance_ms(stalled_ms, now_ms())
    return Joined(reads, longest_ms)


def test_a_java_member_that_is_cooperative_reads_on_after_its_automatic_commit(joined: Joined) -> None:
    again = joined.reads["java.cooperative"].again
    assert again, "as Kafka 4.3.1 does; if a later client commits as it gives up, the advice is to say so"
    assert all(age_ms is not None and age_ms < joined.longest_ms for _, _, age_ms in again)


@pytest.mark.parametrize("name", [name for name in CASES if name != "java.cooperative"])
def test_others_read_nothing_twice(joined: Joined, name: str) -> None:
    assert len(joined.reads[name].first_ms) > RECORDS_PER_S
    assert joined.reads[name].again == []
