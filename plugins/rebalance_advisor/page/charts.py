"""SVG pictures: strips (bars, stacked bars, lanes), line charts and grids (heat maps, matrices).

In this order:

1. An unknown value is never drawn as zero, but as a dashed, empty place with the words ``not known``.
2. Each figure is text: in the picture, or in the accessible name or tooltip of its part.
3. Names are escaped, their hidden characters written out.
4. Widths are percentages and texts keep their size: readable at 400 pixels.

``strip(Strip(parts=bar(30.0, Look.PLAIN, "30 GiB"), high=60.0, title="disk"))`` fills half of its width. Time and space
are linear in the parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from rebalance_advisor.publish.escape import html_value

if TYPE_CHECKING:
    from markupsafe import Markup

NOT_KNOWN = "not known"


class Look(StrEnum):
    """CSS class of a part; ``page.css`` has a light and a dark colour for each."""

    PLAIN = "plain"
    QUIET = "quiet-part"
    INSIDE = "inside"
    ABOVE = "above"
    FAR_ABOVE = "far-above"
    BELOW = "below"
    FULL = "full"
    ARRIVES = "arrives"
    LEAVES = "leaves"
    FIRST = "first"
    SECOND = "second"
    THIRD = "third"
    FOURTH = "fourth"
    FIFTH = "fifth"
    SIXTH = "sixth"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """``title``: tooltip; ``href``: link, or empty."""

    start: float
    end: float
    look: Look
    title: str
    href: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Line across a strip; ``is_dashed`` for a limit."""

    at: float
    title: str
    is_dashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """Without parts the value is unknown."""

    title: str
    parts: Sequence[Part] = ()
    ticks: Sequence[Tick] = ()
    low: float = 0.0
    high: float


def bar(value: float | None, look: Look, title: str) -> tuple[Part, ...]:
    return () if value is None else (Part(start=0.0, end=value, look=look, title=title),)


def stacked(pieces: Iterable[tuple[float, Look, str, str]], *, is_leftward: bool = False) -> tuple[Part, ...]:
    """``pieces``: (size, look, words, href), end to end."""
    parts, end = [], 0.0
    sign = -1.0 if is_leftward else 1.0
    for size, look, title, href in pieces:
        parts.append(
            Part(start=min(end, end + sign * size), end=max(end, end + sign * size), look=look, title=title, href=href)
        )
        end += sign * size
    return tuple(parts)


_STRIP_PX = 18
_LEAST_PERCENT = 0.5  # of the width: less is hidden by the gap between parts


def strip(drawn: Strip) -> Markup:
    inner = _join(_part(part, drawn) for part in drawn.parts) if drawn.parts else _unknown("0", "0", "100%", _STRIP_PX)
    inner += _join(_tick(tick, drawn) for tick in drawn.ticks)
    return _svg("strip", drawn.title, _STRIP_PX, inner, has_links=any(part.href for part in drawn.parts))


def _part(part: Part, of: Strip) -> Markup:
    start, end = _across(part.start, of.low, of.high), _across(part.end, of.low, of.high)
    wide = max(end - start, _LEAST_PERCENT)
    rect = _format(
        '<rect class="{}" x="{}%" y="2" width="{}%" height="14"><title>{}</title></rect>',
        part.look.value, _number(min(start, 100 - wide)), _number(wide), part.title,
    )  # fmt: skip
    return _linked(part.href, part.title, rect)


def _tick(tick: Tick, of: Strip) -> Markup:
    x = _number(_across(tick.at, of.low, of.high))
    look = "tick limit" if tick.is_dashed else "tick"
    template = '<line class="{}" x1="{}%" x2="{}%" y1="0" y2="18"><title>{}</title></line>'
    return _format(template, look, x, x, tick.title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """``is_marked`` makes it large."""

    x: float
    y: float
    title: str
    label: str = ""
    href: str = ""
    is_marked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """``is_dashed``: forecast or proved, not measured."""

    points: Sequence[Point]
    is_dashed: bool = False
    has_dots: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    y: float
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    x: float
    title: str
    label: str
    href: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChart:
    """``y_labels``, ``x_labels``: (value, text); ``band``: allowed range of y; ``top_px``, ``below_px``: room for
    moments and for ``x_labels``.
    """

    title: str
    lines: Sequence[Line]
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    x_labels: Sequence[tuple[float, str]] = ()
    y_labels: Sequence[tuple[float, str]] = ()
    levels: Sequence[Level] = ()
    moments: Sequence[Moment] = ()
    band: tuple[float, float] | None = None
    height_px: int = 170
    top_px: int = 16
    below_px: int = 20


_SIDE, _LABELLED_SIDE = 2.0, 11.0


def line_chart(chart: LineChart) -> Markup:
    if not any(line.points for line in chart.lines):
        return _svg("chart", chart.title, 40, _unknown("0", "0", "100%", 40))
    bottom = chart.height_px - chart.below_px
    inner = _band(chart, bottom) + _y_axis(chart, bottom) + _x_axis(chart)
    inner += _join(_level(level, chart, bottom) for level in chart.levels)
    inner += _join(_moment(moment, chart, bottom) for moment in chart.moments)
    inner += _join(_line(line, chart, bottom) for line in chart.lines)
    has_links = any(point.href for line in chart.lines for point in line.points)
    has_links = has_links or any(moment.href for moment in chart.moments)
    return _svg("chart", chart.title, chart.height_px, inner, has_links=has_links)


def _x(chart: LineChart, value: float) -> float:
    """Labels of y have the left side to themselves."""
    left = _LABELLED_SIDE if chart.y_labels else _SIDE
    return left + (100 - left - _SIDE) / 100 * _across(value, *chart.x_range)


def _y(chart: LineChart, value: float, bottom: int) -> float:
    return bottom - (bottom - chart.top_px) / 100 * _across(value, *chart.y_range)


def _band(chart: LineChart, bottom: int) -> Markup:
    if chart.band is None:
        return _join(())
    low, high = (_y(chart, edge, bottom) for edge in chart.band)
    template = '<rect class="band" x="0" y="{}" width="100%" height="{}"><title>the allowed range</title></rect>'
    return _format(template, _number(high), _number(max(low - high, 0)))


def _y_axis(chart: LineChart, bottom: int) -> Markup:
    template = '<line class="grid" x1="0" x2="100%" y1="{0}" y2="{0}"/><text class="axis" x="0" y="{1}">{2}</text>'
    drawn = []
    for value, label in chart.y_labels:
        y = _y(chart, value, bottom)
        drawn.append(_format(template, _number(y), _number(y - 3), label))
    return _join(drawn)


def _x_axis(chart: LineChart) -> Markup:
    template = '<text class="axis" text-anchor="{}" x="{}%" y="{}">{}</text>'
    return _join(
        _format(template, _anchor(x := _x(chart, value)), _number(x), chart.height_px - 5, label)
        for value, label in chart.x_labels
    )


def _anchor(x: float) -> str:
    return "start" if x < 12 else "end" if x > 88 else "middle"


def _level(level: Level, chart: LineChart, bottom: int) -> Markup:
    y = _y(chart, level.y, bottom)
    template = (
        '<line class="limit" x1="0" x2="100%" y1="{0}" y2="{0}"/>'
        '<text class="limit-words" text-anchor="end" x="100%" y="{1}">{2}</text>'
    )
    return _format(template, _number(y), _number(y - 3), level.title)


def _moment(moment: Moment, chart: LineChart, bottom: int) -> Markup:
    x = _x(chart, moment.x)
    template = (
        '<line class="moment" x1="{0}%" x2="{0}%" y1="{1}" y2="{2}"><title>{3}</title></line>'
        '<text class="moment-words" text-anchor="{4}" x="{0}%" y="11">{5}<title>{3}</title></text>'
    )
    drawn = _format(template, _number(x), chart.top_px, bottom, moment.title, _anchor(x), moment.label)
    return _linked(moment.href, moment.title, drawn)


def _line(line: Line, chart: LineChart, bottom: int) -> Markup:
    points = [(_x(chart, point.x), _y(chart, point.y, bottom)) for point in line.points]
    joined = " ".join(f"{_number(x)},{_number(y)}" for x, y in points)
    # Points cannot be percentages, so the line has its own drawing, stretched sideways.
    path = _format(
        '<svg x="0" y="0" width="100%" height="{0}" viewBox="0 0 100 {0}" preserveAspectRatio="none">'
        '<polyline class="{1}" vector-effect="non-scaling-stroke" points="{2}"/></svg>',
        chart.height_px, "line dashed" if line.is_dashed else "line", joined,
    )  # fmt: skip
    if not line.has_dots:
        return path
    return path + _join(_dot(point, x, y) for point, (x, y) in zip(line.points, points, strict=True))


def _dot(point: Point, x: float, y: float) -> Markup:
    dot = _format(
        '<circle class="dot" cx="{}%" cy="{}" r="{}"><title>{}</title></circle>',
        _number(x), _number(y), 7 if point.is_marked else 4, point.title,
    )  # fmt: skip
    if point.label:
        shift = {"start": 10, "middle": 0, "end": -10}[_anchor(x)]
        dot += _format(
            '<text class="label" text-anchor="{}" x="{}%" y="{}" dx="{}">{}</text>',
            _anchor(x), _number(x), _number(y - (4 if shift else 14)), shift, point.label,
        )  # fmt: skip
    return _linked(point.href, point.title, dot)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """``text`` None: not known."""

    text: str | None
    look: Look
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Several cells of a place are side by side (today, after the plan)."""

    label: str
    cells: Sequence[Sequence[Cell]]
    title: str
    href: str = ""
    heading: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A row with ``heading`` begins a group.

    ``label_share``: of the width, for labels. ``column_hrefs``: one link a column, or none at all.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Row]
    label_share: float = 0.16
    row_px: int = 22
    column_hrefs: Sequence[str] = ()


def grid(drawn: Grid) -> Markup:
    """A row is one link, so that the keyboard stops once a row."""
    first = 100 * drawn.label_share
    wide = (100 - first) / max(len(drawn.columns), 1)
    hrefs = drawn.column_hrefs or [""] * len(drawn.columns)
    heads = [
        _linked(
            href,
            name,
            _format('<text class="column" x="{}%" y="13">{}</text>', _number(first + wide * (n + 0.5)), name),
        )
        for n, (name, href) in enumerate(zip(drawn.columns, hrefs, strict=True))
    ]
    rows, top = [], 19
    for row in drawn.rows:
        if row.heading:
            rows.append(_format('<text class="heading" x="0" y="{}">{}</text>', top + 15, row.heading))
            top += 20
        rows.append(_row(row, top, first, wide, drawn.row_px))
        top += drawn.row_px
    has_links = any(row.href for row in drawn.rows) or any(hrefs)
    return _svg("chart", drawn.title, top + 2, _join(heads) + _join(rows), has_links=has_links)


def _row(row: Row, top: int, first: float, wide: float, height: int) -> Markup:
    label = _format('<text class="label" x="0" y="{}">{}</text>', top + height / 2 + 4, row.label)
    cells = [
        _cell(cell, first + wide * (column + n / len(column_cells)), wide / len(column_cells), top, height)
        for column, column_cells in enumerate(row.cells)
        for n, cell in enumerate(column_cells)
    ]
    return _linked(row.href, row.title, label + _join(cells))


def _cell(cell: Cell, left: float, wide: float, top: int, height: int) -> Markup:
    inner = 0.94 * wide
    rect = _format(
        '<g><title>{0}</title><rect class="{1}" x="{2}%" y="{3}" width="{4}%" height="{5}"/>',
        cell.title, "unknown" if cell.text is None else cell.look.value, _number(left + 0.03 * wide), top + 1,
        _number(inner), height - 2,
    )  # fmt: skip
    cell_text = NOT_KNOWN if cell.text is None else cell.text
    text = _format(
        '<text class="cell" x="{}%" y="{}">{}</text></g>',
        _number(left + wide / 2), _number(top + height / 2 + 4), cell_text,
    )  # fmt: skip
    return rect + text


def _unknown(x: str, y: str, width: str, height: int) -> Markup:
    template = (
        '<rect class="unknown" x="{}" y="{}" width="{}" height="{}"/><text class="words" x="6" y="{}">' + NOT_KNOWN
    )
    return _format(template + "</text>", x, y, width, height, height / 2 + 4)


def _svg(look: str, title: str, height: int, inner: Markup, *, has_links: bool = False) -> Markup:
    """Without links it is one image for screen readers."""
    template = '<svg class="{}" role="{}" aria-label="{}" width="100%" height="{}">{}</svg>'
    return _format(template, look, "group" if has_links else "img", title, height, inner)


def _linked(href: str, title: str, inner: Markup) -> Markup:
    return _format('<a href="{}" aria-label="{}">{}</a>', href, title, inner) if href else inner


def _across(value: float, low: float, high: float) -> float:
    share = (value - low) / (high - low) if high > low else 0.0
    return 100 * min(max(share if math.isfinite(share) else 0.0, 0.0), 1.0)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _format(template: str, *values: object) -> Markup:
    from markupsafe import Markup

    escaped = (value if isinstance(value, Markup) else html_value(value) for value in values)
    return Markup(template).format(*escaped)  # noqa: S704 (each template is a literal of this module)


def _join(parts: Iterable[Markup]) -> Markup:
    from markupsafe import Markup

    return Markup("").join(parts)
