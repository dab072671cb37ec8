"""The frontier as people read it: a table of what each evenness costs, and a small chart of skew against cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_rebalance.amounts import bytes_in_words, percent_in_words, ratio_in_words

Document = Mapping[str, Any]

WIDTH, HEIGHT, MARGIN = 640.0, 180.0, 12.0


def frontier_rows(points: Sequence[Document]) -> list[dict[str, Any]]:
    """One row a point, in order of cost."""
    return [
        {
            "band": "none" if point["tolerance"] is None else f"±{100 * point['tolerance']:.1f} %",
            "bytes": bytes_in_words(point["bytes"]),
            "bound": bytes_in_words(point["lower_bound_bytes"]),
            "gap": _gap(point),
            "replica_moves": f"{point['replica_moves']:,}",
            "leader_changes": f"{point['leader_changes']:,}",
            "skew": _worst(point),
            "name": point["name"] or "",
            "is_recommended": point["is_recommended"],
            "reason": point["reason"],
        }
        for point in points
    ]


def frontier_chart(points: Sequence[Document]) -> dict[str, Any] | None:
    """Coordinates in a box of WIDTH × HEIGHT: cost to the right, the worst resource's skew upwards.

    None without points. The second line is the bound: nobody gets to the left of it.
    """
    if not points:
        return None
    axis = next((name for name in ("bytes", "replica_moves", "leader_changes") if points[-1][name]), "leader_changes")
    most = max(float(point[axis]) for point in points) or 1.0
    skews = [max(point["skew"].values(), default=1.0) for point in points]
    top, bottom = max(skews), min(*skews, 1.0)
    spots = []
    for point, skew in zip(points, skews, strict=True):
        x, y = _x(float(point[axis]), most), _y(skew, bottom, top)
        spots.append({"x": x, "y": y, "name": point["name"] or "", "is_recommended": point["is_recommended"]})
    bound = ""
    if axis == "bytes":
        bound = " ".join(
            f"{_x(point['lower_bound_bytes'], most)},{spot['y']}" for point, spot in zip(points, spots, strict=True)
        )
    return {
        "width": f"{WIDTH:.0f}",
        "height": f"{HEIGHT:.0f}",
        "line": " ".join(f"{spot['x']},{spot['y']}" for spot in spots),
        "bound": bound,
        "spots": spots,
        "axis": {"bytes": "bytes copied", "replica_moves": "replicas moved"}.get(axis, "leaders changed"),
        "most": bytes_in_words(most) if axis == "bytes" else f"{most:,.0f}",
        "top": ratio_in_words(top),
        "bottom": ratio_in_words(bottom),
    }


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


def _gap(point: Document) -> str:
    amount, bound = point["bytes"], point["lower_bound_bytes"]
    if amount is None or bound is None or 0 == bound < amount:
        return ""
    return percent_in_words((amount - bound) / bound if amount > bound else 0.0)


def _x(value: float, most: float) -> str:
    return f"{MARGIN + (WIDTH - 2 * MARGIN) * value / most:.1f}"


def _y(skew: float, bottom: float, top: float) -> str:
    return f"{HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * (skew - bottom) / max(top - bottom, 1e-12):.1f}"
