"""Groups of every type in one cluster: members, assignments, offsets and lag are those that Kafka's tools print.

Classic groups of four client libraries (Java, librdkafka, kafka-python, aiokafka), a KIP-848 group, one that migrates
(members of both protocols), a share group and a streams group.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest

from kafka_assignors.releases import Client
from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.member_clients import group_client
from kafka_rebalance.groups.streams_tasks import replay_streams_group
from kafka_rebalance.groups.subscriptions import decode_user_data
from kafka_rebalance.snapshot.group import TaskIds
from kafka_rebalance.snapshot.model import ClusterSnapshot, Group, GroupType
from rebalance_advisor.kafka.read_cluster import read_cluster
from stack.kafka.cluster import ClusterSpec, KafkaCluster, start_cluster
from stack.kafka.setup import create_topics, fill
from stack.kafka.tools import NEWEST, KafkaTools, minor_of
from stack.waiting import wait_for
from tests.live.group_members import AiokafkaMember, KafkaPythonMember, LibrdkafkaMember, StreamsMember

pytestmark = pytest.mark.live
PLACEMENT = {"orders": [[1, 2], [2, 1], [1, 2], [2, 1]], "clicks": [[2, 1], [1, 2]]}
RECORDS = {"orders": 400, "clicks": 100}
PARTITIONS_READ = {"aiokafka": 6, "librdkafka": 6}  # all others 4
LATER = 60  # records of orders that nobody of the share group reads

# Streams groups tell their strategy since 4.4.
STREAMS_STRATEGY = "sticky" if minor_of(NEWEST) >= (4, 4) else None
# Group → its type, its strategy, how many members, the client ids of those that name a rack and which.
GROUPS = {
    "aiokafka": (GroupType.CLASSIC, "roundrobin", 2, {}),
    "java": (GroupType.CLASSIC, "range", 1, {"console-consumer": "a"}),
    "kafka-python": (GroupType.CLASSIC, "range", 2, {}),
    "librdkafka": (GroupType.CLASSIC, "cooperative-sticky", 2, {"rd-0": "a"}),
    "migrating": (GroupType.CONSUMER, "uniform", 2, {}),
    "modern": (GroupType.CONSUMER, "uniform", 2, {"new-0": "b"}),
    "sharers": (GroupType.SHARE, "simple", 1, {}),
    "flow": (GroupType.STREAMS, STREAMS_STRATEGY, 2, {"p-0": "a", "p-1": "b"}),
}


@dataclass(frozen=True)
class Compared:
    """One reading of a cluster at rest, and what the tools printed of it; ``later``: the share group left behind."""

    snapshot: ClusterSnapshot
    printed: dict[str, list[dict[str, str]]]
    later: ClusterSnapshot
    later_printed: list[dict[str, str]]

    def groups(self, *kinds: GroupType) -> list[Group]:
        return [group for group in self.snapshot.groups if group.type in kinds]


def read(cluster: KafkaCluster) -> ClusterSnapshot:
    return read_cluster({"bootstrap.servers": cluster.bootstrap}, cluster_name="types", now=datetime.now(UTC))


def table(text: str) -> list[dict[str, str]]:
    """Rows by the names of the header above them; the last column may hold blanks."""
    rows, header = [], []
    for line in text.splitlines():
        if line.strip().startswith("GROUP "):
            header = line.split()
        elif line.strip():
            rows.append(dict(zip(header, (cell.strip() for cell in line.split(None, len(header) - 1)), strict=False)))
    return rows


def tool(tools: KafkaTools, name: str, *arguments: str) -> list[dict[str, str]]:
    return table(tools.run(f"org.apache.kafka.tools.{name}", "--describe", "--all-groups", *arguments))


CONSUMERS, SHARERS, STREAMS = (
    "consumer.group.ConsumerGroupCommand", "consumer.group.ShareGroupCommand", "streams.StreamsGroupCommand",
)  # fmt: skip
QUESTIONS = {
    "consumer members": (CONSUMERS, "--members", "--verbose"),
    "consumer offsets": (CONSUMERS,),
    "share members": (SHARERS, "--members", "--verbose"),
    "streams members": (STREAMS, "--members", "--verbose"),
    "streams offsets": (STREAMS, "--offsets"),
}


@contextlib.contextmanager
def members(cluster: KafkaCluster) -> Iterator[Callable[[], None]]:
    """All of them, reading; the function given ends the share group's one member."""
    where, tools = cluster.bootstrap, cluster.tools
    share = tools.start_share_consumer("orders", "sharers")
    java = tools.start_console_consumer(
        "orders", "java", "group.protocol=classic", "group.instance.id=pod-1", "client.rack=a",
        "auto.offset.reset=earliest",
    )  # fmt: skip
    sticky = {"partition_assignment_strategy": "cooperative-sticky"}
    both = ("orders", "clicks")
    living = [
        LibrdkafkaMember(where, "librdkafka", both, client_id="rd-0", client_rack="a", **sticky),
        LibrdkafkaMember(where, "librdkafka", both, client_id="rd-1", **sticky),
        AiokafkaMember(where, "aiokafka", both),
        AiokafkaMember(where, "aiokafka", both),
        LibrdkafkaMember(where, "modern", ["orders"], client_id="new-0", client_rack="b", group_protocol="consumer"),
        LibrdkafkaMember(where, "modern", ["orders"], client_id="new-1", group_protocol="consumer"),
        LibrdkafkaMember(where, "migrating", ["orders"], client_id="migrated", group_protocol="consumer"),
        StreamsMember(where, "flow", "orders", process="p-0", rack="a", offset=2),
        StreamsMember(where, "flow", "orders", process="p-1", rack="b", offset=3),
        KafkaPythonMember(where, "kafka-python", ["orders"]),
        KafkaPythonMember(where, "kafka-python", ["orders"]),
    ]
    try:
        wait_until(cluster, lambda seen: [] if member_list(seen, "migrating") else ["no member"])
        living.append(LibrdkafkaMember(where, "migrating", ["orders"], client_id="not-yet",
                                       partition_assignment_strategy="range"))  # fmt: skip

        def end_share() -> None:
            share.terminate()
            share.wait()

        yield end_share
        assert [failure for member in living for failure in member.failures] == []
    finally:
        for process in (share, java):
            process.terminate()
        with ThreadPoolExecutor(max_workers=len(living)) as pool:
            list(pool.map(lambda member: member.stop(), living))
        for process in (share, java):
            process.wait()


def wait_until(cluster: KafkaCluster, lacks: Callable[[ClusterSnapshot], list[object]]) -> ClusterSnapshot:
    """The first reading that lacks nothing."""
    return wait_for(
        "every group to be at rest", lambda: read(cluster), until=lambda seen: not lacks(seen), gist=lacks, every_s=0.5,
    )  # fmt: skip


def unsettled(snapshot: ClusterSnapshot) -> list[object]:
    """What is still going on: everybody is to have its part, and all that is written to be read and committed."""
    results = {group.id: group for group in snapshot.groups}
    if results.keys() != GROUPS.keys() or snapshot.coverage:
        return [sorted(GROUPS.keys() - results.keys()), snapshot.coverage]
    ends = {(row.topic, row.partition): row.end_offset for row in snapshot.each_partition()}
    wrong: list[object] = []
    for name, (kind, _, count, _) in GROUPS.items():
        group = results[name]
        parts = [member.assigned for member in group.members]
        going = any(member.target not in (None, member.assigned) for member in group.members)
        if group.state != "Stable" or len(parts) != count or not all(parts) or going:
            wrong.append((name, group.state, parts, going))
        # The start of a share group may stand below what it has done: its lag says how far it is.
        behind = [
            commit
            for commit in group.committed
            if (commit.lag if kind is GroupType.SHARE else commit.offset - ends[commit.topic, commit.partition]) != 0
        ]
        if len(group.committed) < PARTITIONS_READ.get(name, 4) or (behind and kind is not GroupType.STREAMS):
            wrong.append((name, group.committed, behind))
    return wrong


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compared]:
    """Share groups begin at the end of the log: their records are written once the member is there."""
    spec = ClusterSpec(racks={1: "a", 2: "b"})
    with start_cluster(spec, tmp_path_factory.mktemp("types") / "cluster") as cluster:
        create_topics(cluster.bootstrap, PLACEMENT, {})
        fill(cluster.bootstrap, {"clicks": RECORDS["clicks"]}, 100)
        with members(cluster) as end_share:
            wait_until(
                cluster, lambda seen: [] if any(item.assigned for item in member_list(seen, "sharers")) else ["none"]
            )
            fill(cluster.bootstrap, {"orders": RECORDS["orders"]}, 100)
            wait_until(cluster, unsettled)
            with ThreadPoolExecutor(max_workers=3) as pool:
                asked = {name: pool.submit(tool, cluster.tools, *text) for name, text in QUESTIONS.items()}
                printed = {name: answer.result() for name, answer in asked.items()}
            snapshot = wait_until(cluster, unsettled)
            end_share()
            fill(cluster.bootstrap, {"orders": LATER}, 100)
            later_printed = tool(cluster.tools, SHARERS)
            later = read(cluster)
            yield Compared(snapshot, printed, later, later_printed)


def member_list(snapshot: ClusterSnapshot, name: str) -> tuple:
    return next((group.members for group in snapshot.groups if group.id == name), ())


def pairs(text: str) -> set[tuple[str, int]]:
    """``clicks:0,1;orders:1`` → pairs."""
    runs = (run.rpartition(":") for run in text.split(";") if run not in ("", "-"))
    return {(topic, int(number)) for topic, _, numbers in runs for number in numbers.split(",")}


def held(assigned: tuple[tuple[str, tuple[int, ...]], ...]) -> set[tuple[str, int]]:
    return {(topic, number) for topic, numbers in assigned for number in numbers}


def number(text: str) -> int | None:
    return None if text == "-" else int(text)


def test_every_type_is_told_with_its_strategy_members_and_racks(compared: Compared) -> None:
    results = {}
    for group in compared.snapshot.groups:
        racks = {member.client_id: member.rack for member in group.members if member.rack}
        results[group.id] = (group.type, group.protocol, len(group.members), racks)
    assert results == GROUPS
    static = {member.instance_id for group in compared.snapshot.groups for member in group.members}
    assert static == {None, "pod-1"}


def test_members_and_assignments_of_classic_and_kip_848_groups(compared: Compared) -> None:
    """Current and target, epochs, who has not migrated: as ``kafka-consumer-groups --members --verbose`` prints."""
    theirs = {
        (row["GROUP"], row["CONSUMER-ID"]): (
            row["HOST"], row["CLIENT-ID"], row.get("GROUP-INSTANCE-ID"), int(row["#PARTITIONS"]),
            pairs(row["CURRENT-ASSIGNMENT"]), number(row["CURRENT-EPOCH"]), pairs(row["TARGET-ASSIGNMENT"]),
            number(row["TARGET-EPOCH"]), {"true": False, "false": True}.get(row.get("UPGRADED", "")),
        )
        for row in compared.printed["consumer members"]
    }  # fmt: skip
    ours = {}
    for group in compared.groups(GroupType.CLASSIC, GroupType.CONSUMER):
        is_mixed = any(member.is_classic for member in group.members)
        for member in group.members:
            ours[group.id, member.id] = (
                member.host, member.client_id, member.instance_id, len(held(member.assigned)), held(member.assigned),
                member.generation if group.type is GroupType.CONSUMER else None, held(member.target or ()),
                group.assignment_epoch, member.is_classic if is_mixed else None,
            )  # fmt: skip
    assert ours == theirs
    assert len(ours) == 11


def test_offsets_and_lag_of_classic_and_kip_848_groups(compared: Compared) -> None:
    theirs = {
        (row["GROUP"], row["TOPIC"], int(row["PARTITION"])): (
            int(row["CURRENT-OFFSET"]), int(row["LOG-END-OFFSET"]), int(row["LAG"]), row["CONSUMER-ID"],
        )
        for row in compared.printed["consumer offsets"]
    }  # fmt: skip
    ends = {(row.topic, row.partition): row.end_offset for row in compared.snapshot.each_partition()}
    ours = {}
    for group in compared.groups(GroupType.CLASSIC, GroupType.CONSUMER):
        reader = {pair: member.id for member in group.members for pair in held(member.assigned)}
        for commit in group.committed:
            pair = (commit.topic, commit.partition)
            ours[group.id, *pair] = (commit.offset, ends[pair], ends[pair] - commit.offset, reader[pair])
    assert ours == theirs
    assert len(ours) == 4 * 4 + 2 * 6


def test_members_of_a_share_group_and_where_it_is_once_it_is_left_behind(compared: Compared) -> None:
    """The lag is the broker's own figure: what was written after the last member left."""
    (row,) = compared.printed["share members"]
    (group,) = compared.groups(GroupType.SHARE)
    (member,) = group.members
    assert (row["GROUP"], row["CONSUMER-ID"], row["HOST"], row["CLIENT-ID"]) == (
        group.id, member.id, member.host, member.client_id,
    )  # fmt: skip
    assert (pairs(row["ASSIGNMENT"]), int(row["MEMBER-EPOCH"])) == (held(member.assigned), member.generation)
    theirs = {
        (row["TOPIC"], int(row["PARTITION"])): (int(row["START-OFFSET"]), int(row["LAG"]))
        for row in compared.later_printed
    }
    (left,) = (group for group in compared.later.groups if group.type is GroupType.SHARE)
    assert left.members == ()
    assert {(commit.topic, commit.partition): (commit.offset, commit.lag) for commit in left.committed} == theirs
    assert sum(lag for _, lag in theirs.values()) == LATER


def tasks(text: str, name: str) -> TaskIds:
    """``ACTIVE: 0:[0,2]; TARGET-ACTIVE: 0:[0,2];`` → the tasks of one of its parts."""
    match = re.search(rf"(?:^|; ){name}: ([^;]*);", text)
    rows = re.findall(r"(\S+):\[([\d,]*)\]", match[1]) if match else []
    return tuple(
        sorted((subtopology, tuple(sorted(int(item) for item in numbers.split(",")))) for subtopology, numbers in rows)
    )


def test_members_tasks_and_offsets_of_a_streams_group(compared: Compared) -> None:
    (group,) = compared.groups(GroupType.STREAMS)
    theirs = {
        row["MEMBER"]: (
            row["GROUP"], int(row["TARGET-ASSIGNMENT-EPOCH"]), row["MEMBER-PROTOCOL"], int(row["MEMBER-EPOCH"]),
            row["PROCESS"], row["CLIENT-ID"], tasks(row["ASSIGNMENTS"], "ACTIVE"),
            tasks(row["ASSIGNMENTS"], "TARGET-ACTIVE"),
        )
        for row in compared.printed["streams members"]
    }  # fmt: skip
    ours = {
        member.id: (
            group.id, group.assignment_epoch, "classic" if member.is_classic else "streams", member.generation,
            member.process_id, member.client_id, member.tasks and member.tasks.active,
            member.target_tasks and member.target_tasks.active,
        )
        for member in group.members
    }  # fmt: skip
    assert ours == theirs
    assert sorted(pair for member in group.members for pair in held(member.assigned)) == [
        ("orders", partition) for partition in range(4)
    ]
    assert {member.subscription for member in group.members} == {("orders",)}
    (asked,) = (group_input for group_input in group_inputs(compared.snapshot) if group_input.group.id == group.id)
    replayed = replay_streams_group(asked)
    assert (replayed.missing, replayed.is_reproduced) == ((), True)
    lags = {
        (row["TOPIC"], int(row["PARTITION"])): int(row["OFFSET-LAG"]) for row in compared.printed["streams offsets"]
    }
    ends = {(row.topic, row.partition): row.end_offset for row in compared.snapshot.each_partition()}
    assert {
        (commit.topic, commit.partition): ends[commit.topic, commit.partition] - commit.offset
        for commit in group.committed
    } == lags


def test_what_the_cluster_can_do_is_told(compared: Compared) -> None:
    assert compared.snapshot.features["group.version"] == 1
    assert compared.snapshot.features.keys() >= {"metadata.version", "share.version", "streams.version"}


def test_the_clients_of_classic_groups_are_recognised(compared: Compared) -> None:
    """By their default client ids; librdkafka's have some of ours, so that their bytes alone tell."""
    results = {group.id: group_client(group) for group in compared.groups(GroupType.CLASSIC)}
    shown = {
        group.id: [
            (m.client_id, m.subscription_version, decode_user_data(m.user_data, group.protocol).layout.value)
            for m in group.members
        ]
        for group in compared.groups(GroupType.CLASSIC)
    }
    assert {name: known.client for name, known in results.items()} == {
        "aiokafka": Client.AIOKAFKA, "java": Client.JAVA, "kafka-python": Client.KAFKA_PYTHON,
        "librdkafka": Client.LIBRDKAFKA,
    }, shown  # fmt: skip
