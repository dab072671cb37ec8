"""ZooKeeper nodes, as ``get /brokers/topics/orders`` prints them.

    {"version":3,"topic_id":"DU8c…","partitions":{"0":[1,2],"1":[2,1]},"adding_replicas":{},"removing_replicas":{}}

Versions 1 to 3, from zkCli or zookeeper-shell. The topic is that of the ``get`` above, else the file's name. Leader and
ISR are in other nodes (``…/partitions/0/state``). Without them the first replica counts as leader, the ISR is unknown,
and both are gaps. ``ls /brokers/ids`` lists live brokers as ``[0, 1]``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.model import Broker, CoverageGap, Partition, Topic
from rebalance_advisor.dumps.broker_lists import BrokerListing
from rebalance_advisor.dumps.input_file import brace_depth, parse_json
from rebalance_advisor.dumps.text_lines import LARGEST_ID, Command, Line, lines_and_commands
from rebalance_advisor.dumps.topics_dump import INTERNAL_TOPICS, TopicsDump

_TOPIC_NODE = re.compile(r'"partitions"\s*:\s*\{')
_BROKER_NODE = re.compile(r'"(?:endpoints|jmx_port)"\s*:')
_STATE_NODE = re.compile(r'"controller_epoch"\s*:.*"isr"\s*:|"isr"\s*:.*"controller_epoch"\s*:', re.DOTALL)
_GET = re.compile(
    r"(?:^|[\s\"'])get\s+(?:-\w\s+)*(?:/\S+)?/brokers/topics/(?P<topic>[\w.-]+)(?:/partitions/(?P<partition>\d{1,9})/state)?(?=[\s\"']|$)"
)
_BROKER_GET = re.compile(r"(?:^|[\s\"'])get\s+(?:-\w\s+)*(?:/\S+)?/brokers/ids/(?P<broker>\d{1,9})(?=[\s\"']|$)")
_LIST_IDS = re.compile(r"(?:^|[\s\"'])ls2?\s+(?:-\w\s+)*(?:/\S+)?/brokers/ids/?(?=[\s\"']|$)")
_IDS = re.compile(r"\s*\[(?P<ids>(?:\d{1,9}(?:, *\d{1,9})*)?)\]\s*$")
_PROSE = re.compile(
    r"\s*(?:[cmp](?:Zxid|time) = |(?:cv|dataV|aclV)ersion = |ephemeralOwner = |dataLength = |numChildren = "
    r"|Connecting to |WATCHER::$|WatchedEvent |Welcome to ZooKeeper|JLine support is |\[[\w., -]*\]$)"
)
_ABSENT = re.compile(
    r"\s*(?:Node does not exist|org\.apache\.zookeeper\S+NoNodeException\b.*): \S*/topics/(?P<topic>[\w.-]+)"
)
_TOPIC_FIELDS = frozenset(("version", "partitions", "topic_id", "adding_replicas", "removing_replicas"))
_STATE_FIELDS = frozenset(("version", "leader", "isr", "controller_epoch", "leader_epoch", "leader_recovery_state"))
_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
_ENDINGS = (".gz", ".json", ".txt", ".out", ".log")


@dataclass(slots=True)
class TopicZnodes:
    topics: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)  # name → place, node
    states: dict[tuple[str, int], tuple[str, dict[str, Any]]] = field(default_factory=dict)
    gaps: list[CoverageGap] = field(default_factory=list)
    brokers: BrokerListing = field(default_factory=BrokerListing)

    def read(self, text: str, location: str) -> None:
        command: Command | None = None
        block: list[str] = []
        begin, depth = Line(location, ""), 0
        for line in lines_and_commands(text, location):
            if isinstance(line, Command):
                command = line
                continue
            if depth == 0 and not line.text.lstrip().startswith("{"):
                self._read_prose(line, command)
                continue
            if depth == 0:
                begin, block = line, []
            block.append(line.text)
            depth += brace_depth(line.text)
            if depth == 0:
                self._add("\n".join(block), begin, command, location)
                command = None
        if depth:
            raise begin.refuse("begins a JSON object that does not end", "the dump was cut short")

    def add_to(self, dump: TopicsDump) -> None:
        """Add rows to an empty ``dump``: the ISR is known for all partitions or for none."""
        locations = [location for location, _ in (*self.topics.values(), *self.states.values())]
        if dump.topics and locations:
            location = locations[0]
            raise InvalidInputError.at(
                location, "is a topic's znode beside a kafka-topics dump", "leave one of them out"
            )
        partitions = {
            (name, int(partition)) for name, (_, node) in self.topics.items() for partition in node["partitions"]
        }
        has_states = partitions <= self.states.keys()
        for (name, number), (location, _) in self.states.items():
            if (name, number) not in partitions:
                raise InvalidInputError.at(location, f"is the state of {name}-{number}, which no topic's znode holds")
        for name in sorted(self.topics):
            self._add_topic(name, dump, is_isr_known=has_states)
        if self.topics and not has_states:
            reason = fact(FactCode.ZNODES_WITHOUT_STATES)
            self.gaps.append(CoverageGap("cluster", "", fact(FactCode.LACKS_LEADERS), reason))

    def _read_prose(self, line: Line, command: Command | None) -> None:
        ids = _IDS.match(line.text)
        # Without a command, a bare list of numbers is one of brokers.
        if ids and (_LIST_IDS.search(command.text) if command else ids["ids"]):
            self.brokers.is_whole = True
            for broker in ids["ids"].split(",") if ids["ids"] else ():
                self.brokers.add(Broker(int(broker)))
        elif absent := _ABSENT.match(line.text):
            what, reason = fact(FactCode.LACKS_DESCRIPTION), fact(FactCode.ZNODE_MISSING)
            self.gaps.append(CoverageGap("topic", absent["topic"], what, reason))
        elif line.text.strip() and not _PROSE.match(line.text):
            raise line.refuse(f"is no line of a ZooKeeper shell: {excerpt(line.text.strip())}")

    def _add(self, text: str, begin: Line, command: Command | None, location: str) -> None:
        file, _, number = begin.location.rpartition(":")
        node = parse_json(text, file, int(number))
        if "endpoints" in node or "jmx_port" in node:
            self._add_broker(node, begin, command, location)
            return
        path = _GET.search(command.text) if command else None
        if "partitions" in node:
            name = path["topic"] if path else _topic_in_name(location, begin)
            if name in self.topics:
                raise begin.refuse(f"topic {name} stands twice", f"first in {self.topics[name][0]}")
            _check_topic(node, begin)
            self.topics[name] = (begin.location, node)
            return
        if path is None or path["partition"] is None:
            raise begin.refuse("is JSON, but no znode of a topic", "keep the line with get /brokers/topics/… above it")
        key = (path["topic"], int(path["partition"]))
        if key in self.states:
            raise begin.refuse(f"the state of {key[0]}-{key[1]} stands twice")
        _check_state(node, begin)
        self.states[key] = (begin.location, node)

    def _add_broker(self, node: Mapping[str, Any], begin: Line, command: Command | None, location: str) -> None:
        path = _BROKER_GET.search(command.text) if command else None
        broker = path["broker"] if path else _name_of_file(location)
        if not (broker.isascii() and broker.isdigit() and len(broker) <= 9):
            raise begin.refuse(
                "is a broker's znode, and no get /brokers/ids/… is above it", "keep that line, or name the file so"
            )
        self.brokers.add_znode(int(broker), node, begin)

    def _add_topic(self, name: str, dump: TopicsDump, *, is_isr_known: bool) -> None:
        location, node = self.topics[name]
        dump.topics[name] = Topic(name, node.get("topic_id"), is_internal=name in INTERNAL_TOPICS)
        adding, removing = node.get("adding_replicas") or {}, node.get("removing_replicas") or {}
        for number in sorted(map(int, node["partitions"])):
            replicas = tuple(node["partitions"][str(number)])
            leader, isr = replicas[0], None
            if (name, number) in self.states:
                leader, isr = _leader_and_isr(replicas, *self.states[name, number])
            dump.rows[name, number] = Partition(
                topic=name,
                partition=number,
                replicas=replicas,
                leader=leader,
                isr=isr if is_isr_known else None,
                adding=_part_of(replicas, adding.get(str(number), []), location, "adding_replicas"),
                removing=_part_of(replicas, removing.get(str(number), []), location, "removing_replicas"),
            )


def looks_like_znodes(text: str) -> bool:
    """``partitions`` is an object (a list in reassignments), or it is another known node."""
    if '"partitions"' in text and _TOPIC_NODE.search(text):
        return True
    if _BROKER_NODE.search(text) or any(_IDS.match(line) for line in text.split("\n") if line.lstrip()[:1] == "["):
        return True
    return '"controller_epoch"' in text and _STATE_NODE.search(text) is not None


def _name_of_file(location: str) -> str:
    name = PurePosixPath(location).name
    while name.lower().endswith(_ENDINGS):
        name = name[: name.rindex(".")]
    return name


def _topic_in_name(location: str, line: Line) -> str:
    name = _name_of_file(location)
    if not _NAME.fullmatch(name):
        raise line.refuse(
            f"no get /brokers/topics/… is above it, and {excerpt(name)} is no topic's name", "name the file so"
        )
    return name


def _check_topic(node: Mapping[str, Any], line: Line) -> None:
    _check_fields(node, _TOPIC_FIELDS, line)
    if type(node.get("version")) is not int or not 1 <= node["version"] <= 3:
        raise line.refuse(f"version {excerpt(node.get('version'))} is unknown", "a topic's znode has 1, 2 or 3")
    if not isinstance(node.get("topic_id", ""), str):
        raise line.refuse(f"topic_id is no text: {excerpt(node['topic_id'])}")
    for name in ("partitions", "adding_replicas", "removing_replicas"):
        lists = node.get(name, {})
        if not isinstance(lists, dict):
            raise line.refuse(f"{name} is no object: {excerpt(str(lists))}")
        for number, brokers in lists.items():
            if not (number.isascii() and number.isdigit() and len(number) <= 9 and str(int(number)) == number):
                raise line.refuse(f"expected a partition in {name}, found {excerpt(number)}")
            _check_brokers(brokers, f"{name} of partition {number}", line, may_be_empty=name != "partitions")
    numbers = set(map(int, node["partitions"]))
    if not numbers:
        raise line.refuse("holds no partitions")
    if missing := set(range(len(numbers))) - numbers:
        raise line.refuse(f"partition {min(missing)} is missing")


def _check_state(node: Mapping[str, Any], line: Line) -> None:
    _check_fields(node, _STATE_FIELDS, line)
    leader = node.get("leader")
    if type(leader) is not int or not -1 <= leader <= LARGEST_ID:
        raise line.refuse(f"expected a broker id or -1 as leader, found {excerpt(leader)}")
    _check_brokers(node.get("isr"), "isr", line, may_be_empty=True)


def _check_fields(node: Mapping[str, Any], allowed_fields: frozenset[str], line: Line) -> None:
    if unknown := sorted(node.keys() - allowed_fields):
        raise line.refuse(f"unknown field {excerpt(unknown[0])}", f"known: {', '.join(sorted(allowed_fields))}")


def _check_brokers(brokers: Any, what: str, line: Line, *, may_be_empty: bool) -> None:
    if not isinstance(brokers, list) or any(
        type(broker) is not int or not 0 <= broker <= LARGEST_ID for broker in brokers
    ):
        raise line.refuse(f"{what} is no list of broker ids: {excerpt(str(brokers))}")
    if not brokers and not may_be_empty:
        raise line.refuse(f"{what} is empty")
    if len(set(brokers)) != len(brokers):
        raise line.refuse(f"a broker stands twice in {what}: {brokers}")


def _leader_and_isr(
    replicas: tuple[int, ...], location: str, state: Mapping[str, Any]
) -> tuple[int | None, tuple[int, ...]]:
    leader, isr = int(state["leader"]), tuple(state["isr"])
    if strangers := sorted({*isr, *({leader} - {-1})} - set(replicas)):
        raise InvalidInputError.at(location, f"broker {strangers[0]} leads or is in sync, but is not among {replicas}")
    return (None if leader == -1 else leader), isr


def _part_of(replicas: tuple[int, ...], brokers: list[int], location: str, what: str) -> tuple[int, ...]:
    if strangers := sorted(set(brokers) - set(replicas)):
        raise InvalidInputError.at(location, f"broker {strangers[0]} of {what} is not among the replicas {replicas}")
    return tuple(brokers)
