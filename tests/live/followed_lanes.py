"""Groups under every strategy side by side on one cluster: one event befalls all, and each is compared with what was
predicted for it.

A *lane* is one group with its strategy and its own topics; members are named LANE.LETTER, their client id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kafka_assignors.coordinator.timeline import Partition
from kafka_rebalance.snapshot.model import ClusterSnapshot, Group
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.kafka.cluster import KafkaCluster
from stack.waiting import wait_for
from tests.live.group_predictions import Prediction, after_rebalance, group_of, reading_of, without_rebalance
from tests.live.java_members import JavaMembers, member_settings

COUNTS = {"orders": 7, "clicks": 5, "payments": 4}
RACKS = {1: "a", 2: "b", 3: "c"}
STATIC = "S"
AT_REST_S = 1.5  # no change between two readings so far apart


@dataclass(frozen=True, slots=True)
class Lane:
    """One group: ``strategy`` as its members are first configured."""

    strategy: str
    is_server: bool = False
    has_racks: bool = False

    @property
    def name(self) -> str:
        side = "server-" if self.is_server else ""
        return f"{side}{self.strategy}{'-racks' if self.has_racks else ''}"

    def topic(self, kind: str) -> str:
        return f"{kind}.{self.name}"

    @property
    def placement(self) -> dict[str, list[list[int]]]:
        """Two replicas a partition, in two of three racks."""
        return {
            self.topic(kind): [[1 + (i + k) % 3, 1 + (i + k + 1 + i % 2) % 3] for i in range(count)]
            for k, (kind, count) in enumerate(COUNTS.items())
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one event did to one lane; ``moved`` of ``partitions`` have another reader, ``wrong`` not the predicted."""

    lane: str
    scenario: str
    members: int
    partitions: int
    moved: int
    wrong: tuple[str, ...]


@dataclass(slots=True)
class FollowedLanes:
    """All lanes and what is known of them; ``listed``: client id → the strategies it lists."""

    cluster: KafkaCluster
    lanes: Sequence[Lane]
    outcomes: list[Outcome] = field(default_factory=list)
    listed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    _homes: dict[str, JavaMembers] = field(default_factory=dict)
    _topics: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _seen: ClusterSnapshot | None = None

    def join(
        self, jvm: JavaMembers, lanes: Iterable[Lane], letter: str, *, kinds: Iterable[str] = COUNTS,
        strategies: Sequence[str] | None = None,
    ) -> None:  # fmt: skip
        """One member more in each of ``lanes``; it reads the topics of ``kinds``."""
        for lane in lanes:
            name = f"{lane.name}.{letter}"
            self.listed[name] = tuple(strategies or (lane.strategy,))
            self._homes[name], self._topics[name] = jvm, tuple(lane.topic(kind) for kind in kinds)
            settings = member_settings(
                self.cluster.bootstrap, lane.name, name, self.listed[name], is_server=lane.is_server,
                rack=RACKS[1 + ord(letter) % 3] if lane.has_racks else None, is_static=letter == STATIC,
            )  # fmt: skip
            jvm.join(name, self._topics[name], settings)

    def leave(self, jvm: JavaMembers, lanes: Iterable[Lane], letter: str) -> None:
        """Close a member of each of ``lanes``."""
        jvm.leave(self.forget(lanes, letter))

    def forget(self, lanes: Iterable[Lane], letter: str) -> list[str]:
        """They are not expected any longer; their names."""
        names = [f"{lane.name}.{letter}" for lane in lanes]
        for name in names:
            del self._homes[name], self._topics[name], self.listed[name]
        return names

    def start(self, act: Callable[[], None]) -> None:
        """Do something of which nothing is predicted."""
        act()
        self._seen = self._settle({})

    def follow(
        self, scenario: str, act: Callable[[], None], lanes: Iterable[Lane] | None = None, *,
        is_rebalanced: bool = True, gone: str | None = None,
    ) -> None:  # fmt: skip
        """Let ``act`` happen to ``lanes`` (all), wait until they have settled, and compare with the prediction.

        ``gone``: letter of a member whose present id must vanish first.
        """
        before, lanes = self._seen, tuple(lanes or self.lanes)
        assert before is not None
        leaving = {
            lane.name: member.id
            for lane in lanes
            for member in group_of(before, lane.name).members
            if member.client_id == f"{lane.name}.{gone}"
        }
        act()
        after = self._seen = self._settle(leaving)
        for lane in lanes:
            old, new = group_of(before, lane.name), group_of(after, lane.name)
            predicted = after_rebalance(old, after, self.listed) if is_rebalanced else [without_rebalance(old, new)]
            possible = [_outcome(scenario, old, new, prediction) for prediction in predicted]
            self.outcomes.append(min(possible, key=lambda outcome: len(outcome.wrong)))

    def strategy(self, lane: Lane) -> str | None:
        """What its group uses now, as read."""
        assert self._seen is not None
        return group_of(self._seen, lane.name).protocol

    def _settle(self, leaving: dict[str, str]) -> ClusterSnapshot:
        """A reading that lacks nothing and is like one of a while before."""

        def lacking(seen: ClusterSnapshot) -> list[str]:
            missing = [what for lane in self.lanes for what in self._lacks(seen, lane, leaving)]
            believed = {name: held for jvm in set(self._homes.values()) for name, held in jvm.held().items()}
            known = {
                member.client_id: held
                for group in seen.groups
                for member, held in zip(group.members, reading_of(group).values(), strict=True)
            }
            return missing or ["members and coordinator disagree"] * (believed != known)

        return wait_for(
            "all groups to be at rest", self._read, until=lambda seen: not lacking(seen),
            gist=lambda seen: (lacking(seen), [group.members for group in seen.groups]), unchanged_s=AT_REST_S,
            every_s=0.25,
        )  # fmt: skip

    def _read(self) -> ClusterSnapshot:
        return read_cluster(
            {"bootstrap.servers": self.cluster.bootstrap}, cluster_name="scenarios", now=datetime.now(UTC)
        )

    def _lacks(self, seen: ClusterSnapshot, lane: Lane, leaving: dict[str, str]) -> list[str]:
        """What is still to come: members, partitions of theirs, the coordinator's aim."""
        group = next((group for group in seen.groups if group.id == lane.name), None)
        if group is None or group.state != "Stable":
            return [f"{lane.name}: {group and group.state}"]
        expected = {name for name in self._homes if name.rpartition(".")[0] == lane.name}
        if {member.client_id for member in group.members} != expected or len(group.members) != len(expected):
            return [f"{lane.name}: {[member.client_id for member in group.members]}, not {sorted(expected)}"]
        if leaving.get(lane.name) in {member.id for member in group.members}:
            return [f"{lane.name}: {leaving[lane.name]} is still there"]
        read = sorted(partition for held in reading_of(group).values() for partition in held)
        wanted = {topic for name in expected for topic in self._topics[name]}
        everything = sorted((topic, number) for topic in wanted for number in range(self.counts[topic]))
        is_going = any(member.target not in (None, member.assigned) for member in group.members)
        return [f"{lane.name}: {len(read)} of {len(everything)}"] if read != everything or is_going else []


def _outcome(scenario: str, old: Group, new: Group, predicted: Prediction) -> Outcome:
    result, had = _readers(new), _readers(old)
    wrong = [f"strategy {new.protocol}, not {predicted.strategies}"] * (new.protocol not in predicted.strategies)
    for member in new.members:
        got, wanted = reading_of(new)[member.id], predicted.reading[member.id]
        if got != wanted:
            wrong.append(f"{member.client_id}: more {sorted(got - wanted)}, less {sorted(wanted - got)}")
    moved = sum(result[partition] != reader for partition, reader in had.items() if partition in result)
    return Outcome(new.id, scenario, len(new.members), len(result), moved, tuple(wrong))


def _readers(group: Group) -> dict[Partition, str | None]:
    """By client id: that of a restarted member stays."""
    return {partition: member.client_id for member in group.members for partition in reading_of(group)[member.id]}
