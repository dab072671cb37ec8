"""Which broker a series is of: by an id, by the host that the broker advertises, or by the number at a pod's end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from kafka_rebalance.snapshot.model import Broker

_POD = re.compile(r"[a-z0-9.-]*[a-z][a-z0-9.-]*-(\d+)")


def broker_of_value(brokers: Iterable[Broker], given: Mapping[str, int]) -> Callable[[str], int | None]:
    """Label value → broker id; None for one that tells no broker, or more than one.

    In this order: what was given by name, the id itself, the host (with or without a port), a pod's last number.
    """
    known = list(brokers)
    ids = {broker.id for broker in known}
    hosts = Counter(broker.host for broker in known if broker.host)
    by_host = {broker.host: broker.id for broker in known if broker.host and hosts[broker.host] == 1}

    def broker(value: str) -> int | None:
        if value in given:
            return given[value]
        if value.isdecimal() and int(value) in ids:
            return int(value)
        host = value.rpartition(":")[0] or value if value.rpartition(":")[2].isdecimal() else value
        if host in by_host:
            return by_host[host]
        pod = _POD.fullmatch(host.partition(".")[0])
        return int(pod[1]) if pod is not None and int(pod[1]) in ids and host not in hosts else None

    return broker


def label_of(labels: Iterable[Mapping[str, str]], wanted: Sequence[str], broker: Callable[[str], int | None]) -> str:
    """The first of the ``wanted`` labels that tells a broker in some series; the last one where none does."""
    seen = list(labels)
    for name in wanted:
        if any(name in series and broker(series[name]) is not None for series in seen):
            return name
    return wanted[-1]
