r"""``kafka-topics --describe``.

    Topic: orders  TopicId: QmLwMsncTBWiSn2HoB0Kqg  PartitionCount: 2  ReplicationFactor: 2  Configs: retention.ms=60000
        Topic: orders  Partition: 0  Leader: 1     Replicas: 1,2  Isr: 2,1  Elr:      LastKnownElr:
        Topic: orders  Partition: 1  Leader: none  Replicas: 2,1  Isr:      Elr: N/A  LastKnownElr: N/A

Accepts tabs or blanks, missing indents, a leader of ``none`` or ``-1``, and columns of reassignments and other builds
(Offline, Observers). A dump with fewer partitions than its header says was cut and is refused.

Before 3.0 with ZooKeeper, topics being deleted are marked (kafka/admin/TopicCommand.scala): the header ends in
``\tMarkedForDeletion:true``, or without headers rows end in ``\tMarkedForDeletion: true``. They are left out by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.snapshot.figures import topic_name_fault
from kafka_rebalance.snapshot.model import Partition, Topic
from rebalance_advisor.dumps.text_lines import Line, broker_list, dump_lines, whole_number

HEADER = re.compile(
    r"\s*Topic:\s*(?P<topic>\S+)\s+(?:TopicId:\s*(?P<id>\S+)\s+)?PartitionCount:\s*(?P<count>\d+)"
    r"\s+ReplicationFactor:\s*\d+(?:\s+Configs:[ \t]?(?P<configs>.*?))?"
    r"(?P<deleted>[\s,]*MarkedForDeletion:\s*true)?\s*$"
)
_ROW = re.compile(
    r"\s*Topic:\s*(?P<topic>\S+)\s+Partition:\s*(?P<partition>\d+)\s+Leader:\s*(?P<leader>none|-1|\d+)"
    r"\s+Replicas:\s*(?P<replicas>[\d,]+)\s+Isr:[ \t]*(?P<isr>[\d,]*)(?P<rest>.*)$"
)
_MORE = re.compile(r"\s*(?P<label>[A-Z][A-Za-z]*(?: Replicas)?):[ \t]*(?P<brokers>N/A|[\d,]*)(?=\s|$)")
# Eligible leader replicas are not used.
_LABELS = frozenset(
    ("Adding Replicas", "Removing Replicas", "Offline", "Elr", "LastKnownElr", "Observers", "LiveObservers")
)
_CONFIG = re.compile(r"(?P<name>[A-Za-z][\w.-]*)=")
INTERNAL_TOPICS = ("__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata")


@dataclass(slots=True)
class TopicsDump:
    topics: dict[str, Topic] = field(default_factory=dict)
    rows: dict[tuple[str, int], Partition] = field(default_factory=dict)
    # Alive without an ISR.
    observing: set[int] = field(default_factory=set)
    # Absent from the other fields.
    deleted: set[str] = field(default_factory=set)
    _announced: dict[str, tuple[int, Line]] = field(default_factory=dict)
    # Few texts repeat in 100,000 rows.
    _lists: dict[str, tuple[int, ...]] = field(default_factory=dict)
    _columns: dict[str, dict[str, tuple[int, ...]]] = field(default_factory=dict)

    def read(self, text: str, location: str) -> None:
        for line in dump_lines(text, location):
            if not line.text.strip():
                continue
            if header := HEADER.match(line.text):
                self._add_topic(header, line)
            elif row := _ROW.match(line.text):
                self._add_row(row, line)
            else:
                raise line.refuse(f"is no line of kafka-topics --describe: {excerpt(line.text.strip())}")

    def require_whole(self) -> None:
        counts: dict[str, int] = {}
        for topic, _ in self.rows:
            counts[topic] = counts.get(topic, 0) + 1
        for name, (count, line) in self._announced.items():
            if counts.get(name, 0) != count:
                raise line.refuse(
                    f"announces {count} partitions of {name}, {counts.get(name, 0)} follow", "the dump was cut short"
                )
            missing = next((number for number in range(count) if (name, number) not in self.rows), None)
            if missing is not None:
                raise line.refuse(f"partition {missing} of {name} is missing")

    def _add_topic(self, header: re.Match[str], line: Line) -> None:
        name = header["topic"]
        if name in self.topics or name in self.deleted:
            raise line.refuse(f"topic {name} is described twice")
        if fault := topic_name_fault(name):
            raise line.refuse(f"topic {excerpt(name)}", fault)
        if header["deleted"]:
            self.deleted.add(name)
            return
        configs = _configs(header["configs"] or "", line)
        self.topics[name] = Topic(name, header["id"], is_internal=name in INTERNAL_TOPICS, configs=configs)
        self._announced[name] = (whole_number(header["count"], line, "a number of partitions"), line)

    def _add_row(self, row: re.Match[str], line: Line) -> None:
        topic, partition = row["topic"], whole_number(row["partition"], line, "a partition")
        if topic in self.deleted or "MarkedForDeletion" in row["rest"]:
            self._skip_deleted(topic)
            return
        if topic not in self.topics:
            raise line.refuse(f"partition {partition} of {topic} has no header", "dump with --describe and no filter")
        if (topic, partition) in self.rows:
            raise line.refuse(f"{topic}-{partition} is described twice")
        replicas, isr = self._brokers(row["replicas"], line, "Replicas"), self._brokers(row["isr"], line, "Isr")
        leader = None if row["leader"] in ("none", "-1") else int(row["leader"])
        more = self._more(row["rest"], line)
        if leader is not None and leader not in replicas:
            raise line.refuse(f"leader {leader} is not among replicas {row['replicas']}")
        if isr != replicas and (stranger := sorted(set(isr) - set(replicas))):
            raise line.refuse(f"broker {stranger[0]} is in the ISR, but not among replicas {row['replicas']}")
        observers = tuple(broker for broker in more.get("Observers", ()) if broker in replicas)
        if observers:
            silent = set(more.get("Offline", ())) | (set(observers) - set(more.get("LiveObservers", observers)))
            self.observing |= set(observers) - silent
        self.rows[topic, partition] = Partition(
            topic=topic,
            partition=partition,
            replicas=replicas,
            leader=leader,
            isr=isr,
            # A reassignment may end between two requests of the tool.
            adding=tuple(
                adding_replica for adding_replica in more.get("Adding Replicas", ()) if adding_replica in replicas
            ),
            removing=tuple(
                removing_replica
                for removing_replica in more.get("Removing Replicas", ())
                if removing_replica in replicas
            ),
            offline=tuple(broker for broker in more.get("Offline", ()) if broker in replicas),
            observers=observers,
        )

    def _skip_deleted(self, topic: str) -> None:
        if topic in self.topics:  # header printed before the deletion
            del self.topics[topic], self._announced[topic]
            self.rows = {key: row for key, row in self.rows.items() if key[0] != topic}
        self.deleted.add(topic)

    def _brokers(self, text: str, line: Line, what: str) -> tuple[int, ...]:
        if text not in self._lists:
            self._lists[text] = broker_list(text, line, what)
        return self._lists[text]

    def _more(self, rest: str, line: Line) -> dict[str, tuple[int, ...]]:
        if rest not in self._columns:
            self._columns[rest] = _more_columns(rest, line)
        return self._columns[rest]


def _more_columns(rest: str, line: Line) -> dict[str, tuple[int, ...]]:
    columns: dict[str, tuple[int, ...]] = {}
    at = 0
    while rest[at:].strip():
        match = _MORE.match(rest, at)
        if match is None or match["label"] not in _LABELS:
            raise line.refuse(f"unknown column {excerpt(rest[at:].strip())}")
        columns[match["label"]] = () if match["brokers"] == "N/A" else broker_list(match["brokers"], line, "a column")
        at = match.end()
    return columns


def _configs(text: str, line: Line) -> dict[str, str]:
    """Values may hold commas and JSON."""
    text = text.strip()
    if not text:
        return {}
    begins = [match for match in _CONFIG.finditer(text) if match.start() == 0 or text[match.start() - 1] == ","]
    if not begins or begins[0].start() != 0:
        raise line.refuse(f"Configs are no list of name=value: {excerpt(text)}")
    ends = [match.start() - 1 for match in begins[1:]] + [len(text)]
    configs: dict[str, str] = {}
    for match, end in zip(begins, ends, strict=True):
        if match["name"] in configs:
            raise line.refuse(f"config {match['name']} stands twice")
        configs[match["name"]] = text[match.end() : end]
    return configs


def looks_like_topics(text: str) -> bool:
    return any(HEADER.match(line) or _ROW.match(line) for line in text.split("\n") if "Topic:" in line)


def refuse_empty(dump: TopicsDump, location: str) -> None:
    if not dump.rows and not dump.deleted:
        raise InvalidInputError.at(location, "holds no kafka-topics --describe dump", "it names topics and replicas")
