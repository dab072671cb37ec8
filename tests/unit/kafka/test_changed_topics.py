from __future__ import annotations

import base64
from types import SimpleNamespace
from uuid import UUID

import numpy as np
from kafka.protocol.admin import DescribeConfigsRequest, DescribeLogDirsRequest, ListPartitionReassignmentsRequest
from kafka.protocol.consumer import ListOffsetsRequest, OffsetFetchRequest
from kafka.protocol.metadata import ApiVersionsRequest, MetadataRequest

from kafka_rebalance.snapshot.model import ClusterSnapshot, CommittedOffset, Group
from rebalance_advisor.kafka.cluster_metadata import ClusterMetadata, SeenBroker, SeenPartition, SeenTopic
from rebalance_advisor.kafka.coverage import Coverage
from rebalance_advisor.kafka.read_cluster import (
    Configs,
    Reading,
    Storage,
    assemble_snapshot,
    note_odd_commits,
    read_again_what_changed,
)
from rebalance_advisor.kafka.request_sender import RequestSender
from tests.sample import for_each
from tests.unit.kafka.canned_cluster import SILENT, Answer, gap_texts

Replicas = tuple[int, ...]


class World:
    """Topics of the brokers: name → (id, replicas of each partition, birth). Sizes and offsets reveal the birth: a
    topic made in world 3 has 3,000 bytes a replica, begins at 30 and ends at 300. ``steps`` change after each
    metadata request, and where ``is_restless`` after each log dirs request; the last one stays.
    """

    def __init__(self, *steps: dict[str, tuple[int, list[Replicas], int]] | None, is_restless: bool = False) -> None:
        self.steps = list(steps)
        self.is_restless = is_restless
        self.brokers = (1, 2)
        self.asked: list[str] = []

    def send(self, requests: dict, seconds: float) -> dict:
        return {key: self._answer(broker, request) for key, (broker, request) in requests.items()}

    def version_of(self, request: type) -> int:
        return 99

    def sender(self) -> RequestSender:
        return RequestSender(self, (1, 2), 60.0, 5.0, clock=lambda: 0.0, sleep=lambda _: None)

    def _answer(self, broker: int, request: object) -> object:
        self.asked.append(type(request).__name__)
        answers = {
            MetadataRequest: self._metadata, DescribeLogDirsRequest: self._log_dirs, ListOffsetsRequest: self._ends,
            OffsetFetchRequest: self._commits,
        }  # fmt: skip
        if isinstance(request, ApiVersionsRequest):
            return TimeoutError("no answer")
        if isinstance(request, ListPartitionReassignmentsRequest):
            return Answer(error_code=0, topics=[])
        if isinstance(request, DescribeConfigsRequest):
            return Answer(results=[])
        return answers[type(request)](broker, request)

    def _move_on(self) -> dict | None:
        if len(self.steps) > 1:
            self.steps.pop(0)
        return self.steps[0]

    def _metadata(self, broker: int, request: object) -> object:
        now = self._move_on()
        if now is None:
            return TimeoutError("no answer")
        wanted = sorted(now) if request.topics is None else [topic.name for topic in request.topics]
        brokers = [Answer(node_id=number, host="h", port=1, rack=None) for number in self.brokers]
        return Answer(topics=[_shown(name, now) for name in wanted], brokers=brokers, error_code=0)

    def _log_dirs(self, broker: int, request: object) -> object:
        now = self._move_on() if self.is_restless and broker == 1 else self.steps[0]
        topics = []
        for wanted in request.topics:
            _, replicas, birth = now.get(wanted.topic, (0, [], 0))
            rows = [
                Answer(partition_index=p, partition_size=birth * 1_000, is_future_key=False)
                for p in wanted.partitions
                if p < len(replicas) and broker in replicas[p]
            ]
            topics.append(Answer(name=wanted.topic, partitions=rows))
        return Answer(error_code=0, results=[Answer(error_code=0, topics=topics)])

    def _ends(self, broker: int, request: object) -> object:
        def row(topic: str, wanted: object) -> object:
            _, replicas, birth = self.steps[0].get(topic, (0, [], 0))
            code = 0 if wanted.partition_index < len(replicas) else 3
            offset = birth * (100 if wanted.timestamp == -1 else 10)
            return Answer(partition_index=wanted.partition_index, error_code=code, offset=offset)

        return Answer(
            topics=[
                Answer(name=topic.name, partitions=[row(topic.name, wanted) for wanted in topic.partitions])
                for topic in request.topics
            ]
        )

    def _commits(self, broker: int, request: object) -> object:
        rows = [
            Answer(name=name, partitions=[Answer(partition_index=0, committed_offset=birth * 50, error_code=0)])
            for name, (_, _, birth) in sorted(self.steps[0].items())
        ]
        return Answer(groups=[Answer(group_id=group.group_id, error_code=0, topics=rows) for group in request.groups])


def _shown(name: str, now: dict) -> SimpleNamespace:
    if name not in now:
        return Answer(name=name, error_code=3, topic_id=None, is_internal=False, partitions=[])
    number, replicas, _ = now[name]
    rows = [
        Answer(
            partition_index=p, leader_id=held[0], replica_nodes=list(held), isr_nodes=list(held), offline_replicas=[]
        )
        for p, held in enumerate(replicas)
    ]
    return Answer(name=name, error_code=0, topic_id=UUID(int=number), is_internal=False, partitions=rows)


def first_reading(world: dict[str, tuple[int, list[Replicas], int]]) -> Reading:
    """Snapshot of the first moment; one group, coordinated by broker 1, has committed to all of it."""
    rows = [
        SeenPartition(name, p, held[0], held, held, ())
        for name, (_, replicas, _) in sorted(world.items()) for p, held in enumerate(replicas)
    ]  # fmt: skip
    birth = {name: born for name, (_, _, born) in world.items()}
    topics = tuple(SeenTopic(name, _id(world[name][0]), False) for name in sorted(world))
    sizes = {
        broker: {(row.topic, row.partition): birth[row.topic] * 1_000 for row in rows if broker in row.replicas}
        for broker in (1, 2)
    }
    commits = tuple(CommittedOffset(name, 0, birth[name] * 50) for name in sorted(world))
    return Reading(
        ClusterMetadata("id", 1, tuple(SeenBroker(b, "h", 1, None) for b in (1, 2)), topics, tuple(rows)),
        Storage(sizes=sizes), Configs(),
        {(row.topic, row.partition): birth[row.topic] * 10 for row in rows},
        {(row.topic, row.partition): birth[row.topic] * 100 for row in rows},
        groups=(Group("g", coordinator=1, committed=commits),),
    )  # fmt: skip


def _id(number: int) -> str:
    """Kafka's form: 22 characters of URL-safe base64."""
    return base64.urlsafe_b64encode(UUID(int=number).bytes).decode().rstrip("=")


def read(first: dict, *later: dict | None, is_restless: bool = False) -> tuple[ClusterSnapshot, list[str], World]:
    world = World(first, *later, is_restless=is_restless)
    coverage = Coverage("c")
    reading = read_again_what_changed(world.sender(), first_reading(first), coverage)
    return assemble_snapshot("c", reading), gap_texts(coverage), world


def figures(snapshot: ClusterSnapshot, topic: str) -> list[tuple]:
    """Replicas, sizes, start, end of each partition."""
    rows = [row for row in snapshot.each_partition() if row.topic == topic]
    return [(row.replicas, row.log_bytes, row.start_offset, row.end_offset) for row in rows]


ONE = {"a": (1, [(1, 2)], 1), "b": (2, [(2, 1)], 1)}
OLD = [((2, 1), (1_000, 1_000), 10, 100)]


def test_where_nothing_changed_one_look_is_enough() -> None:
    snapshot, gaps, world = read(ONE)
    assert (figures(snapshot, "b"), gaps, world.asked) == (OLD, [], ["MetadataRequest"])


def test_a_topic_made_anew_is_the_new_one_in_all_its_figures() -> None:
    """Id, sizes, offsets and commits of birth 3; the other topic keeps those of birth 1."""
    snapshot, gaps, _ = read(ONE, ONE | {"a": (9, [(1, 2)], 3)})
    assert [topic.topic_id for topic in snapshot.topics] == [_id(9), _id(2)]
    assert figures(snapshot, "a") == [((1, 2), (3_000, 3_000), 30, 300)]
    assert figures(snapshot, "b") == OLD
    assert snapshot.groups[0].committed[0] == CommittedOffset("a", 0, 150)
    assert gaps == []


def test_grown_moved_and_made_topics_are_read_again() -> None:
    grown = ONE | {"a": (1, [(1, 2), (2, 1)], 1), "b": (2, [(1, 2)], 1), "c": (3, [(2,)], 2)}
    snapshot, gaps, world = read(ONE, grown)
    assert figures(snapshot, "a") == [((1, 2), (1_000, 1_000), 10, 100), ((2, 1), (1_000, 1_000), 10, 100)]
    assert figures(snapshot, "b") == [((1, 2), (1_000, 1_000), 10, 100)]
    assert figures(snapshot, "c") == [((2,), (2_000,), 20, 200)]
    assert gaps == []
    assert "OffsetFetchRequest" not in world.asked  # no topic was made anew: the commits hold


def test_a_deleted_topic_is_told_and_left_out() -> None:
    snapshot, gaps, _ = read(ONE, {"b": ONE["b"]})
    assert [topic.name for topic in snapshot.topics] == ["b"]
    assert gaps == ["topic a: lacks_everything: deleted_while_read"]
    once_more, gaps, _ = read(ONE, ONE | {"a": (9, [(1, 2)], 3)}, {"b": ONE["b"]})
    assert [topic.name for topic in once_more.topics] == ["b"]
    assert len(gaps) == 1


def test_what_changes_again_is_told_and_has_no_figures() -> None:
    snapshot, gaps, _ = read(ONE, ONE | {"a": (8, [(1, 2)], 3)}, ONE | {"a": (9, [(1, 2)], 4)})
    assert figures(snapshot, "a") == [((1, 2), (None, None), None, None)]
    assert snapshot.topics[0].topic_id == _id(9)
    assert figures(snapshot, "b") == OLD
    assert gaps == ["topic a: lacks_sizes_and_offsets: changed_again"]


def test_brokers_that_came_and_went_meanwhile_are_told_and_were_not_heard() -> None:
    """Broker 2 shut down after its last answer, broker 3 joined and holds a replica already."""
    world = World(ONE, ONE | {"b": (2, [(3, 1)], 1)})
    world.brokers = (1, 3)
    coverage = Coverage("c")
    snapshot = assemble_snapshot("c", read_again_what_changed(world.sender(), first_reading(ONE), coverage))
    assert {seen.id: seen.state.value for seen in snapshot.brokers} == {1: "alive", 2: "disconnected", 3: "silent"}
    assert gap_texts(coverage) == [
        "broker 2: lacks_rest: broker_unheard(state='disconnected', why=broker_left_early, address=None)",
        (
            "broker 3: lacks_parts(parts=[lacks_offsets_of_partitions(partitions=1)]): "
            "broker_unheard(state='silent', why=broker_joined_late, address=None)"
        ),
    ]


def test_where_nobody_tells_the_metadata_again_that_is_told() -> None:
    snapshot, gaps, _ = read(ONE, None)
    assert figures(snapshot, "a") == [((1, 2), (1_000, 1_000), 10, 100)]
    assert gaps == [f"cluster c: lacks_later_changes: not_told_again(why={SILENT})"]
    lost, gaps, _ = read(ONE, ONE | {"a": (9, [(1, 2)], 3)}, None)
    assert figures(lost, "a") == [((1, 2), (None, None), None, None)]
    assert "not_told_again" in gaps[0]


@for_each("seed", range(60))
def test_figures_of_two_moments_never_stand_together(seed: int) -> None:
    """Random worlds one after another: each topic of the snapshot has the figures of the birth that its id has."""
    draw = np.random.default_rng(seed)
    birth = 0

    def changed(world: dict) -> dict:
        nonlocal birth
        birth += 1
        altered = dict(world)
        for name in "abcd":
            kind = int(draw.integers(8))
            if kind == 0:
                altered.pop(name, None)
            elif kind == 1 or (kind == 2 and name not in altered):
                altered[name] = (10 * birth + "abcd".index(name), [(1, 2)], birth)
            elif kind == 2:
                number, replicas, born = altered[name]
                altered[name] = (number, [*replicas, (2, 1)], born)
            elif kind == 3 and name in altered:
                number, replicas, born = altered[name]
                altered[name] = (number, [held[::-1] for held in replicas], born)
        return altered

    worlds = [changed({})]
    for _ in range(int(draw.integers(1, 4))):
        worlds.append(changed(worlds[-1]))
    snapshot, gaps, _ = read(*worlds, is_restless=seed % 2 == 1)
    born = {_id(number): born for world in worlds for number, _, born in world.values()}
    assert {topic.name for topic in snapshot.topics} <= worlds[1].keys()
    for topic in snapshot.topics:
        birth_of = born[topic.topic_id]
        for replicas, sizes, start, end in figures(snapshot, topic.name):
            known = (tuple(birth_of * 1_000 for _ in replicas), birth_of * 10, birth_of * 100)
            nothing = ((None,) * len(replicas), None, None)
            is_told = any(f"topic {topic.name}: " in line for line in gaps)
            assert (sizes, start, end) == known or ((sizes, start, end) == nothing and is_told)


def test_commits_outside_their_partition_are_gaps_of_the_group() -> None:
    commits = (CommittedOffset("a", 0, 101), CommittedOffset("a", 1, 100), CommittedOffset("b", 0, 9),
               CommittedOffset("gone", 0, 5))  # fmt: skip
    coverage = Coverage("c")
    starts, ends = {("a", 0): 0, ("b", 0): 10}, {("a", 0): 100, ("a", 1): 100}
    note_odd_commits([Group("g", committed=commits)], starts, ends, coverage)
    assert gap_texts(coverage) == [
        (
            "group g: lacks_lag(topic='a'): "
            "commits_outside_log(commits=1, is_beyond_end=True, offset=101, partition='a-0', limit=100)"
        ),
        (
            "group g: lacks_lag(topic='b'): "
            "commits_outside_log(commits=1, is_beyond_end=False, offset=9, partition='b-0', limit=10)"
        ),
    ]
