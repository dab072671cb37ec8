"""``brokers.csv``: the brokers of the cluster with their racks, which no tool of Kafka's prints as a table.

``id,rack,host`` and, where wanted, ``port`` and ``state`` (alive, new, drain, demoted). An empty rack is none.
"""

from __future__ import annotations

from kafka_rebalance.snapshot.model import Broker, BrokerState
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.dumps.files.csv_rows import csv_rows
from rebalance_advisor.dumps.files.dump_lines import whole_number

_STATES = {
    "": BrokerState.ALIVE,
    "alive": BrokerState.ALIVE,
    "new": BrokerState.NEW,
    "drain": BrokerState.DRAINING,
    "demoted": BrokerState.DEMOTED,
}


def read_brokers(text: str, place: str) -> dict[int, Broker]:
    """Brokers by id. Raises InvalidInputError with file, line and reason."""
    brokers: dict[int, Broker] = {}
    for line, cells in csv_rows(text, place, ("id",), ("rack", "host", "port", "state")):
        broker = whole_number(cells["id"], line, "a broker id")
        if broker in brokers:
            raise line.refuse(f"broker {broker} is listed twice")
        if cells["state"] not in _STATES:
            raise line.refuse(f"unknown state {excerpt(cells['state'])}", "known: alive, new, drain, demoted")
        port = whole_number(cells["port"], line, "a port", 65535) if cells["port"] else None
        state = _STATES[cells["state"]]
        brokers[broker] = Broker(broker, rack=cells["rack"] or None, host=cells["host"] or None, port=port, state=state)
    return brokers


def looks_like_brokers(text: str) -> bool:
    """The header has ``id`` and ``rack`` or ``host``."""
    names = {name.strip().lower() for name in text.lstrip().split("\n", 1)[0].split(",")}
    return "id" in names and bool(names & {"rack", "host"})
