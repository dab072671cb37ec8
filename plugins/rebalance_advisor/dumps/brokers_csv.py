"""``brokers.csv``: the brokers of the cluster with their racks, as one table.

``id,rack,host`` and, where wanted, ``port`` and ``state``. An empty rack is none. An empty state says nothing: whether
the broker is alive is then read from the other dumps.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafka_rebalance.snapshot.model import Broker, BrokerState
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.dumps.files.csv_rows import csv_rows
from rebalance_advisor.dumps.files.dump_lines import whole_number

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
    """Brokers by id; ``stated``: those whose row says their state."""

    brokers: dict[int, Broker]
    stated: frozenset[int]


def read_brokers(text: str, place: str) -> GivenBrokers:
    """The rows of the table. Raises InvalidInputError with file, line and reason."""
    brokers: dict[int, Broker] = {}
    stated = set()
    for line, cells in csv_rows(text, place, ("id",), ("rack", "host", "port", "state")):
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
    """The header has ``id`` and ``rack`` or ``host``."""
    names = {name.strip().lower() for name in text.lstrip().split("\n", 1)[0].split(",")}
    return "id" in names and bool(names & {"rack", "host"})
