"""The verdict and its figures, the same in report, digest and terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_rebalance.amounts import bytes_in_words, seconds_in_words
from kafka_rebalance.render.needed import needed
from kafka_rebalance.render.uncovered import uncovered_words
from kafka_rebalance.snapshot.codec import read_gap

Document = Mapping[str, Any]
VERDICT_WORDS = {
    "rebalance": "Rebalance: a plan is ready",
    "nothing_to_do": "Nothing to do",
    "cannot_tell": "Cannot tell whether anything has to move",
    "infeasible": "Infeasible: no placement satisfies the hard rules",
    "not_fixable_by_moving": "Moving cannot fix this",
}


def size_in_words(size: Document) -> str:
    """``12 brokers in 3 racks, 150 topics, …``."""
    return (
        f"{size['brokers']:,} brokers in {size['racks']:,} racks, {size['topics']:,} topics, "
        f"{size['partitions']:,} partitions, {size['replicas']:,} replicas, {size['groups']:,} groups"
    )


def key_figures(plan: Document) -> list[dict[str, str]]:
    """The handful of numbers that decide whether to read on."""
    cost = plan["cost"]
    figures = [
        ("replicas moved", f"{cost['replica_moves']:,}"),
        ("copied", bytes_in_words(cost["bytes"])),
        ("leader changes", f"{cost['leader_changes']:,}"),
        ("at the throttle", seconds_in_words(cost["seconds"])),
    ]
    bound = next((proved for proved in plan["lower_bound"] if proved["cost"] == "bytes"), None)
    least = None if bound is None else needed("bytes", cost["bytes"], bound["value"])
    if least is not None:
        figures.append((least.of_what or "needed", least.value))
    return [{"name": name, "value": value} for name, value in figures]


def uncovered_by(advisory: Document) -> str:
    """What the verdict does not cover; empty where all was seen."""
    return uncovered_words(read_gap(gap, "coverage") for gap in advisory["coverage"])
