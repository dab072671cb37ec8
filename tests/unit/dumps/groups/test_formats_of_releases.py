from __future__ import annotations

import random
import re
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.groups.motion import MotionCode, motion_of
from kafka_rebalance.snapshot.codec import snapshot_to_document
from kafka_rebalance.snapshot.group import Tasks
from kafka_rebalance.snapshot.model import Group, GroupType
from rebalance_advisor.dumps.any_input import read_input
from rebalance_advisor.dumps.groups_dump import GroupsDump
from tests.unit.dumps.dump_texts import DUMPS, write_folder


def read(text: str) -> Group:
    dump = GroupsDump()
    dump.read(text, "groups.txt")
    (group,) = dump.groups()
    return group


def table(*rows: tuple[str, ...], widths: tuple[int, ...] = ()) -> str:
    """Rows as Java's ``%-15s`` pads them: a column is as wide as its longest cell."""
    wide = widths or tuple(max(15, *(len(row[at]) for row in rows)) for at in range(len(rows[0])))
    return "".join(" ".join(cell.ljust(width) for cell, width in zip(row, wide, strict=True)) + "\n" for row in rows)


def test_a_blank_strategy_is_unknown_wherever_it_is() -> None:
    draw = random.Random(34)
    for _ in range(200):
        strategy = draw.choice(("", "", "range", "cooperative-sticky"))
        state = draw.choice(("Empty", "Stable", "PreparingRebalance", "Dead"))
        count = draw.randrange(9)
        text = table(
            ("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"),
            ("g" * draw.randrange(1, 30), "b1.example.com:9092 (1)", strategy, state, str(count)),
        )
        if draw.random() < 0.5:  # as in a chat window
            text = re.sub(r" +", " ", text)
        group = read(text)
        assert (group.protocol, group.state, group.coordinator) == (strategy or None, state, 1), text
        assert (group.members, group.member_count) == ((), count or None)


def test_a_simple_group_has_no_protocol() -> None:
    header = ("GROUP", "TYPE", "PROTOCOL")
    assert read(table(header, ("flink-job-7", "Classic", ""))).protocol_type == ""
    assert read(table(header, ("orders", "Consumer", "consumer"))).protocol_type == "consumer"
    assert read(table(header, ("c", "Classic", "connect"))).protocol_type == "connect"


def test_members_without_verbose_are_counted() -> None:
    header = ("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS")
    members = read(table(header, ("g", "m-1", "/h", "c", "3"), ("g", "m-2", "/h", "c", "0"))).members
    assert [(member.partition_count, member.assigned, member.has_known_assignment) for member in members] == [
        (3, (), False),
        (None, (), True),
    ]
    brackets = table((*header, "ASSIGNMENT"), ("g", "m-1", "/h", "c", "3", "(0,1), (2)"))
    assert read(brackets).members[0].partition_count == 3


def test_a_share_group_is_known_by_its_assignment() -> None:
    header = ("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "ASSIGNMENT")
    group = read(table(header, *(("g", f"m-{number}", "/h", "c", "2", "orders:0,1") for number in range(3))))
    assert (group.type, len(group.members)) == (GroupType.SHARE, 3)
    assert read(table(header, ("g", "m", "/h", "c", "2", "orders(0,1)"))).type is not GroupType.SHARE


def test_a_consumer_id_that_touches_its_host_is_read() -> None:
    draw = random.Random(102)
    header = ("TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID")
    head = "{:<30} {:<10} {:<15} {:<15} {:<10} {:<50}{:<30} {}\n"
    for _ in range(100):
        client = "c" * draw.randrange(1, 60)
        member = f"{client}-{uuid.UUID(int=draw.getrandbits(128))}"
        row = ("orders", "0", "5", "9", "4", member, "/10.0.0.1", client)
        text = "kafka-consumer-groups.sh --describe --group g\n" + head.format(*header) + head.format(*row)
        (first,) = read(text).members
        assert (first.id, first.host, first.client_id, first.assigned) == (
            member,
            "/10.0.0.1",
            client,
            (("orders", (0,)),),
        )


def test_commas_of_0_9_are_read() -> None:
    header = "GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER\n"
    group = read(header + "g, orders, 0, 5, 9, 4, app-1_/10.0.0.1\ng, orders, 1, unknown, 9, unknown, none\n")
    assert [(member.host, member.client_id, member.assigned) for member in group.members] == [
        ("/10.0.0.1", "app-1", (("orders", (0,)),))
    ]
    assert [(item.partition, item.offset) for item in group.committed] == [(0, 5)]
    with pytest.raises(InvalidInputError, match=r"groups\.txt:2"):
        read(header + "g, orders, 0, 5, 9\n")


def test_tasks_of_streams_members_are_read() -> None:
    draw = random.Random(41)
    for _ in range(100):
        kinds = {}
        for kind in ("active", "standby", "warmup"):
            runs = {
                str(sub): tuple(sorted(draw.sample(range(9), draw.randrange(1, 4)))) for sub in range(draw.randrange(3))
            }
            kinds[kind] = tuple(sorted(runs.items()))
        cell = "".join(
            f"{kind.upper()}: " + "".join(f"{sub}:[{','.join(map(str, numbers))}]; " for sub, numbers in runs)
            for kind, runs in kinds.items()
            if runs
        )
        group = read(
            table(("GROUP", "MEMBER", "PROCESS", "CLIENT-ID", "ASSIGNMENTS"), ("wordcount", "m", "p", "c", cell))
        )
        assert (group.type, group.members[0].tasks) == (GroupType.STREAMS, Tasks(**kinds)), cell
    with pytest.raises(InvalidInputError, match="list of tasks"):
        read(table(("GROUP", "MEMBER", "PROCESS", "CLIENT-ID", "ASSIGNMENTS"), ("g", "m", "p", "c", "ACTIVE: 0:[0,")))


def test_verbose_tables_of_streams_groups_are_read() -> None:
    command = "$ bin/kafka-streams-groups.sh --bootstrap-server b1:9092 --describe --verbose --group wordcount\n"
    members = table(
        (
            "GROUP", "TARGET-ASSIGNMENT-EPOCH", "TOPOLOGY-EPOCH", "MEMBER", "MEMBER-PROTOCOL", "MEMBER-EPOCH",
            "PROCESS", "CLIENT-ID", "ASSIGNMENTS",
        ),
        ("wordcount", "3", "0", "m", "streams", "3", "p", "c", "ACTIVE: 0:[0]; TARGET-ACTIVE: 0:[0,1]; "),
        ("wordcount", "3", "0", "idle", "streams", "3", "p", "d", ""),
    )  # fmt: skip
    state = table(
        ("GROUP", "COORDINATOR (ID)", "STATE", "GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH", "#MEMBERS"),
        ("wordcount", "b1:9092 (1)", "Stable", "3", "3", "2"),
    )
    offsets = table(
        ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LEADER-EPOCH", "LOG-END-OFFSET", "OFFSET-LAG"),
        ("wordcount", "orders", "0", "5", "0", "9", "4"),
    )
    group = read(f"{command}{members}\n{state}\n{offsets}")
    assert (group.type, group.state, group.generation) == (GroupType.STREAMS, "Stable", 3)
    idle, busy = group.members
    assert (idle.tasks, busy.tasks, busy.target_tasks) == (
        Tasks(), Tasks(active=(("0", (0,)),)), Tasks(active=(("0", (0, 1)),)),
    )  # fmt: skip
    assert [(item.topic, item.partition, item.offset) for item in group.committed] == [("orders", 0, 5)]
    assert read(command + state).type is GroupType.STREAMS


def test_the_share_tool_tells_the_type() -> None:
    state = table(("GROUP", "COORDINATOR (ID)", "STATE", "#MEMBERS"), ("parcels", "b1:9092 (1)", "Stable", "2"))
    assert read("$ kafka-share-groups.sh --describe --state --group parcels\n" + state).type is GroupType.SHARE
    assert read(state).type is GroupType.UNKNOWN


def test_fences_and_banners_are_noise() -> None:
    state = table(
        ("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"),
        ("g", "b1:9092 (1)", "", "Empty", "0"),
    )
    banner = "\x1b[38;5;6mkafka \x1b[38;5;5m12:00:01.05 \x1b[0m\x1b[38;5;2mINFO \x1b[0m ==> Welcome\n"
    plain = "kafka 12:00:01.05 INFO  ==> ** Starting Kafka **\n"
    assert read(f"```text\n{banner}{plain}{state}```\n") == read(state)


def test_a_row_that_fits_in_two_ways_is_refused() -> None:
    header = "GROUP CONSUMER-ID GROUP-INSTANCE-ID HOST CLIENT-ID #PARTITIONS CURRENT-EPOCH CURRENT-ASSIGNMENT "
    header += "TARGET-EPOCH TARGET-ASSIGNMENT UPGRADED\n"
    assert read(header + "g m /h c 0 1 - 1 - true\n").members[0].instance_id is None
    with pytest.raises(InvalidInputError, match=r"groups\.txt:2: does not fit"):
        read("GROUP ASSIGNMENT-STRATEGY PROTOCOL COORDINATOR (ID) STATE #MEMBERS\ng range b1:9092 (1) Stable 0\n")


def wrapped(draw: random.Random, text: str) -> str:
    """``text`` as terminals, loggers, containers and chats leave it: noise before, between and after its lines."""
    noise = (
        ("[2026-11-20 06:00:00,123] INFO AdminClientConfig values: \n\tbootstrap.servers = [b1:9092]\n"
        "\tclient.id = \n\tsasl.jaas.config = null\n (org.apache.kafka.clients.admin.AdminClientConfig)\n"),
        ("[2026-11-20T06:00:01,9] WARN [AdminClient clientId=a] No route (org.apache.kafka.clients.NetworkClient)\n"
        "java.net.UnknownHostException: b2\n\tat java.base/java.net.InetAddress.getByName(InetAddress.java:1)\n"
        "Caused by: java.io.IOException: closed\n\t... 12 more\n"),
        "06:00:00.123 [main] DEBUG org.apache.kafka.common.metrics.Metrics - Removed\n",
        "SLF4J: Class path contains multiple SLF4J bindings.\nlog4j:WARN No appenders could be found.\n",
        "OpenJDK 64-Bit Server VM warning: Option UseConcMarkSweepGC was deprecated\n",
        "Picked up JAVA_TOOL_OPTIONS: -Xmx256m\nNOTE: Picked up JDK_JAVA_OPTIONS: -Xmx256m\n",
        'Defaulted container "kafka" out of: kafka, init (init)\n',
        "Unable to use a TTY - input is not a terminal or the right kind of file\n",
        "\x1b[38;5;6mkafka \x1b[38;5;5m12:00:01.05 \x1b[0m\x1b[38;5;2mINFO \x1b[0m ==> Welcome\n",
        "```\n", "~~~text\n", "\n", "real\t0m3.012s\n",
    )  # fmt: skip
    lines = [draw.choice(noise) if draw.random() < 0.8 else ""]
    for line in text.splitlines(keepends=True):
        if draw.random() < 0.3:
            lines.append(draw.choice(noise))
        lines.append(line)
    lines.append(draw.choice(noise))
    result = "".join(lines)
    stamp = "2026-11-20T06:00:00.123456789Z "
    prefix = draw.choice(("", "", "kafka-1  | ", "[pod/kafka-0/kafka] ", "> ", "> > ", stamp))
    result = "".join(prefix + line for line in result.splitlines(keepends=True))
    if draw.random() < 0.3:
        result = draw.choice(("$ kubectl exec kafka-0 -- kafka-groups.sh --list\n", "/ # ls\n")) + result
    return result.replace("\n", "\r\n") if draw.random() < 0.3 else result


def test_each_format_is_read_the_same_within_any_noise(tmp_path: Path) -> None:
    draw = random.Random(3434)
    offsets = ("TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID")
    coordinator = "b1.example.com:9092 (1)"
    formats: tuple[tuple[tuple[str, ...], Callable[[int], tuple[str, ...]]], ...] = (
        (("GROUP", *offsets), lambda at: ("g", "orders", str(at), "5", "9", "4", f"m-{at}", "/10.0.0.1", "c")),
        (
            ("GROUP", *offsets[:2], "LEADER-EPOCH", *offsets[2:]),
            lambda at: ("g", "orders", str(at), "-", "5", "9", "4", f"m-{at}", "/10.0.0.1", "c"),
        ),
        (
            ("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"),
            lambda at: ("g", f"m-{at}", "/h", "c", str(at)),
        ),
        (
            ("GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "ASSIGNMENT"),
            lambda at: ("g", f"m-{at}", "i" * (at % 2), "/h", "c", "1", f"orders({at})"),
        ),
        (
            ("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"),
            lambda at: (f"g-{at}", coordinator, ("range", "")[at % 2], "Stable", "2"),
        ),
        (
            ("GROUP", "COORDINATOR (ID)", "STATE", "GROUP-EPOCH", "ASSIGNMENT-EPOCH", "#MEMBERS"),
            lambda at: (f"g-{at}", coordinator, "Stable", "3", "3", "2"),
        ),
        (
            ("GROUP", "COORDINATOR (ID)", "ASSIGNOR", "STATE", "#MEMBERS"),
            lambda at: (f"g-{at}", coordinator, "sticky", "Stable", "2"),
        ),
        (
            ("GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS", "ASSIGNMENT"),
            lambda at: ("g", f"m-{at}", "/h", "c", "2", "orders:0,1"),
        ),
        (("GROUP", "TOPIC", "PARTITION", "START-OFFSET", "LAG"), lambda at: ("g", "orders", str(at), "5", "4")),
        (("GROUP", "TOPIC", "PARTITION", "OFFSET-LAG"), lambda at: ("g", "orders", str(at), "4")),
        (
            ("GROUP", "MEMBER", "PROCESS", "CLIENT-ID", "ASSIGNMENTS"),
            lambda at: ("g", f"m-{at}", "p", "c", f"ACTIVE: 0:[{at}]; "),
        ),
        (("GROUP", "TYPE", "PROTOCOL"), lambda at: (f"g-{at}", "Classic", ("consumer", "")[at % 2])),
    )
    for case in range(240):
        header, row = formats[case % len(formats)]
        text = table(header, *(row(at) for at in range(draw.randint(1, 6))))
        texts = text, wrapped(draw, text)
        results = []
        for name, item in zip(("plain", "noisy"), texts, strict=True):
            path = tmp_path / name / "groups.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(item.encode())
            results += [snapshot_to_document(read_input(given, "c")) for given in (path, path.parent)]
        assert results[0] == results[2], texts[1]
        assert results[1] == results[3], texts[1]


def test_other_dumps_are_read_within_the_same_noise(tmp_path: Path) -> None:
    draw = random.Random(36)
    plain = snapshot_to_document(read_input(write_folder(tmp_path / "plain"), "c"))
    noisy = {name: text for name, text in DUMPS.items() if text is not None and name.endswith(".txt")}
    for case in range(20):
        files = {**DUMPS, **{name: wrapped(draw, text) for name, text in noisy.items()}}
        folder = write_folder(tmp_path / str(case), files)
        assert snapshot_to_document(read_input(folder, "c", is_strict=True)) == plain, files


def test_sentences_of_the_tool_are_facts() -> None:
    draw = random.Random(35)
    rows = table(
        ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID"),
        ("g", "orders", "0", "5", "9", "4", "-", "-", "-"),
    )
    for _ in range(40):
        kind, quotes = draw.choice(("Consumer", "Share", "Streams")), draw.choice(("''", "`'", "``"))
        name = f"{quotes[0]}g{quotes[1]}"
        group = read(f"\nWarning: {kind} group {name} is rebalancing.\r\n\n{rows}")
        assert group.state == "Rebalancing"
        motion = motion_of(replace(group, member_count=2))
        assert motion is not None
        assert motion.code is MotionCode.REBALANCING
        assert read(f"\n{kind} group {name} has no active members.\n\n{rows}").state == "Empty"
        dump = GroupsDump()
        dump.read(f"\nError: {draw.choice(('', 'The '))}{kind} group {name} does not exist.\n", "groups.txt")
        assert dump.groups() == ()
        assert [gap.subject for gap in dump.gaps] == ["g"]


def test_columns_of_the_state_tell_the_type() -> None:
    coordinator = "b1:9092 (1)"
    streams = table(
        ("GROUP", "COORDINATOR (ID)", "ASSIGNOR", "STATE", "#MEMBERS"), ("g", coordinator, "sticky", "Stable", "2")
    )
    assert (read(streams).type, read(streams).protocol) == (GroupType.STREAMS, "sticky")
    for column, kind in (("TARGET-ASSIGNMENT-EPOCH", GroupType.STREAMS), ("ASSIGNMENT-EPOCH", GroupType.SHARE)):
        header = ("GROUP", "COORDINATOR (ID)", "STATE", "GROUP-EPOCH", column, "#MEMBERS")
        assert read(table(header, ("g", coordinator, "Stable", "3", "3", "2"))).type is kind
