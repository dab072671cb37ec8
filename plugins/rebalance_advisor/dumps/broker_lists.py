r"""Lists of live brokers of three tools, and ``brokers.csv``.

``kafka-broker-api-versions.sh`` prints a broker, then its APIs (``Node.toString``, with ``isFenced`` from 4.0):

    b1.example:9092 (id: 1 rack: r1 isFenced: false) -> (
    \tProduce(0): 0 to 11 [usable: 11],
    )
    b2.example:9092 (id: 2 rack: null) -> ERROR: org.apache.kafka.common.errors.DisconnectException

``kafka-cluster.sh list-endpoints`` from 4.0 (o.a.k.tools.ClusterTool); columns vary in width.

    ID         HOST       PORT       RACK  STATE      ENDPOINT_TYPE
    1          b1.example 9092       r1    unfenced   broker

ZooKeeper's ``get /brokers/ids/1`` is JSON of versions 1 to 5, with a rack from 3 (kafka/zk/ZkData.scala,
BrokerIdZNode); ``topic_znodes`` reads it and ``ls /brokers/ids``.

``brokers.csv`` has ``id,rack,host`` and optionally ``port`` and ``state``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kafka_assignors.visible_text import excerpt
from kafka_rebalance.snapshot.figures import LARGEST_PORT
from kafka_rebalance.snapshot.model import Broker, BrokerState
from rebalance_advisor.dumps.text_lines import Line, csv_rows, dump_lines, whole_number

_NODE = re.compile(
    r"\s*(?P<host>\S*):(?P<port>-?\d+) \(id: (?P<id>-?\d+) rack: (?P<rack>.*?)(?: isFenced: (?P<fenced>true|false))?\)"
    r" -> (?P<answer>.*)$"
)
_ENDPOINT = re.compile(
    r"\s*(?P<id>\d+)\s+(?P<host>\S+)\s+(?P<port>\d+)\s+(?P<rack>\S.*?)\s+(?:(?P<state>fenced|unfenced)\s+)?"
    r"(?P<kind>broker|controller)\s*$"
)
_ENDPOINTS_HEADER = re.compile(r"\s*ID\s+HOST\s+PORT\s+RACK\s+(?:STATE\s+)?ENDPOINT_TYPE\s*$")
_API = re.compile(r"\s*(?:\)$|\w+\(-?\d+\): )")
_NO_RACK = "null"


@dataclass(slots=True)
class BrokerListing:
    """``is_whole``: one list has all brokers."""

    brokers: dict[int, Broker] = field(default_factory=dict)
    is_whole: bool = False

    def read(self, text: str, location: str) -> None:
        for line in dump_lines(text, location):
            if node := _NODE.match(line.text):
                self._add_node(node, line)
            elif endpoint := _ENDPOINT.match(line.text):
                self._add_endpoint(endpoint, line)
            elif line.text.strip() and not _ENDPOINTS_HEADER.match(line.text) and not _API.match(line.text):
                raise line.refuse(f"is no line of a list of brokers: {excerpt(line.text.strip())}")

    def add(self, broker: Broker) -> None:
        """A state other than alive has priority."""
        listed = self.brokers.get(broker.id, broker)
        self.brokers[broker.id] = replace(
            listed,
            rack=listed.rack or broker.rack,
            host=listed.host or broker.host,
            port=broker.port if listed.port is None else listed.port,
            state=listed.state if broker.state is BrokerState.ALIVE else broker.state,
        )

    def add_znode(self, broker: int, node: Mapping[str, Any], line: Line) -> None:
        """The node exists only during the broker's session."""
        host, port, rack = (node.get(name) for name in ("host", "port", "rack"))
        if not isinstance(host, str | None) or not isinstance(rack, str | None) or type(port) not in (int, type(None)):
            raise line.refuse("host and rack of a broker's znode are texts, its port a number")
        self.add(Broker(broker, rack=rack, host=host or None, port=port if port and 0 < port <= LARGEST_PORT else None))

    def _add_node(self, node: re.Match[str], line: Line) -> None:
        state = BrokerState.ALIVE
        if node["answer"].startswith("ERROR"):
            state = BrokerState.UNRESPONSIVE
        if node["fenced"] == "true":
            state = BrokerState.FENCED
        self._add_row(node, line, state)

    def _add_endpoint(self, endpoint: re.Match[str], line: Line) -> None:
        if endpoint["kind"] == "broker":
            self._add_row(endpoint, line, BrokerState.FENCED if endpoint["state"] == "fenced" else BrokerState.ALIVE)

    def _add_row(self, row: re.Match[str], line: Line, state: BrokerState) -> None:
        broker, port = whole_number(row["id"], line, "a broker id"), whole_number(row["port"], line, "a port", 65535)
        rack = None if row["rack"] == _NO_RACK else row["rack"].strip()
        self.add(Broker(broker, rack=rack, host=row["host"] or None, port=port, state=state))
        self.is_whole = True


def looks_like_listing(text: str) -> bool:
    return any(
        _NODE.match(line) or _ENDPOINTS_HEADER.match(line)
        for line in text.split("\n")
        if "(id: " in line or "ENDPOINT_TYPE" in line
    )


_STATES = {
    "alive": BrokerState.ALIVE,
    "new": BrokerState.NEW,
    "drain": BrokerState.DRAINING,
    "demoted": BrokerState.DEMOTED,
    "unresponsive": BrokerState.UNRESPONSIVE,
    "fenced": BrokerState.FENCED,
    "dead": BrokerState.DEAD,
}


@dataclass(frozen=True, slots=True)
class GivenBrokers:
    brokers: dict[int, Broker]
    stated: frozenset[int]


def read_brokers(text: str, location: str) -> GivenBrokers:
    brokers: dict[int, Broker] = {}
    stated = set()
    for line, cells in csv_rows(text, location, ("id",), ("rack", "host", "port", "state")):
        broker = whole_number(cells["id"], line, "a broker id")
        if broker in brokers:
            raise line.refuse(f"broker {broker} is listed twice")
        if cells["state"] and cells["state"] not in _STATES:
            raise line.refuse(f"unknown state {excerpt(cells['state'])}", f"known: {', '.join(_STATES)}")
        stated |= {broker} if cells["state"] else set()
        port = whole_number(cells["port"], line, "a port", 65535) if cells["port"] else None
        state = _STATES.get(cells["state"], BrokerState.ALIVE)
        brokers[broker] = Broker(broker, rack=cells["rack"] or None, host=cells["host"] or None, port=port, state=state)
    return GivenBrokers(brokers, frozenset(stated))


def looks_like_brokers(text: str) -> bool:
    names = {name.strip().lower() for name in text.lstrip().split("\n", 1)[0].split(",")}
    return "id" in names and bool(names & {"rack", "host"})
