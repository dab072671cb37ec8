"""Brokers before and after, one resource a chart, as multiples of the mean, in the band that the plan meets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rebalance_advisor.publish.charts.drawing import Specification, data_of, look
from rebalance_advisor.publish.charts.palette import light

Document = Mapping[str, Any]
MOST_BROKERS = 24
_WIDTH, _STEP = 560, 17


def broker_rows(plan: Document, outcome: Document) -> list[dict[str, Any]]:
    """One row a broker: level before and after over the plain mean, those furthest from it first by either.

    At most ``MOST_BROKERS``, in the order of their ids; what a broker without capacity could be is not known.
    """
    name, capacity, mean = outcome["resource"], outcome["capacity"], outcome["mean_level"]
    before, after = plan["before"][name], plan["after"][name]
    rows = []
    for broker in before:
        unit = 1.0 if capacity is None else capacity.get(broker, 1.0)
        scale = unit * mean if mean else 1.0
        rows.append(
            {
                "broker": broker,
                "before": before[broker] / scale,
                "after": after.get(broker, 0.0) / scale,
                "load_before": before[broker],
                "load_after": after.get(broker, 0.0),
            }
        )
    rows.sort(key=lambda row: (-max(abs(row["before"] - 1), abs(row["after"] - 1)), int(row["broker"])))
    return sorted(rows[:MOST_BROKERS], key=lambda row: int(row["broker"]))


def band_of(outcome: Document) -> tuple[float | None, float | None]:
    """The band that the plan meets: what was asked, or what that was widened to."""
    return tuple(
        asked if widened is None else widened
        for asked, widened in zip(outcome["band_asked"], outcome["widened_to"], strict=True)
    )


def broker_levels_chart(rows: Sequence[Document], band: tuple[float | None, float | None]) -> Specification:
    """Vega-Lite: an open circle for today, a filled one for afterwards, the band as a stripe behind."""
    import altair as alt

    brokers = [row["broker"] for row in rows]
    up = alt.Y("broker:N", sort=brokers, title="broker", axis=alt.Axis(grid=False))
    most = max((max(row["before"], row["after"]) for row in rows), default=1.0)
    scale = alt.Scale(domain=[0, max(1.2, most) * 1.03], nice=False)
    data = data_of(rows)
    low, high = band[0] or 0.0, band[1]
    layers: list[Any] = []
    if high is not None:
        stripe = alt.Chart(data_of([{"low": low, "high": high}]))
        layers.append(
            stripe.mark_rect(color=light("band"), opacity=1).encode(x=alt.X("low:Q", scale=scale), x2="high:Q")
        )
    across = alt.X("before:Q", title="multiples of the mean", scale=scale)
    base = alt.Chart(data)
    layers += [
        base.mark_rule(color=light("before")).encode(x=across, x2="after:Q", y=up),
        base.mark_point(color=light("before"), size=50, strokeWidth=1.5, opacity=1).encode(x=across, y=up),
        base.mark_circle(color=light("after"), size=60, opacity=1).encode(x=alt.X("after:Q", scale=scale), y=up),
    ]
    chart = alt.layer(*layers).properties(width=_WIDTH, height=alt.Step(_STEP))
    return dict(chart.to_dict(validate=False)) | {"config": look()}
