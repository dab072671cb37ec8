"""Skew against cost: what less, or more, balance would cost, and the line that nobody gets to the left of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_rebalance.amounts import bytes_in_words
from rebalance_advisor.publish.charts.drawing import Specification, data_of, look
from rebalance_advisor.publish.charts.palette import light

Document = Mapping[str, Any]
AXES = {"bytes": "copied", "replica_moves": "replicas moved", "leader_changes": "leaders changed"}
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_WIDTH, _HEIGHT = 620, 220


def cost_axis(points: Sequence[Document]) -> str:
    """The cost that the chart is drawn over: bytes, or where none are known or copied what else changes."""
    return next((name for name in AXES if points[-1][name]), "leader_changes")


def frontier_chart(points: Sequence[Document]) -> Specification | None:
    """Vega-Lite of one frontier, None without points. Dashed: the proven bound; the large dot is the plan."""
    if not points:
        return None
    import altair as alt

    axis = cost_axis(points)
    scale, unit = _scale(max(float(point[axis]) for point in points)) if axis == "bytes" else (1.0, "")
    rows = [_row(point, axis, scale) for point in points]
    across = alt.X("cost:Q", title=f"{AXES[axis]}{f' ({unit})' if unit else ''}", scale=alt.Scale(zero=True))
    up = alt.Y("skew:Q", title="highest over mean, worst resource", scale=alt.Scale(zero=False))
    base = alt.Chart(data_of(rows))
    order = alt.Order("cost:Q")
    line = base.mark_line(color=light("after"), strokeWidth=1.5).encode(x=across, y=up, order=order)
    dots = base.mark_circle(color=light("after"), opacity=1).encode(
        x=across, y=up, size=alt.Size("size:Q", scale=None, legend=None)
    )
    labelled = base.transform_filter("datum.label != ''")
    names = [
        labelled.transform_filter(f"datum.align == '{align}'")
        .mark_text(align=align, dx=8 if align == "left" else -8, dy=-9, color=light("ink"))
        .encode(x=across, y=up, text="label:N")
        for align in ("left", "right")
    ]
    layers = [line, dots, *names]
    if axis == "bytes":
        proven = alt.Chart(data_of([row for row in rows if row["bound"] is not None]))
        layers.insert(
            0,
            proven.mark_line(color=light("bound"), strokeDash=[5, 3]).encode(
                x=alt.X("bound:Q"), y=up, order=alt.Order("bound:Q")
            ),
        )
    chart = alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT)
    return dict(chart.to_dict(validate=False)) | {"config": look()}


def frontier_label(points: Sequence[Document]) -> str:
    """What the chart shows, in one sentence for who cannot see it."""
    first, last, axis = points[0], points[-1], cost_axis(points)
    amount = bytes_in_words if axis == "bytes" else lambda value: f"{value:,.0f}"
    return (
        f"{len(points)} plans from {amount(first[axis])} {AXES[axis]} at {_worst(first):.2f} times the mean "
        f"to {amount(last[axis])} at {_worst(last):.2f} times"
    )


def _row(point: Document, axis: str, scale: float) -> dict[str, Any]:
    label = "this plan" if point["is_recommended"] else point["name"] or ""
    if point["is_recommended"] and point["name"]:
        label = f"{point['name']}: this plan"
    bound = point["lower_bound_bytes"]
    return {
        "cost": float(point[axis]) / scale,
        "bound": None if bound is None or axis != "bytes" else bound / scale,
        "skew": _worst(point),
        "label": label,
        "align": "right" if point["name"] == "even" else "left",
        "size": 150 if point["is_recommended"] else 45,
    }


def _worst(point: Document) -> float:
    return max(point["skew"].values(), default=1.0)


def _scale(most: float) -> tuple[float, str]:
    power = 0
    while most >= 1024 ** (power + 1) and power < len(_UNITS) - 1:
        power += 1
    return float(1024**power), _UNITS[power]
