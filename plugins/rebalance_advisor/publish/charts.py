from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from kafka_rebalance.amounts import counted, format_bytes
from rebalance_advisor.publish.plan_text import highest_skew


@dataclass(frozen=True, slots=True)
class Colour:
    """Light and dark, #rrggbb."""

    light: str
    dark: str


PALETTE = {
    "paper": Colour("#ffffff", "#12171e"),
    "panel": Colour("#f3f6f9", "#1b222c"),
    "ink": Colour("#1b2430", "#e6ebf1"),
    "quiet": Colour("#566374", "#9fadbd"),
    "line": Colour("#d9e0e8", "#313c4a"),
    "before": Colour("#7d8a99", "#8694a5"),
    "after": Colour("#1f5fa8", "#6aaeff"),
    "band": Colour("#dcebdf", "#1f3a29"),
    "bound": Colour("#8a5a00", "#e0aa4a"),
    "bad": Colour("#a4291c", "#ff8f80"),
    "warning": Colour("#8a5a00", "#e0aa4a"),
    "good": Colour("#226b3d", "#6fd08c"),
}


def page_colours(theme: str) -> str:
    return " ".join(f"--{name}: {getattr(colour, theme)};" for name, colour in PALETTE.items())


def chart_rules() -> str:
    turned = {colour.light: colour.dark for colour in PALETTE.values()}
    rules = [
        f'svg [{attribute}="{light}"] {{ {attribute}: {dark}; }}'
        for light, dark in turned.items()
        for attribute in ("fill", "stroke")
    ]
    return " ".join(rules)


def light(name: str) -> str:
    return PALETTE[name].light


Specification = Mapping[str, Any]
VEGA_LITE = "6.4"
FONT = "system-ui, sans-serif"
_VEGA_OF: dict[str, int] = {}  # process that started Vega


def look() -> dict[str, Any]:
    text_style = {"labelColor": light("quiet"), "titleColor": light("quiet"), "titleFontWeight": "normal"}
    return {
        "background": None,
        "font": FONT,
        "view": {"stroke": None},
        "axis": {**text_style, "gridColor": light("line"), "domainColor": light("line"), "tickColor": light("line")},
        "header": {**text_style, "labelFontWeight": "bold", "labelColor": light("ink")},
        "legend": text_style,
        "text": {"color": light("ink")},
    }


def data_of(rows: Sequence[Mapping[str, Any]]) -> Any:
    import altair as alt

    return alt.Data(values=list(rows))  # type: ignore[no-untyped-call]


def svg_of(specification: Specification, label: str) -> str:
    """``label`` is for screen readers; the SVG scales to its container."""
    drawn = _drawn(json.dumps(specification))
    size = re.match(r"<svg\b[^>]*>", drawn)
    if size is None:  # pragma: no cover - Vega writes one
        raise ValueError("Vega drew no <svg>")
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', size[0])
    width, height = (float(part) for part in box.groups()) if box else (640.0, 240.0)
    head = (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{_attribute(label)}" style="width: 100%; max-width: {width:g}px; height: auto">'
    )
    # Vega's roles would repeat each mark.
    inner = re.sub(r'\s(?:role|aria-[a-z]+)="[^"]*"', "", drawn[size.end() :])
    return head + inner


@lru_cache(maxsize=64)
def _drawn(specification: str) -> str:
    """A fork loses Vega's threads, so a forked process uses a child."""
    if os.getpid() == _VEGA_OF.setdefault("process", os.getpid()):
        import vl_convert

        return vl_convert.vegalite_to_svg(specification, vl_version=VEGA_LITE)
    program = (
        f"import sys, vl_convert as v; sys.stdout.write(v.vegalite_to_svg(sys.stdin.read(), vl_version={VEGA_LITE!r}))"
    )
    command = [sys.executable, "-c", program]
    return subprocess.run(command, input=specification, capture_output=True, text=True, check=True).stdout


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


Document = Mapping[str, Any]
MOST_BROKERS = 24
_LEVELS_WIDTH, _LEVELS_STEP = 560, 17


def broker_rows(plan: Document, outcome: Document) -> list[dict[str, Any]]:
    """Level / mean before and after of ``MOST_BROKERS`` with the largest deviation, by id."""
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
    return tuple(
        requested if widened is None else widened
        for requested, widened in zip(outcome["band_asked"], outcome["widened_to"], strict=True)
    )


def broker_levels_chart(rows: Sequence[Document], band: tuple[float | None, float | None]) -> Specification:
    """Open circle: today; filled: after the plan; stripe: band."""
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
    chart = alt.layer(*layers).properties(width=_LEVELS_WIDTH, height=alt.Step(_LEVELS_STEP))
    return dict(chart.to_dict(validate=False)) | {"config": look()}


AXES = {"bytes": "copied", "replica_moves": "replicas moved", "leader_changes": "leaders changed"}
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_WIDTH, _HEIGHT = 620, 220


def cost_axis(points: Sequence[Document]) -> str:
    """Bytes, or other changes when no bytes are known or copied."""
    return next((name for name in AXES if points[-1][name]), "leader_changes")


def frontier_chart(points: Sequence[Document], compared: Collection[str]) -> Specification | None:
    """Return None without points whose skew is known. Dashed: the lower bound; large dot: the plan."""
    points = _with_skew(points, compared)
    if not points:
        return None
    import altair as alt

    axis = cost_axis(points)
    scale, unit = _scale(max(float(point[axis]) for point in points)) if axis == "bytes" else (1.0, "")
    rows = [_row(point, axis, scale, compared) for point in points]
    across = alt.X("cost:Q", title=f"{AXES[axis]}{f' ({unit})' if unit else ''}", scale=alt.Scale(zero=True))
    up = alt.Y("skew:Q", title="highest over mean", scale=alt.Scale(zero=False))
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


def frontier_label(points: Sequence[Document], compared: Collection[str]) -> str:
    """Describe the chart in one sentence for screen readers; empty where there is none."""
    points = _with_skew(points, compared)
    if not points:
        return ""
    first, last, axis = points[0], points[-1], cost_axis(points)
    amount = format_bytes if axis == "bytes" else lambda value: f"{value:,.0f}"
    return (
        f"{counted(len(points), 'plan')} from {amount(first[axis])} {AXES[axis]} at {_skew(first, compared):.2f} times "
        f"the mean to {amount(last[axis])} at {_skew(last, compared):.2f} times"
    )


def _row(point: Document, axis: str, scale: float, compared: Collection[str]) -> dict[str, Any]:
    label = "this plan" if point["is_recommended"] else point["name"] or ""
    if point["is_recommended"] and point["name"]:
        label = f"{point['name']}: this plan"
    bound = point["lower_bound_bytes"]
    return {
        "cost": float(point[axis]) / scale,
        "bound": None if bound is None or axis != "bytes" else bound / scale,
        "skew": _skew(point, compared),
        "label": label,
        "align": "right" if point["name"] == "even" else "left",
        "size": 150 if point["is_recommended"] else 45,
    }


def _with_skew(points: Sequence[Document], compared: Collection[str]) -> list[Document]:
    return [point for point in points if highest_skew(point, compared) is not None]


def _skew(point: Document, compared: Collection[str]) -> float:
    highest = highest_skew(point, compared)
    assert highest is not None, "points without a known skew are not drawn"
    return highest[1]


def _scale(most: float) -> tuple[float, str]:
    power = 0
    while most >= 1024 ** (power + 1) and power < len(_UNITS) - 1:
        power += 1
    return float(1024**power), _UNITS[power]


_WAVES_WIDTH, _WAVES_STEP, _HOUR = 560, 20, 3600.0


def wave_times_chart(waves: Sequence[Document]) -> Specification | None:
    """None when no wave takes time or one's is unknown."""
    if any(wave["seconds"] is None for wave in waves) or not any(wave["seconds"] for wave in waves):
        return None
    import altair as alt

    total = sum(wave["seconds"] for wave in waves)
    unit, name = (60.0, "minutes") if total < 2 * _HOUR else (_HOUR, "hours")
    rows, start = [], 0.0
    for number, wave in enumerate(waves, start=1):
        end = start + wave["seconds"] / unit
        what = f"{counted(len(wave['moves']), 'partition')}, {format_bytes(wave['bytes'])}"
        rows.append({"wave": f"{number:02d}", "start": start, "end": end, "words": what})
        start = end
    up = alt.Y("wave:O", title="wave", axis=alt.Axis(grid=False))
    base = alt.Chart(data_of(rows))
    span = alt.Scale(domain=[0, start * 1.35], nice=False)
    bars = base.mark_bar(color=light("after"), height=11).encode(
        x=alt.X("start:Q", title=f"{name} from the start", scale=span), x2="end:Q", y=up
    )
    labels = base.mark_text(align="left", dx=6, color=light("quiet")).encode(
        x=alt.X("end:Q", scale=span), y=up, text="words:N"
    )
    chart = alt.layer(bars, labels).properties(width=_WAVES_WIDTH, height=alt.Step(_WAVES_STEP))
    return dict(chart.to_dict(validate=False)) | {"config": look()}
