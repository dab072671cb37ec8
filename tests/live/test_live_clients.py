"""Live groups of clients that are not Java: recognised, and what they do after a join or a leave is what was foretold.

    pytest -s -m live tests/live/test_live_clients.py

prints the table. Each group has the default client ids of its library, so that the reading alone says whose it is; the
class that the product then asks (``candidates``) foretells who reads what, from the reading before each event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from aiokafka.coordinator.assignors.range import RangePartitionAssignor as AiokafkaRange
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor as AiokafkaRoundRobin
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor as AiokafkaSticky
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

from kafka_assignors.coordinator.timeline import Partition
from kafka_assignors.java.hash_order import spread
from kafka_assignors.java.strings import hash_codes
from kafka_assignors.releases import Client
from kafka_assignors.string_column import StringColumn
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.groups.member_clients import Sureness, group_client
from kafka_rebalance.groups.strategies import candidates
from kafka_rebalance.snapshot.model import ClusterSnapshot, Group
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.setup import create_topics
from stack.waiting import PATIENCE_S, WaitError, wait_for
from tests.live.group_members import AiokafkaMember, KafkaPythonMember, LibrdkafkaMember, Polling
from tests.live.group_predictions import as_client_answers, group_of, reading_of

pytestmark = [pytest.mark.live, pytest.mark.matrix]
COUNTS = {"orders": 7, "clicks": 4}
SESSION_MS, HEARTBEAT_MS = 6_000, 500
MIXED, TURNED = "mixed", "turned"
STATIC = 1  # the place of the static member of a mixed group
MIXING = (Client.LIBRDKAFKA, Client.KAFKA_PYTHON)
AT_REST_S, STUCK_S = 1.5, 15.0
PYTHON_STRATEGIES: dict[tuple[Client, str], type[Any]] = {
    (Client.KAFKA_PYTHON, "range"): RangePartitionAssignor,
    (Client.KAFKA_PYTHON, "roundrobin"): RoundRobinPartitionAssignor,
    (Client.KAFKA_PYTHON, "sticky"): StickyPartitionAssignor,
    (Client.KAFKA_PYTHON, "cooperative-sticky"): CooperativeStickyAssignor,
    (Client.AIOKAFKA, "range"): AiokafkaRange,
    (Client.AIOKAFKA, "roundrobin"): AiokafkaRoundRobin,
    (Client.AIOKAFKA, "sticky"): AiokafkaSticky,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lane:
    """A group of one client under one strategy, all alike, or with something ``special``."""

    client: Client
    strategy: str
    special: str = ""

    @property
    def group(self) -> str:
        return f"{self.client}.{self.strategy}.{self.special}"

    def member(self, bootstrap: str, place: int) -> Polling:
        """Number ``place`` of its group, with the default client id of its library; it reads all topics."""
        is_static = self.special == MIXED and place == STATIC
        static = {"group_instance_id": f"pod-{self.group}"} if is_static else {}
        if self.client is Client.LIBRDKAFKA:
            return LibrdkafkaMember(
                bootstrap, self.group, COUNTS, partition_assignment_strategy=self.strategy,
                session_timeout_ms=str(SESSION_MS), heartbeat_interval_ms=str(HEARTBEAT_MS), **static,
            )  # fmt: skip
        kind = KafkaPythonMember if self.client is Client.KAFKA_PYTHON else AiokafkaMember
        assignor = PYTHON_STRATEGIES[self.client, self.strategy]
        # aiokafka's sticky keeps what its member has in the class: a class of its own for each, as in a process.
        if self.special == TURNED:
            assignor = _turned(assignor, backwards=place % 2 == 1)
        else:
            assignor = type(assignor.__name__, (assignor,), {})
        return kind(
            bootstrap, self.group, COUNTS, partition_assignment_strategy=[assignor],
            session_timeout_ms=SESSION_MS, heartbeat_interval_ms=HEARTBEAT_MS, **static,
        )  # fmt: skip


def _turned(assignor: type[Any], *, backwards: bool) -> type[Any]:
    """A member's topics are a Python set, which in another process may have another order: here, this one."""

    class Turned(assignor):  # type: ignore[misc]
        @classmethod
        def _metadata(cls, topics: Iterable[str], *owned: Any) -> Any:
            return super()._metadata(sorted(topics, reverse=backwards), *owned)

    return Turned


LANES = (
    *(Lane(Client.LIBRDKAFKA, strategy) for strategy in ("range", "roundrobin", "cooperative-sticky")),
    *(Lane(client, strategy) for client, strategy in PYTHON_STRATEGIES),
    # Who gets what depends on the order of JoinGroup's list; kafka-python 3 leaves members out.
    *(Lane(client, strategy, MIXED) for client in MIXING for strategy in ("range", "roundrobin")),
    # Subscriptions that are equal but for the order of topics are unequal to Python's sticky.
    *(Lane(client, "sticky", TURNED) for client in (Client.KAFKA_PYTHON, Client.AIOKAFKA)),
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one event did to one group; ``as_java``: partitions that Java's newest class would have put elsewhere."""

    lane: Lane
    event: str
    moved: int
    wrong: tuple[str, ...]
    as_java: int


@dataclass(slots=True)
class FollowedClients:
    """All groups; ``living`` and ``joined`` (ids) by group, as they came."""

    cluster: KafkaCluster
    living: dict[str, list[Polling]] = field(default_factory=lambda: {lane.group: [] for lane in LANES})
    joined: dict[str, list[str]] = field(default_factory=lambda: {lane.group: [] for lane in LANES})
    outcomes: list[Outcome] = field(default_factory=list)
    recognised: dict[tuple[str, int], tuple[str, str | None, str, bool | None]] = field(default_factory=dict)
    seen: ClusterSnapshot | None = None

    def join(self) -> None:
        for lane in LANES:
            living = self.living[lane.group]
            living.append(lane.member(self.cluster.bootstrap, len(living)))

    def leave(self, place: int) -> None:
        """The member that came as number ``place`` of each group says goodbye."""
        for members in self.living.values():
            members.pop(place).stop()

    def stop(self) -> None:
        for members in self.living.values():
            while members:
                members.pop().stop()

    def follow(self, event: str, act: Callable[[], None]) -> None:
        """Let ``act`` happen to all groups, wait until they have settled, and compare with what was foretold."""
        before = self.seen
        act()
        after = self.seen = self._settled()
        for lane in LANES:
            new = group_of(after, lane.group)
            ids = [member.id for member in new.members]
            known = [name for name in self.joined[lane.group] if name in ids]
            self.joined[lane.group] = [*known, *(name for name in ids if name not in known)]
            self._recognise(lane, after)
            if before is not None:
                self.outcomes.append(self._compared(lane, event, group_of(before, lane.group), after))

    def _recognise(self, lane: Lane, seen: ClusterSnapshot) -> None:
        (group_input,) = (found for found in group_inputs(seen) if found.group.id == lane.group)
        known, replay = group_client(group_input.group), replay_group(group_input)
        # No reading tells how members of one bin are listed, and kafka-python 3 leaves out by the list.
        is_open = lane.special == MIXED and share_a_bin([member.id for member in group_input.group.members])
        self.recognised[lane.group, len(group_input.group.members)] = (
            str(known.client), group_input.group.protocol, known.sureness, replay.is_reproduced or is_open,
        )  # fmt: skip

    def _compared(self, lane: Lane, event: str, old: Group, after: ClusterSnapshot) -> Outcome:
        new, joined = group_of(after, lane.group), self.joined[lane.group]
        found, had = _readers(new), _readers(old)
        foretold = as_client_answers(old, after, class_of(new, after), joined)
        java = as_client_answers(old, after, lane.strategy, joined)
        wrong = []
        for name, read in reading_of(new).items():
            if read != foretold[name]:
                wrong.append(f"{name}: more {sorted(read - foretold[name])}, less {sorted(foretold[name] - read)}")
        moved = sum(found[partition] != reader for partition, reader in had.items())
        elsewhere = sum(len(read - java[name]) for name, read in reading_of(new).items())
        return Outcome(lane, event, moved, tuple(wrong), elsewhere)

    def _settled(self) -> ClusterSnapshot:
        """A reading that lacks nothing, is like one of a while before, and is what the members believe."""

        def lacking(seen: ClusterSnapshot) -> list[str]:
            return [what for lane in LANES for what in self._lacks(seen, lane)]

        def settled(seconds: float) -> ClusterSnapshot:
            return wait_for(
                "all groups to be at rest", self._read, until=lambda seen: not lacking(seen),
                gist=lambda seen: (lacking(seen), [group.members for group in seen.groups]), unchanged_s=AT_REST_S,
                seconds=seconds, every_s=0.25,
            )  # fmt: skip

        if self.seen is None:
            try:
                return settled(STUCK_S)
            except WaitError:
                self._renew(self._read())
        return settled(PATIENCE_S)

    def _read(self) -> ClusterSnapshot:
        settings = {"bootstrap.servers": self.cluster.bootstrap}
        return read_cluster(settings, cluster_name="clients", now=datetime.now(UTC))

    def _renew(self, seen: ClusterSnapshot) -> None:
        """On a busy machine a first member of kafka-python 3 may get stuck: it is put out and never asks to come back.

        Nothing is foretold of a first join: another member takes its place.
        """
        for lane in LANES:
            if not any(group.id == lane.group and group.members for group in seen.groups):
                (stuck,) = self.living[lane.group]
                stuck.stop()
                self.living[lane.group] = [lane.member(self.cluster.bootstrap, 0)]

    def _lacks(self, seen: ClusterSnapshot, lane: Lane) -> list[str]:
        living = self.living[lane.group]
        failures = [failure for member in living for failure in member.failures]
        assert not failures, (lane, failures)
        group = next((group for group in seen.groups if group.id == lane.group), None)
        if group is None or group.state != "Stable" or len(group.members) != len(living):
            return [f"{lane.group}: {group and (group.state, group.members)}"]
        read = reading_of(group).values()
        everything = sorted((topic, number) for topic, count in COUNTS.items() for number in range(count))
        if sorted(partition for held in read for partition in held) != everything:
            return [f"{lane.group}: {read}"]
        believed = sorted(sorted(member.held) for member in living)
        return [] if believed == sorted(map(sorted, read)) else [f"{lane.group}: members and coordinator disagree"]


def share_a_bin(ids: Iterable[str]) -> bool:
    """Two of them lie in one of the 16 bins of a Java HashMap."""
    strings = list(ids)
    columns = StringColumn.of(strings)
    bins = {int(spread(code)) & 15 for code in hash_codes(columns.data, columns.offsets)}
    return len(bins) < len(strings)


def class_of(group: Group, seen: ClusterSnapshot) -> str:
    """The class that the product asks for what the group runs, by the client that it recognised."""
    possible = candidates(group.type, group.protocol_type, seen.kafka_version, group_client(group))
    return next(candidate.releases[0] for candidate in possible if candidate.name == group.protocol)


def _readers(group: Group) -> dict[Partition, str]:
    return {partition: name for name, read in reading_of(group).items() for partition in read}


def _wake_coordinator(bootstrap: str) -> None:
    """Let a first member come and go: the broker makes its topic of offsets for it."""
    first = LibrdkafkaMember(bootstrap, "first", COUNTS)
    wait_for("a first member to read", lambda: first.held or first.failures)
    first.stop()
    assert first.failures == []


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FollowedClients]:
    """One broker, its topics, and nobody reading yet."""
    with start_cluster(ClusterSpec(racks={1: "a"}), tmp_path_factory.mktemp("clients") / "cluster") as cluster:
        create_topics(cluster.bootstrap, {topic: [[1]] * count for topic, count in COUNTS.items()}, {})
        _wake_coordinator(cluster.bootstrap)
        clients = FollowedClients(cluster)
        try:
            yield clients
        finally:
            clients.stop()


def as_rows(outcomes: list[Outcome]) -> list[str]:
    rows = [
        "| client | strategy | event | moved | differences | elsewhere with Java |",
        "|---|---|---|---|---|---|",
    ]
    return rows + [
        f"| {outcome.lane.client} | {outcome.lane.strategy} {outcome.lane.special} | {outcome.event} | "
        f"{outcome.moved} | {len(outcome.wrong)} | {outcome.as_java} |"
        for outcome in sorted(outcomes, key=lambda outcome: outcome.lane.group)
    ]


def test_clients_are_recognised_and_do_what_was_foretold(
    followed: FollowedClients, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        followed.follow("first", followed.join)
        followed.follow("join of the 2nd", followed.join)
        followed.follow("join of the 3rd", followed.join)
        followed.follow("join of the 4th", followed.join)
        followed.follow("leave of the 1st", lambda: followed.leave(0))
    finally:
        with capsys.disabled():
            print("", *as_rows(followed.outcomes), sep="\n")
    wanted = (Sureness.HIGH, True)  # by what they call themselves and what they write; today is what the class gives
    expected = {
        (lane.group, members): (lane.client, lane.strategy, *wanted) for lane in LANES for members in (1, 2, 3, 4)
    }
    assert {key: found for key, found in followed.recognised.items() if found != expected[key]} == {}
    assert followed.recognised.keys() == expected.keys()
    assert [outcome for outcome in followed.outcomes if outcome.wrong] == []
    assert len(followed.outcomes) == 4 * len(LANES)
    assert followed.seen is not None
    for lane in LANES:
        orders = {member.subscription for member in group_of(followed.seen, lane.group).members}
        assert len(orders) == (2 if lane.special == TURNED else 1)
    # A newcomer that is left out moves nothing.
    assert all(outcome.moved for outcome in followed.outcomes if outcome.lane.special != MIXED)
