"""Live groups of every kind that is replayed: recognised, and what each join or leave does is what was foretold.

    pytest -s -m live tests/live/test_live_clients.py

prints the table: of a few kinds three changes, by hand of all kinds twelve (``-k all``), of twelve groups of each of
the few three (``-k many``), of kafka-go (``-k kafka-go``, with Go) thirteen. Streams and Connect have tests of their
own. Each group has the default client ids of its library, so that the reading alone says whose it is; the class that
the product then asks (``candidates``) foretells who reads what, from the reading before each event.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
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
from kafka_assignors.java.keys import uuid_columns, uuid_hash_codes
from kafka_assignors.java.strings import hash_codes
from kafka_assignors.releases import Client
from kafka_assignors.string_column import StringColumn
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.groups.member_clients import Sureness, group_client
from kafka_rebalance.groups.motion import motion_of
from kafka_rebalance.groups.strategies import candidates
from kafka_rebalance.snapshot.group import RACK_AFFINITY
from kafka_rebalance.snapshot.model import ClusterSnapshot, Group, GroupType
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.setup import create_topics
from stack.waiting import PATIENCE_S, wait_for
from tests.live.go_programs import built_go
from tests.live.group_members import AiokafkaMember, KafkaGoMember, KafkaPythonMember, LibrdkafkaMember, Polling
from tests.live.group_predictions import as_client_answers, group_of, reading_of
from tests.live.java_members import CLIENT_CLASSES, LONG_SESSION_MS, JavaMembers, broker_times, member_settings

pytestmark = pytest.mark.live
COUNTS = {"orders": 7, "clicks": 4}
RACKS = ("a", "b", "c")
HEARTBEAT_MS = 500
SHORT_SESSION_MS = 6_000  # of groups whose static member leaves by the end of its session alone
MIXED, TURNED, KIP_848, SHARE = "mixed", "turned", "KIP-848", "share"
STATIC = 1  # the place of the static member of a mixed group
MIXING = (Client.LIBRDKAFKA, Client.KAFKA_PYTHON)
AT_REST_S = 1.5
FEWEST, MOST = 2, 5  # members of a group, once it has changed
TIMES = broker_times(LONG_SESSION_MS) | {
    "group.share.min.heartbeat.interval.ms": str(HEARTBEAT_MS), "group.share.heartbeat.interval.ms": str(HEARTBEAT_MS),
}  # fmt: skip
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
    """A group of one client under one strategy, all alike, or with something ``special``.

    What a coordinator assigns does not depend on the client.
    """

    client: Client
    strategy: str
    special: str = ""
    number: int = 0  # of several groups alike

    @property
    def group(self) -> str:
        return f"{self.client}.{self.strategy}.{self.special}{self.number or ''}"

    def member(self, bootstrap: str, jvm: JavaMembers, index: int) -> Polling | JavaMember:
        """Number ``place`` of its group, with the default client id of its library; it reads all topics."""
        if self.client is Client.JAVA:
            settings = {"bootstrap.servers": bootstrap, "group.id": self.group, "test.is.share": "true"}
            if self.special != SHARE:
                settings = member_settings(
                    bootstrap, self.group, "", [self.strategy], is_server=False, session_ms=LONG_SESSION_MS
                )
                del settings["client.id"]
            return JavaMember(jvm, f"{self.group} {index}", settings)
        if self.client is Client.KAFKA_GO:
            rack = RACKS[index % len(RACKS)]
            return KafkaGoMember(built_go() / "member", bootstrap, self.group, COUNTS, self.strategy, rack)
        session_ms = SHORT_SESSION_MS if self.special == MIXED else LONG_SESSION_MS
        is_static = self.special == MIXED and index == STATIC
        static = {"group_instance_id": f"pod-{self.group}"} if is_static else {}
        if self.special == KIP_848:
            return LibrdkafkaMember(
                bootstrap, self.group, COUNTS, group_protocol="consumer", group_remote_assignor=self.strategy
            )
        if self.client is Client.LIBRDKAFKA:
            return LibrdkafkaMember(
                bootstrap, self.group, COUNTS, partition_assignment_strategy=self.strategy,
                session_timeout_ms=str(session_ms), heartbeat_interval_ms=str(HEARTBEAT_MS), **static,
            )  # fmt: skip
        kind = KafkaPythonMember if self.client is Client.KAFKA_PYTHON else AiokafkaMember
        assignor = PYTHON_STRATEGIES[self.client, self.strategy]
        # aiokafka's sticky keeps what its member has in the class: a class of its own for each, as in a process.
        if self.special == TURNED:
            assignor = _turned(assignor, backwards=index % 2 == 1)
        else:
            assignor = type(assignor.__name__, (assignor,), {})
        return kind(
            bootstrap, self.group, COUNTS, partition_assignment_strategy=[assignor],
            session_timeout_ms=session_ms, heartbeat_interval_ms=HEARTBEAT_MS, **static,
        )  # fmt: skip


class JavaMember:
    """One of the JVM's; of a share group it does not say what it holds."""

    def __init__(self, jvm: JavaMembers, name: str, settings: dict[str, str]) -> None:
        self._jvm, self._name = jvm, name
        self.failures: list[BaseException] = []  # the JVM raises
        jvm.join(name, list(COUNTS), settings)

    @property
    def held(self) -> frozenset[Partition]:
        return self._jvm.held()[self._name]

    def stop(self) -> None:
        self._jvm.leave([self._name])


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
    *(Lane(Client.JAVA, strategy) for strategy in CLIENT_CLASSES),
    *(Lane(Client.LIBRDKAFKA, strategy, KIP_848) for strategy in ("uniform", "range")),
    Lane(Client.JAVA, "simple", SHARE),
)
GO_LANES = tuple(Lane(Client.KAFKA_GO, strategy) for strategy in ("range", "roundrobin", RACK_AFFINITY))
SAMPLE = (
    Lane(Client.JAVA, "cooperative-sticky"), Lane(Client.LIBRDKAFKA, "range"), Lane(Client.KAFKA_PYTHON, "sticky"),
    Lane(Client.LIBRDKAFKA, "uniform", KIP_848), Lane(Client.JAVA, "simple", SHARE),
)  # fmt: skip
# Members' ids are random: of so many joins, some are of members that share a bin of a HashMap.
MANY = tuple(replace(lane, number=number) for lane in SAMPLE for number in range(12))


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
    jvm: JavaMembers
    lanes: Sequence[Lane]
    changes: int
    living: dict[str, list[Polling | JavaMember]] = field(default_factory=lambda: defaultdict(list))
    joined: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    started: int = 0
    outcomes: list[Outcome] = field(default_factory=list)
    recognised: dict[tuple[str, int], tuple[str, str | None, str, bool | None]] = field(default_factory=dict)
    orders: dict[str, int] = field(default_factory=lambda: defaultdict(int))  # of topics, that members of a group list
    seen: ClusterSnapshot | None = None

    def join(self) -> None:
        for lane in self.lanes:
            self.living[lane.group].append(lane.member(self.cluster.bootstrap, self.jvm, self.started))
        self.started += 1

    def leave(self, index: int) -> None:
        """The member that came as number ``place`` of each group says goodbye."""
        for members in self.living.values():
            members.pop(index).stop()

    def stop(self) -> None:
        for members in self.living.values():
            while members:
                members.pop().stop()

    def follow(self, event: str, act: Callable[[], None]) -> None:
        """Let ``act`` happen to all groups, wait until they have settled, and compare with what was foretold."""
        before = self.seen
        act()
        after = self.seen = self._settled()
        assert not after.coverage, after.coverage
        for lane in self.lanes:
            new = group_of(after, lane.group)
            ids = [member.id for member in new.members]
            known = [name for name in self.joined[lane.group] if name in ids]
            self.joined[lane.group] = [*known, *(name for name in ids if name not in known)]
            orders = len({member.subscription for member in new.members})
            self.orders[lane.group] = max(orders, self.orders[lane.group])
            if new.type is not GroupType.SHARE:
                self._recognise(lane, after)
            if before is not None:
                self.outcomes.append(self._compared(lane, event, group_of(before, lane.group), after))

    def _recognise(self, lane: Lane, seen: ClusterSnapshot) -> None:
        (group_input,) = (result for result in group_inputs(seen) if result.group.id == lane.group)
        known, replay = group_client(group_input.group), replay_group(group_input)
        # No reading tells how members of one bin are listed: kafka-python 3 leaves out by it, rack affinity deals.
        is_listed = lane.special == MIXED or lane.strategy == RACK_AFFINITY
        is_open = is_listed and share_a_bin([member.id for member in group_input.group.members])
        self.recognised[lane.group, len(group_input.group.members)] = (
            str(known.client), group_input.group.protocol, known.sureness, replay.is_reproduced or is_open,
        )  # fmt: skip

    def _compared(self, lane: Lane, event: str, old: Group, after: ClusterSnapshot) -> Outcome:
        new, joined = group_of(after, lane.group), self.joined[lane.group]
        result, had = _readers(new), _readers(old)
        foretold = as_client_answers(old, after, class_of(new, after), joined)
        has_java = new.type is GroupType.CLASSIC and lane.strategy in CLIENT_CLASSES
        java = as_client_answers(old, after, lane.strategy, joined) if has_java else foretold
        wrong = []
        for name, read in reading_of(new).items():
            if read != foretold[name]:
                wrong.append(f"{name}: more {sorted(read - foretold[name])}, less {sorted(foretold[name] - read)}")
        moved = sum(len(result[partition] - readers) for partition, readers in had.items())
        elsewhere = sum(len(read - java[name]) for name, read in reading_of(new).items())
        return Outcome(lane, event, moved, tuple(wrong), elsewhere)

    def _settled(self) -> ClusterSnapshot:
        """A reading that lacks nothing, is like one of a while before, and is what the members believe."""

        def lacking(seen: ClusterSnapshot) -> list[str]:
            return [what for lane in self.lanes for what in self._lacks(seen, lane)]

        return wait_for(
            "all groups to be at rest", self._read, until=lambda seen: not lacking(seen),
            gist=lambda seen: (lacking(seen), [group.members for group in seen.groups]), unchanged_s=AT_REST_S,
            seconds=PATIENCE_S, every_s=0.25,
        )  # fmt: skip

    def _read(self) -> ClusterSnapshot:
        settings = {"bootstrap.servers": self.cluster.bootstrap}
        return read_cluster(settings, cluster_name="clients", now=datetime.now(UTC))

    def _lacks(self, seen: ClusterSnapshot, lane: Lane) -> list[str]:
        living = self.living[lane.group]
        failures = [failure for member in living for failure in member.failures]
        assert not failures, (lane, failures)
        group = next((group for group in seen.groups if group.id == lane.group), None)
        if group is None or group.state != "Stable" or len(group.members) != len(living):
            return [f"{lane.group}: {group and (group.state, group.members)}"]
        read = reading_of(group).values()
        everything = sorted((topic, number) for topic, count in COUNTS.items() for number in range(count))
        if group.type is GroupType.SHARE:  # which reads a partition once the broker has initialised it
            epochs = {group.generation, group.assignment_epoch, *(member.generation for member in group.members)}
            is_every = sorted(set().union(*read)) == everything
            return [] if len(epochs) == 1 and is_every else [f"{lane.group}: {epochs}, {read}"]
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


def sorted_by_hash(count: int) -> list[str]:
    """Sorted names of topics, which a Java HashSet walks in this order."""
    names = []
    for number in range(count):
        wanted = min(number, 15)
        columns = StringColumn.of(f"bin-{number:02}-{suffix}" for suffix in range(1_000))
        bins = [int(spread(code)) & 15 for code in hash_codes(columns.data, columns.offsets)]
        names.append(f"bin-{number:02}-{bins.index(wanted)}")
    return names


def topics_in_one_bin(seen: ClusterSnapshot) -> list[tuple[str, str]]:
    """Neighbours, by name, whose ids lie in one of 16 bins."""
    ids = [(topic.name, topic.topic_id) for topic in sorted(seen.topics, key=lambda topic: topic.name)]
    bins: dict[int, list[str]] = defaultdict(list)
    for (name, topic_id), code in zip(ids, uuid_hash_codes(*uuid_columns(str(text) for _, text in ids)), strict=True):
        if name.startswith("bin-") and topic_id:
            bins[int(spread(code)) & 15].append(name)
    return [pair for names in bins.values() for pair in pairwise(names)]


def class_of(group: Group, seen: ClusterSnapshot) -> str:
    """The class that the product asks for what the group runs, by the client that it recognised.

    It asks none of a share group.
    """
    if group.type is GroupType.SHARE:
        return f"share-{group.protocol}"
    possible = candidates(group.type, group.protocol_type, seen.kafka_version, group_client(group), group.protocol)
    return next(candidate.releases[0] for candidate in possible if candidate.name == group.protocol)


def _readers(group: Group) -> dict[Partition, set[str]]:
    readers: dict[Partition, set[str]] = defaultdict(set)
    for name, read in reading_of(group).items():
        for partition in read:
            readers[partition].add(name)
    return readers


def _wake_coordinator(bootstrap: str) -> None:
    """Let a first member come and go: the broker makes its topic of offsets for it."""
    first = LibrdkafkaMember(bootstrap, "first", COUNTS)
    wait_for("a first member to read", lambda: first.held or first.failures)
    first.stop()
    assert first.failures == []


def test_what_a_member_keeps_follows_the_maps_of_the_coordinator(followed: FollowedClients) -> None:
    """Where ids of topics share a bin, or numbers of partitions do, the order in which they came decides.

    Of 17 topics two lie in one of 16 bins; the first to come is the last of its bin. 12 of 36 partitions have 16 bins
    in a set that grew, 32 in a copied one.
    """
    bootstrap = followed.cluster.bootstrap
    create_topics(bootstrap, dict.fromkeys(sorted_by_hash(17), [[1]] * 4) | {"wide": [[1]] * 36}, {})
    pairs = topics_in_one_bin(followed._read())
    assert pairs
    groups = {f"shared {first}": ((first, second), 1) for first, second in pairs} | {"wide": (("wide",), 3)}
    living: list[LibrdkafkaMember] = []

    def joined(group: str) -> None:
        settings = {"group_protocol": "consumer", "group_remote_assignor": "uniform"}
        living.append(LibrdkafkaMember(bootstrap, group, groups[group][0], **settings))

    def settled(more: int) -> ClusterSnapshot:
        def lacking(seen: ClusterSnapshot) -> list[str]:
            assert [failure for member in living for failure in member.failures] == []
            at_rest = {group.id for group in seen.groups if motion_of(group) is None}
            sizes = {group.id: len(group.members) for group in seen.groups if group.id in at_rest}
            return [name for name, (_, members) in groups.items() if sizes.get(name) != members + more]

        return wait_for(
            "all members to have what they shall have", followed._read, until=lambda seen: not lacking(seen),
            gist=lambda seen: (lacking(seen), [group.members for group in seen.groups]), unchanged_s=AT_REST_S,
            seconds=PATIENCE_S, every_s=0.25,
        )  # fmt: skip

    try:
        for group, (_, members) in groups.items():
            for _ in range(members):
                joined(group)
        before = settled(0)
        for group in groups:
            joined(group)
        after = settled(1)
    finally:
        for member in living:
            member.stop()
    for group in groups:
        old, new = group_of(before, group), group_of(after, group)
        ids = [member.id for member in (*old.members, *new.members)]
        assert reading_of(new) == as_client_answers(old, after, class_of(new, after), list(dict.fromkeys(ids))), group


KINDS = [
    pytest.param((SAMPLE, 3, 1), id="sample"),
    pytest.param((LANES, 12, 1), id="all", marks=pytest.mark.matrix),
    pytest.param((MANY, 3, 1), id="many", marks=pytest.mark.matrix),
    pytest.param((GO_LANES, 13, 2), id="kafka-go", marks=pytest.mark.matrix),
]


@pytest.fixture(scope="module", params=KINDS)
def followed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FollowedClients]:
    """Brokers, their topics, and nobody reading yet."""
    *_, brokers = request.param
    spec = ClusterSpec(racks=dict(enumerate(RACKS[:brokers], 1)), broker_properties=TIMES)
    with start_cluster(spec, tmp_path_factory.mktemp("clients") / "cluster") as cluster, JavaMembers() as jvm:
        # A topic's leaders are in one rack: of more racks, rack affinity would take them in a random order.
        placement = {topic: [[min(i, brokers)]] * count for i, (topic, count) in enumerate(COUNTS.items(), 1)}
        create_topics(cluster.bootstrap, placement, {})
        _wake_coordinator(cluster.bootstrap)
        clients = FollowedClients(cluster, jvm, *request.param[:2])
        try:
            yield clients
        finally:
            clients.stop()


def joins(changes: int) -> list[bool]:
    """Which changes are joins: three, or two where there are not more, a leave, then as lots fall."""
    lots, members = random.Random(2), 1
    chosen: list[bool] = []
    for number in range(changes):
        is_join = members <= FEWEST or (members < MOST and lots.random() < 0.5)
        if number < 4:
            is_join = number < min(3, changes - 1)
        chosen.append(is_join)
        members += 1 if is_join else -1
    return chosen


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
    lots, sizes = random.Random(1), {1}
    try:
        followed.follow("first", followed.join)
        members = 1
        for number, is_join in enumerate(joins(followed.changes)):
            index = lots.randrange(members)
            followed.follow(
                f"{number + 1}: {'join' if is_join else 'leave'}",
                followed.join if is_join else lambda: followed.leave(index),  # noqa: B023
            )
            members += 1 if is_join else -1
            sizes.add(members)
    finally:
        with capsys.disabled():
            print("", *as_rows(followed.outcomes), sep="\n")
    # By what they call themselves and what they write, or by a strategy that only they have; the class gives today's.
    sure = {RACK_AFFINITY: Sureness.CERTAIN}
    expected = {
        (lane.group, members): (lane.client, lane.strategy, sure.get(lane.strategy, Sureness.HIGH), True)
        for lane in followed.lanes
        if lane.special != SHARE
        for members in sizes
    }
    assert {key: result for key, result in followed.recognised.items() if result != expected[key]} == {}
    assert followed.recognised.keys() == expected.keys()
    assert [outcome for outcome in followed.outcomes if outcome.wrong] == []
    assert len(followed.outcomes) == followed.changes * len(followed.lanes)
    for lane in followed.lanes:
        assert followed.orders[lane.group] == (2 if lane.special == TURNED else 1)
        assert any(outcome.moved for outcome in followed.outcomes if outcome.lane == lane)
