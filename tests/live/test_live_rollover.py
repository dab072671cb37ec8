"""Rollovers of live groups with running readers, as ``groups.rollover`` writes them: no record twice beyond its word.

    pytest -s -m live tests/live/test_live_rollover.py

prints the list. One broker, a producer that numbers its records; five groups read them side by side: Java members from
eager to cooperative, to KIP-848 and back, and to cooperative where members commit now and then or as they give
partitions up; members of librdkafka to KIP-848, back to cooperative, and to KIP-848 again, for which cooperative ones
are stopped.

A record that comes twice although the advice rules that out fails on any machine, and so does one rebalance too many.
How old such a record may be has a limit of milliseconds, which grows by what a busy machine took meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum

import pytest

from kafka_assignors.coordinator.timeline import Partition
from kafka_rebalance.groups.member_clients import group_client
from kafka_rebalance.groups.rollover import Action, Rollover, RolloverStep, rollover
from kafka_rebalance.snapshot.group import Group
from kafka_rebalance.snapshot.model import GroupType
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.kafka.cluster import ClusterSpec, start_cluster
from stack.kafka.setup import create_topics
from stack.kafka.tools import NEWEST
from stack.kafka.traffic import RememberingProducer
from stack.waiting import wait_for
from tests.live.java_members import HEARTBEAT_MS, LONG_SESSION_MS, JavaMembers, Span, broker_times, member_settings
from tests.live.librdkafka_members import LibrdkafkaMembers
from tests.live.records_read_twice import Again, Reads, reads_of
from tests.live.stolen_time import StolenTime

pytestmark = pytest.mark.live
TOPIC, PARTITIONS, LETTERS, STATIC = "numbers", 6, "ABC", "C"
COMMIT_MS, SLACK_MS = 1_000, 400  # commits are asked for between polls, which take up to a tenth of a second
JOINING_MS = HEARTBEAT_MS + 100 + 2 * SLACK_MS  # until the last member has heard of a rebalance and polled
RECORDS_PER_S = 300
_ALSO_OF_LIBRDKAFKA = (
    "bootstrap.servers", "group.id", "auto.offset.reset", "session.timeout.ms", "heartbeat.interval.ms",
)  # fmt: skip
_QUIET_S = 1.2


class Commits(Enum):
    AUTOMATIC = "automatic"  # enable.auto.commit
    WHEN_REVOKED = "when_revoked"  # by the program, before a revocation
    AT_INTERVALS = "at_intervals"  # by the program, not on revocation


@dataclass(slots=True)
class RolledGroup:
    """A group that starts with ``range`` and goes through ``targets``: strategies, and whether coordinators have them.

    ``generations``: steps that bounce, with how often the group rebalanced meanwhile.
    """

    name: str
    targets: tuple[tuple[str, bool], ...]
    commits: tuple[Commits, int]
    bootstrap: str
    members: JavaMembers | LibrdkafkaMembers
    settings: dict[str, str] = field(default_factory=dict)
    bounced: list[tuple[RolloverStep, int]] = field(default_factory=list)
    rollovers: list[Rollover] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return [f"{self.name}.{letter}" for letter in LETTERS]

    @property
    def read_again_ms(self) -> int | None:
        """Records of the last so many ms before a revocation may come twice; None: unknown, as of each change here
        that members with automatic commits make first.
        """
        return None if self.commits[0] is Commits.AUTOMATIC else self.commits[1]

    def start(self) -> None:
        self.settings = member_settings(
            self.bootstrap, self.name, "", ["range"], is_server=False, session_ms=LONG_SESSION_MS
        )
        if isinstance(self.members, LibrdkafkaMembers):
            self.settings = {name: self.settings[name] for name in _ALSO_OF_LIBRDKAFKA}
            self.settings |= {"partition.assignment.strategy": "range"}
        else:
            del self.settings["client.id"]
            self.settings |= {"fetch.max.wait.ms": "100"}
        if self.commits[0] is Commits.AUTOMATIC:
            self.settings["enable.auto.commit"] = "true"
        elif self.commits[0] is Commits.WHEN_REVOKED:
            self.settings["test.commit.when.revoked"] = "true"
        else:
            self.settings["test.commit.interval.ms"] = str(self.commits[1])
        for name in self.names:
            self._join(name)

    def _join(self, name: str) -> None:
        is_static = name.endswith(STATIC) and isinstance(self.members, JavaMembers)
        static = {"group.instance.id": name} if is_static else {}
        self.members.join(name, [TOPIC], self.settings | static)

    def roll(self) -> Iterator[None]:
        """All rollovers, step by step; whoever asks for the next waits until the group has settled."""
        for target, is_server in self.targets:
            group = self.seen()
            result = rollover(group, group_client(group), target, is_server=is_server, kafka_version=NEWEST)
            self.rollovers.append(result)
            for step in result.steps:
                yield from self._do(step)
            group = self.seen()
            assert (group.protocol, group.type is GroupType.CONSUMER) == (target, is_server)

    def seen(self) -> Group:
        """As a snapshot has it, which tells the client by itself."""
        snapshot = read_cluster(
            {"bootstrap.servers": self.bootstrap}, cluster_name="rollover", now=datetime.now(UTC)
        )  # fmt: skip
        return next(group for group in snapshot.groups if group.id == self.name)

    def _do(self, step: RolloverStep) -> Iterator[None]:
        match step.action:
            case Action.SET:
                self.settings[step.setting] = step.value
            case Action.REMOVE:
                self.settings.pop(step.setting, None)
            case Action.BOUNCE:
                before = self.generation()
                for name in self.names:
                    self.members.leave([name])
                    self._join(name)
                    yield
                self.bounced.append((step, self.generation() - before))
            case Action.STOP:
                self.members.leave(self.names)
            case Action.START:
                for name in self.names:
                    self._join(name)
                yield
            case _:
                # The brokers are new, and turn groups over as they come; who is stopped has said goodbye.
                assert step.action is Action.REQUIRE

    def generation(self) -> int:
        generations = self.members.generations()
        return max(generations[name] for name in self.names)

    def state(self) -> tuple[dict[str, tuple[frozenset[Partition], int]], bool]:
        """What each member holds, and its generation; and whether everything is read once, by everybody some."""
        held, generations = self.members.held(), self.members.generations()
        parts = [partition for name in self.names for partition in held[name]]
        is_whole = len(parts) == len(set(parts)) == PARTITIONS and all(held[name] for name in self.names)
        return {name: (held[name], generations[name]) for name in self.names}, is_whole


def settle(groups: Sequence[RolledGroup]) -> None:
    """Until all have everything read, and it has been so for a while."""
    wait_for(
        "all groups to settle", lambda: [group.state() for group in groups],
        until=lambda states: all(is_whole for _, is_whole in states), unchanged_s=_QUIET_S,
    )  # fmt: skip


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    spec = ClusterSpec(racks={1: "a"}, broker_properties=broker_times(LONG_SESSION_MS))
    with start_cluster(spec, tmp_path_factory.mktemp("rollover") / "cluster") as cluster:
        create_topics(cluster.bootstrap, {TOPIC: [[1]] * PARTITIONS}, {})
        yield cluster.bootstrap


def roll_all(groups: Sequence[RolledGroup]) -> None:
    for group in groups:
        group.start()
    settle(groups)
    running = [group.roll() for group in groups]
    while running:
        running = [rolling for rolling in running if next(rolling, "over") is None]
        settle(groups)


def print_all(groups: Sequence[RolledGroup], reads: dict[str, Reads], capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(
            "\n| group | bounce | rebalances at most | seen | records read | again, foretold within ms | again, seen |"
        )
        print("|---|---|---|---|---|---|---|")
        for group in groups:
            result = reads[group.name]
            for number, (step, seen) in enumerate(group.bounced, 1):
                reported = group.read_again_ms
                row = (group.name, number, step.rebalances, seen, len(result.first_ms), reported, len(result.again))
                print(f"| {' | '.join(map(str, row))} |")


def too_old(reads: Reads, most_ms: int | None, stolen: StolenTime) -> Sequence[Again]:
    """Return the records read twice that the advice does not allow; with ``most_ms`` None it allows those of a join.

    On a busy machine a member may be held up between reading and committing: what it lost is allowed besides.
    """
    longest_ms = {None: JOINING_MS, 0: 0}.get(most_ms, (most_ms or 0) + SLACK_MS)

    def is_too_old(partition: Partition, offset: int, age_ms: int | None) -> bool:
        first_ms = reads.first_ms[partition, offset]
        return age_ms is None or age_ms > longest_ms + stolen.allowance_ms(first_ms, first_ms + age_ms)

    return [row for row in reads.again if is_too_old(*row)]


@pytest.mark.parametrize("is_alone", [False, pytest.param(True, marks=pytest.mark.matrix)])
def test_a_rollover_as_written_misses_no_record_and_reads_none_twice_beyond_what_it_says(
    bootstrap: str, capsys: pytest.CaptureFixture[str], is_alone: bool
) -> None:
    """Records read twice are judged where nothing else runs: beside other work, members of Java commit too late."""
    automatic, now_and_then = (Commits.AUTOMATIC, 0), (Commits.AT_INTERVALS, COMMIT_MS)
    with JavaMembers() as jvm, StolenTime() as stolen:
        librdkafka = LibrdkafkaMembers()
        groups = [
            RolledGroup(
                "to.cooperative", (("cooperative-sticky", False), ("uniform", True)), automatic, bootstrap, jvm
            ),
            RolledGroup("to.consumer.and.back", (("uniform", True), ("range", False)), automatic, bootstrap, jvm),
            RolledGroup(
                "when.revoked",
                (("cooperative-sticky", False), ("uniform", True)),
                (Commits.WHEN_REVOKED, 0),
                bootstrap,
                jvm,
            ),
            RolledGroup("now.and.then", (("cooperative-sticky", False),), now_and_then, bootstrap, jvm),
            RolledGroup(
                "librdkafka",
                (("uniform", True), ("cooperative-sticky", False), ("uniform", True)),
                automatic,
                bootstrap,
                librdkafka,
            ),
        ]
        producer = RememberingProducer(bootstrap, [TOPIC], records_per_s=RECORDS_PER_S)
        try:
            roll_all(groups)
        finally:
            producer.stop()
        assert producer.failures == []
        written = {((topic, partition), offset) for topic, partition, offset in producer.acknowledged}
        assert len(written) > 10 * RECORDS_PER_S / 2
        spans: list[Span] = []

        def reads_so_far() -> dict[str, Reads]:
            spans.extend([*jvm.read(), *librdkafka.read()])
            return {
                group.name: reads_of([row for row in sorted(spans) if row.member.startswith(group.name)])
                for group in groups
            }

        def missed(reads: dict[str, Reads]) -> dict[str, int]:
            return {name: len(written - row.first_ms.keys()) for name, row in reads.items()}

        reads = wait_for(
            "every group to read every record", reads_so_far, gist=missed, every_s=1,
            until=lambda reads: not any(missed(reads).values()),
        )  # fmt: skip
        librdkafka.leave(groups[-1].names)
    print_all(groups, reads, capsys)
    for group in groups:
        result = reads[group.name]
        for rolled in group.rollovers:
            assert rolled.steps
            assert rolled.obstacle is None
        assert not is_alone or too_old(result, group.read_again_ms, stolen) == []
        assert [(step, seen) for step, seen in group.bounced if seen > (step.rebalances or 0)] == []
    assert reads["now.and.then"].again, "without commits when partitions are given up some records come twice"
