"""Kafka's reassignment JSON → snapshot: placement only. Nothing is measured: loads stay unknown, never zero.

Read as ``kafka-reassign-partitions`` takes it (``{"version": 1, "partitions": [...]}``), or as ``--generate`` and
``--execute`` print it: then the block under "Current partition replica assignment" counts.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.facts import FactCode, fact
from kafka_rebalance.snapshot.model import Broker, ClusterSnapshot, CoverageGap, Topic
from rebalance_advisor.dumps.input_file import parse_json
from rebalance_advisor.dumps.placement_rows import read_placement_rows

CURRENT_TITLE = "Current partition replica assignment"
_NEXT_TITLES = ("Proposed partition reassignment configuration", "Save this to use as the")
_NARROWEST_TERMINAL = 40
# ``log_dirs`` is read over: Kafka's own documents print fewer of them than replicas.
_ROW_FIELDS = frozenset(("topic", "partition", "replicas", "log_dirs"))
_NOT_IN_THE_FILE = (
    FactCode.LACKS_SIZES, FactCode.LACKS_RATES, FactCode.LACKS_RACKS, FactCode.LACKS_GROUPS,
)  # fmt: skip


def is_reassignment(document: Any) -> bool:
    """A JSON object with partitions and no brokers, as Kafka's tool reads it."""
    return isinstance(document, dict) and "partitions" in document and "brokers" not in document


def read_reassignment(document: dict[str, Any], place: str, cluster: str) -> ClusterSnapshot:
    """The snapshot of a reassignment: its brokers are those of the replica lists, leaders the first replicas.

    Raises InvalidInputError with the JSON path: another version, an unknown field, a partition twice, a replica list
    that is empty or names a broker twice.
    """
    version = document.get("version", 1)
    if type(version) is not int or version != 1:
        raise InvalidInputError.at(
            f"{place}.version", f"{excerpt(version)} is unknown", "Kafka's reassignment format is 1"
        )
    unknown = sorted(document.keys() - {"version", "partitions"})
    if unknown:
        raise InvalidInputError.at(place, f"unknown field {excerpt(unknown[0])}", "known: partitions, version")
    placement = read_placement_rows(document["partitions"], f"{place}.partitions", _ROW_FIELDS)
    return ClusterSnapshot(
        cluster=cluster,
        brokers=tuple(Broker(int(broker)) for broker in np.unique(placement.table.replicas)),
        topics=tuple(Topic(name) for name in placement.topics),
        partitions=placement.table,
        source="reassignment",
        coverage=tuple(
            CoverageGap(
                "cluster",
                cluster,
                fact(what),
                fact(FactCode.NOT_IN_REASSIGNMENT, is_of_ids=what is FactCode.LACKS_RACKS),
            )
            for what in _NOT_IN_THE_FILE
        ),
    )


def current_assignment(text: str, place: str) -> Any:
    """The JSON value of the current assignment in what ``--generate`` or ``--execute`` printed.

    A terminal that wrapped the JSON at its width is undone: every line but the last is then equally long.
    """
    lines = [line.rstrip("\r") for line in text.split("\n")]
    title = next((number for number, line in enumerate(lines) if line.strip() == CURRENT_TITLE), None)
    if title is None:
        raise InvalidInputError.at(f"{place}:1", f"no line says {CURRENT_TITLE!r} and nothing else")
    end = next(
        (number for number in range(title + 1, len(lines)) if lines[number].strip().startswith(_NEXT_TITLES)),
        len(lines),
    )
    begin = next((number for number in range(title + 1, end) if lines[number].lstrip().startswith("{")), None)
    if begin is None:
        raise InvalidInputError.at(f"{place}:{title + 1}", f"no JSON stands under {CURRENT_TITLE!r}")
    block = lines[begin:end]
    while not block[-1].strip():
        block.pop()
    widths = [len(line) for line in block]
    is_even = all(a == b for a, b in pairwise(widths[:-1])) and widths[-1] <= widths[0]
    is_wrapped = len(block) > 1 and is_even and widths[0] >= _NARROWEST_TERMINAL
    return parse_json(("" if is_wrapped else "\n").join(block), place, begin + 1)
