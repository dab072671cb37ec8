"""Random small clusters, drawn from a seed, as printed by tools of many versions.

``noisy`` puts prompts, log lines and headings between lines, as in a terminal.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from random import Random

from kafka_rebalance.snapshot.model import Member, Partition

PROMPTS = ("$ ", "# ", "> ", "  > ", "[root@h kafka]# ", "kafka@b-1:/opt/kafka$ ", "/ # ", "PS C:\\kafka> ", "")
NOISE = (
    "[2026-11-20 06:00:00,123] WARN something harmless (org.apache.kafka.X)",
    "==> Describe topic: orders",
    "SLF4J: Class path contains multiple SLF4J bindings.",
    "Note: This will only show information about consumers that use the Java consumer API.",
    "OpenJDK 64-Bit Server VM warning: If the number of processors is expected to increase",
    'Defaulted container "kafka" out of: kafka, init (init)',
)


@dataclass(frozen=True)
class DrawnGroup:
    """``committed`` and ``end`` by partition; ``None`` is unknown."""

    id: str
    members: tuple[Member, ...]
    committed: dict[tuple[str, int], int | None]
    coordinator: int
    strategy: str

    def reader(self, partition: tuple[str, int]) -> Member | None:
        return next((m for m in self.members if partition in pairs(m)), None)


@dataclass(frozen=True)
class Drawn:
    """A cluster as its tools know it; ``rows`` hold sizes and offsets, too."""

    rows: tuple[Partition, ...]
    topic_ids: dict[str, str]
    groups: tuple[DrawnGroup, ...]
    brokers: tuple[int, ...]


def pairs(member: Member) -> list[tuple[str, int]]:
    return [(topic, number) for topic, numbers in member.assigned for number in numbers]


def draw_cluster(random: Random) -> Drawn:
    """Up to 4 topics, 8 brokers, 3 groups; names hold every sign that Kafka allows."""
    brokers = tuple(sorted(random.sample(range(1, 500), random.randint(2, 8))))
    names = random.sample(
        ["orders", "a.b", "kafka-log", "__consumer_offsets", "x_1-2", "Topic", "GROUP"], random.randint(1, 4)
    )
    rows = []
    for name in sorted(names):
        factor = random.randint(1, min(4, len(brokers)))
        for number in range(random.randint(1, 5)):
            replicas = tuple(random.sample(brokers, factor))
            isr = tuple(b for b in replicas if random.random() < 0.9)
            leader = random.choice(isr) if isr and random.random() < 0.95 else None
            start = random.choice([0, random.randint(0, 10**6)])
            rows.append(
                Partition(
                    name, number, replicas, leader, isr,
                    log_bytes=tuple(random.randint(1, 10**12) for _ in replicas),
                    start_offset=start, end_offset=start + random.randint(1, 10**9),
                )
            )  # fmt: skip
    ids = {name: "".join(random.choices("abcXYZ019_-", k=22)) for name in names}
    groups = tuple(
        draw_group(name, rows, brokers, random) for name in ("billing", "my group", "a_b.c")[: random.randint(0, 3)]
    )
    return Drawn(tuple(rows), ids, groups, brokers)


def draw_group(name: str, rows: list[Partition], brokers: tuple[int, ...], random: Random) -> DrawnGroup:
    read = sorted((row.topic, row.partition) for row in rows if random.random() < 0.7)
    ends = {(row.topic, row.partition): row.end_offset or 0 for row in rows}
    count = random.randint(1, 3)
    shares: list[list[tuple[str, int]]] = [[] for _ in range(count)]
    for partition in read:
        if random.random() < 0.9:
            random.choice(shares).append(partition)
    members = tuple(
        Member(f"c-{number}", client_id="cli", host=f"/10.0.0.{number}", assigned=runs(share))
        for number, share in enumerate(shares)
    )
    committed = {key: random.choice([None, random.randint(0, ends[key])]) for key in read}
    return DrawnGroup(name, members, committed, random.choice(brokers), random.choice(["range", "uniform"]))


def runs(share: list[tuple[str, int]]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    topics = sorted({topic for topic, _ in share})
    return tuple((topic, tuple(sorted(number for name, number in share if name == topic))) for topic in topics)


def noisy(text: str, random: Random) -> str:
    """Noise before, after and between lines; a prompt that runs nothing of ours ends it."""
    lines = []
    for line in text.split("\n"):
        is_typed = bool(lines) and lines[-1].endswith("\\")
        lines += random.sample(NOISE, 1) if random.random() < 0.15 and not is_typed else []
        lines.append(line)
    end = random.choice(["", "[root@h kafka]# ", "$"])
    return "\n".join([*lines, end]) + ("\n" if end else "")


def command(text: str, random: Random) -> str:
    """A command as it was typed: some prompt, perhaps over lines."""
    parts = text.split(" --")
    joined = random.choice([" --", " \\\n    --"]).join(parts)
    return f"{random.choice(PROMPTS)}{random.choice(['bin/', './', '/opt/kafka/bin/'])}{joined}\n"


def print_topics(cluster: Drawn, version: str, random: Random) -> str:
    """``--describe`` of 0.10, 2.8, 4.0 or Confluent; blanks in place of tabs as terminals copy them."""
    text = ""
    colon = ":" if version == "0.10" else ": "
    for name in dict.fromkeys(row.topic for row in cluster.rows):
        mine = [row for row in cluster.rows if row.topic == name]
        topic_id = "" if version == "0.10" else f"TopicId: {cluster.topic_ids[name]}\t"
        text += f"Topic{colon}{name}\t{topic_id}PartitionCount{colon}{len(mine)}\t"
        text += f"ReplicationFactor{colon}{len(mine[0].replicas)}\tConfigs{colon}\n"
        for row in mine:
            leader = random.choice(["none", "-1"]) if row.leader is None else row.leader
            more = {"4.0": "\tElr: \tLastKnownElr: ", "confluent": "\tOffline: "}.get(version, "")
            if version == "confluent" and row.observers:
                more += f"\tObservers: {','.join(map(str, row.observers))}"
            isr = list(row.isr or ())
            random.shuffle(isr)
            text += f"\tTopic: {name}\tPartition: {row.partition}\tLeader: {leader}"
            text += f"\tReplicas: {','.join(map(str, row.replicas))}\tIsr: {','.join(map(str, isr))}{more}\n"
    return text.replace("\t", "    ") if random.random() < 0.3 else text


def print_log_dirs(cluster: Drawn, random: Random) -> str:
    """One document, or one a broker; on one line, or over many."""
    listed = []
    for broker in cluster.brokers:
        held = [(row, row.log_bytes[row.replicas.index(broker)]) for row in cluster.rows if broker in row.replicas]
        partitions = [
            {"partition": f"{row.topic}-{row.partition}", "size": size, "offsetLag": 0, "isFuture": False}
            for row, size in held
        ]
        listed.append({"broker": broker, "logDirs": [{"logDir": "/{data", "error": None, "partitions": partitions}]})
    parts = [listed] if random.random() < 0.5 else [[partition] for partition in listed]
    text = ""
    for part in parts:
        text += "Querying brokers for log directories information\nReceived log directory information from brokers x\n"
        text += json.dumps({"version": 1, "brokers": part}, indent=random.choice([None, 1])) + "\n"
    return text


def print_offsets(cluster: Drawn, *, start: bool) -> str:
    """``topic:partition:offset``."""
    return "".join(
        f"{row.topic}:{row.partition}:{row.start_offset if start else row.end_offset}\n" for row in cluster.rows
    )


def print_znodes(cluster: Drawn, random: Random) -> str:
    """A session of zkCli: every topic, and every partition's state."""
    text = "[zk: localhost:2181(CONNECTED) 0] ls /brokers/topics\n[a, b]\n"

    def get(path: str, node: object) -> str:
        stat = "cZxid = 0x1a\nctime = Fri Jan 01 00:00:00 UTC 2021\ndataLength = 48\n"
        return f"[zk: localhost:2181(CONNECTED) 7] get /brokers/topics/{path}\n{json.dumps(node)}\n{stat}"

    for name in dict.fromkeys(row.topic for row in cluster.rows):
        mine = [row for row in cluster.rows if row.topic == name]
        random.shuffle(mine)
        node = {
            "version": 3,
            "topic_id": cluster.topic_ids[name],
            "partitions": {r.partition: r.replicas for r in mine},
        }
        text += get(name, node)
        for row in mine:
            state = {"controller_epoch": 1, "leader": -1 if row.leader is None else row.leader, "version": 1,
                     "leader_epoch": 2, "isr": row.isr}  # fmt: skip
            text += get(f"{name}/partitions/{row.partition}/state", state)
    return text


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Columns padded as Java does."""
    widths = [max(15, *(len(row[column]) for row in (header, *rows))) for column in range(len(header))]
    lines = [" ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (header, *rows)]
    return "\n" + "\n".join(lines) + "\n"


def print_group(cluster: Drawn, group: DrawnGroup, version: str, random: Random) -> str:
    """Offsets, members and state of one group, as 0.10 (owners), 1.1 (no GROUP), 2.4 or 4.0 print them."""
    ends = {(row.topic, row.partition): row.end_offset or 0 for row in cluster.rows}
    mine = () if version == "1.1" else (group.id,)
    head = () if version == "1.1" else ("GROUP",)
    offsets = []
    for partition, at in group.committed.items():
        reader = group.reader(partition)
        lag = "-" if at is None else str(ends[partition] - at)
        who = ("-", "-", "-") if reader is None else (reader.id, reader.host or "", reader.client_id or "")
        owner = "none" if reader is None else f"{reader.client_id}_{reader.host}"
        cells = (*mine, *map(str, partition), "-" if at is None else str(at), str(ends[partition]), lag)
        offsets.append((*cells, owner) if version == "0.10" else (*cells, *who))
    offsets += [
        (*mine, "-", "-", "-", "-", "-", m.id, m.host or "", m.client_id or "")
        for m in group.members if not m.assigned and version != "0.10"
    ]  # fmt: skip
    columns = (*head, "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG")
    tool = f"kafka-consumer-groups.sh --bootstrap-server h:9092 --describe --group '{group.id}'"
    say = (lambda command_text: command(command_text, random)) if version == "1.1" else (lambda command_text: "")
    if version == "0.10":
        return table((*columns, "OWNER"), offsets) if offsets else ""
    text = say(tool) + table((*columns, "CONSUMER-ID", "HOST", "CLIENT-ID"), offsets) if offsets else ""
    assigned = "CURRENT-ASSIGNMENT" if version == "4.0" else "ASSIGNMENT"
    members = [
        (*mine, m.id, m.host or "", m.client_id or "", str(len(pairs(m))), print_assignment(m, version))
        for m in group.members
    ]
    text += say(f"{tool} --members --verbose")
    text += table((*head, "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS", assigned), members)
    state = (*mine, f"h:9092 ({group.coordinator})", group.strategy, "Stable", str(len(group.members)))
    text += say(f"{tool} --state")
    return text + table((*head, "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"), [state])


def print_assignment(member: Member, version: str) -> str:
    if not member.assigned:
        return "-"
    if version == "4.0":
        return ";".join(f"{topic}:{','.join(map(str, numbers))}" for topic, numbers in member.assigned)
    return ", ".join(f"{topic}({','.join(map(str, numbers))})" for topic, numbers in member.assigned)
