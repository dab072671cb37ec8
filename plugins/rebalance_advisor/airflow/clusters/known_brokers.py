"""The brokers of a cluster's last reading, in a small file: what the form lets people choose from.

Reading a DAG file must be quick and must never fail, so it asks no database and no cluster: who collects leaves the
file beside the published folders, and where none can be read the form has a field to be filled in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from rebalance_advisor.airflow.publishing.places import publish_root

_MOST_BYTES = 2**20


def brokers_file(cluster: str) -> Path:
    """Where they stand; names of clusters hold no dot, so no folder of theirs is called so."""
    return publish_root() / f"{cluster}.brokers.json"


def remember_brokers(cluster: str, racks: Iterable[tuple[int, str | None]]) -> None:
    """Write them down, id and rack; untouched where they are the same. Raises OSError where that cannot be."""
    from rebalance_advisor.publish.folders.whole_file import replace_file

    known = tuple(sorted(racks, key=lambda broker: broker[0]))
    if known == known_brokers(cluster):
        return
    file = brokers_file(cluster)
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_file(file, json.dumps(known).encode())


def known_brokers(cluster: str) -> tuple[tuple[int, str | None], ...]:
    """Id and rack of each, by id; none where nobody wrote them down, or what is there cannot be read."""
    try:
        with brokers_file(cluster).open("rb") as stream:
            found = json.loads(stream.read(_MOST_BYTES))
        return tuple((int(broker), None if rack is None else str(rack)) for broker, rack in found)
    except (OSError, ValueError, TypeError, RecursionError):
        return ()
