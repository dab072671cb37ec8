"""What a member reads between its commit at a rebalance's beginning and giving partitions up, by client and strategy.

A third member joins while one of two polls nothing for a second, so that the other one waits for it. Java's reads on
under ``cooperative-sticky`` and does not commit that: what the advice on a rollover says beside "automatic commits".
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from stack.kafka.cluster import ClusterSpec, start_cluster
from stack.kafka.setup import create_topics
from stack.kafka.traffic import RememberingProducer
from tests.live.java_members import BROKER_TIMES, JavaMembers, member_settings
from tests.live.librdkafka_members import LibrdkafkaMembers
from tests.live.records_read_twice import Reads, reads_of

pytestmark = [pytest.mark.live, pytest.mark.timeout(120)]
TOPIC, PARTITIONS, RECORDS_PER_S, SLOW_S = "numbers", 6, 300, 1.5
_SETTLE_S = 20.0
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


@pytest.fixture(scope="module")
def reads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Reads]]:
    spec = ClusterSpec(racks={1: "a"}, broker_properties=BROKER_TIMES)
    with start_cluster(spec, tmp_path_factory.mktemp("joining") / "cluster") as cluster:
        create_topics(cluster.bootstrap, {TOPIC: [[1]] * PARTITIONS}, {})
        yield read_by_all(cluster.bootstrap)


def read_by_all(bootstrap: str) -> dict[str, Reads]:
    """Members ``a`` and ``b`` of each group; ``c`` comes while ``b`` is slow."""
    with JavaMembers() as java:
        librdkafka = LibrdkafkaMembers()
        homes = {name: librdkafka if name.startswith("librdkafka") else java for name in CASES}

        def join(letter: str) -> None:
            for name, (strategy, commits) in CASES.items():
                settings = member_settings(bootstrap, name, f"{name}.{letter}", [strategy], is_server=False)
                if homes[name] is librdkafka:
                    settings = {key: settings[key] for key in _LIBRDKAFKA_KNOWS}
                    settings |= {"partition.assignment.strategy": strategy}
                homes[name].join(f"{name}.{letter}", [TOPIC], settings | commits)

        def wait_for(letters: str) -> None:
            deadline = time.monotonic() + _SETTLE_S
            while time.monotonic() < deadline:
                held = java.held() | librdkafka.held()
                parts = {name: [len(held[f"{name}.{letter}"]) for letter in letters] for name in CASES}
                if all(sum(counts) == PARTITIONS and all(counts) for counts in parts.values()):
                    return
                time.sleep(0.1)
            raise AssertionError(f"not settled: {parts}")

        producer = RememberingProducer(bootstrap, [TOPIC], records_per_s=RECORDS_PER_S)
        try:
            join("a")
            join("b")
            wait_for("ab")
            time.sleep(2)
            for name, home in homes.items():
                home.stall([f"{name}.b"])
            join("c")
            time.sleep(SLOW_S)
            for name, home in homes.items():
                home.resume([f"{name}.b"])
            wait_for("abc")
        finally:
            producer.stop()
        time.sleep(2)
        spans = [*java.read(), *librdkafka.read()]
        librdkafka.leave([f"{name}.{letter}" for name in CASES if homes[name] is librdkafka for letter in "abc"])
    return {name: reads_of([span for span in spans if span.member.startswith(f"{name}.")]) for name in CASES}


def test_a_java_member_that_is_cooperative_reads_on_after_its_automatic_commit(reads: dict[str, Reads]) -> None:
    again = reads["java.cooperative"].again
    assert again, "as Kafka 4.3.1 does; if a later client commits as it gives up, the advice is to say so"
    assert all(age_ms is not None and age_ms < (SLOW_S + 1.5) * 1000 for _, _, age_ms in again)


@pytest.mark.parametrize("name", [name for name in CASES if name != "java.cooperative"])
def test_others_read_nothing_twice(reads: dict[str, Reads], name: str) -> None:
    assert len(reads[name].first_ms) > RECORDS_PER_S
    assert reads[name].again == []
