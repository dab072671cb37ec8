"""The frontier in rows and lines: what each evenness costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_rebalance.amounts import bytes_in_words, ratio_in_words
from kafka_rebalance.render import render_document
from kafka_rebalance.render.needed import needed_words

Document = Mapping[str, Any]


def frontier_rows(points: Sequence[Document]) -> list[dict[str, Any]]:
    """One row a point, in order of cost."""
    return [
        {
            "band": "none" if point["tolerance"] is None else f"±{100 * point['tolerance']:.1f} %",
            "bytes": bytes_in_words(point["bytes"]),
            "bound": bytes_in_words(point["lower_bound_bytes"]),
            "gap": needed_words("bytes", point["bytes"], point["lower_bound_bytes"]),
            "replica_moves": f"{point['replica_moves']:,}",
            "leader_changes": f"{point['leader_changes']:,}",
            "skew": _worst(point),
            "name": point["name"] or "",
            "is_recommended": point["is_recommended"],
            "reason": "; ".join(map(render_document, point["reasons"])),
        }
        for point in points
    ]


def frontier_lines(points: Sequence[Document]) -> list[str]:
    """The named points and the recommended one, a line each."""
    lines = []
    for point, row in zip(points, frontier_rows(points), strict=True):
        if point["name"] or point["is_recommended"]:
            title = " ".join(filter(None, (row["name"], "(this plan)" if point["is_recommended"] else "")))
            cost = f"{row['bytes']}, " if point["bytes"] is not None else ""
            lines.append(
                f"  {title:<20} {cost}{row['replica_moves']} replicas, {row['leader_changes']} leader changes: "
                f"worst {row['skew']}"
            )
    return lines


def _worst(point: Document) -> str:
    name = max(point["skew"], key=lambda resource: point["skew"][resource], default="")
    return f"{ratio_in_words(point['skew'][name])} ({name})" if name else ""
