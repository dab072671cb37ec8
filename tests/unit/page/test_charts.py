"""Pictures as SVG from facts: what is unknown, what is foreign, what is written, and where parts are."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from rebalance_advisor.page.charts import (
    NOT_KNOWN,
    Cell,
    Grid,
    Level,
    Line,
    LineChart,
    Look,
    Moment,
    Part,
    Point,
    Row,
    Strip,
    Tick,
    bar,
    grid,
    line_chart,
    stacked,
    strip,
)
from rebalance_advisor.page.rendering import style

HOSTILE = '"><script>alert(1)</script>\x1b'


def parsed(svg: str) -> ET.Element:
    """As XML, which a browser would not require and a broken tag would fail."""
    return ET.fromstring(svg)


def across(part: ET.Element) -> tuple[float, float]:
    return float(part.get("x", "").rstrip("%")), float(part.get("width", "").rstrip("%"))


def test_a_bar_is_as_long_as_its_value() -> None:
    svg = parsed(strip(Strip(parts=bar(30.0, Look.PLAIN, "30 GiB"), high=60.0, title="disk 30 GiB")))
    (part,) = svg.iter("rect")
    assert across(part) == (0.0, 50.0)
    assert part.find("title").text == "30 GiB"
    assert (svg.get("role"), svg.get("aria-label")) == ("img", "disk 30 GiB")


def test_pieces_are_stacked_to_either_side() -> None:
    pieces = [(2.0, Look.FIRST, "a", ""), (3.0, Look.SECOND, "b", "")]
    assert [(part.start, part.end) for part in stacked(pieces)] == [(0.0, 2.0), (2.0, 5.0)]
    assert [(part.start, part.end) for part in stacked(pieces, is_leftward=True)] == [(-2.0, 0.0), (-5.0, -2.0)]


@pytest.mark.parametrize("value", [-5.0, 200.0, float("inf"), float("nan")])
def test_nothing_is_drawn_outside_its_place(value: float) -> None:
    svg = parsed(
        strip(Strip(parts=bar(value, Look.PLAIN, "x"), ticks=[Tick(at=value, title="x")], high=100.0, title="x"))
    )
    start, width = across(next(svg.iter("rect")))
    assert 0 <= start <= 100
    assert 0 < width <= 100
    assert "nan" not in ET.tostring(svg, encoding="unicode")


def test_what_is_unknown_is_never_drawn_as_zero() -> None:
    unknown = Cell(text=None, look=Look.PLAIN, title="cpu: not known")
    pictures = [
        strip(Strip(parts=bar(None, Look.PLAIN, "x"), high=1.0, title="x")),
        line_chart(LineChart(title="x", lines=[Line(points=[])], x_range=(0, 1), y_range=(0, 1))),
        grid(Grid(title="x", columns=["cpu"], rows=[Row(label="1", cells=[[unknown]], title="broker 1")])),
    ]
    for svg in pictures:
        (rect,) = parsed(svg).iter("rect")
        assert rect.get("class") == "unknown"
        assert NOT_KNOWN in svg
        assert ">0" not in svg
    zero = strip(Strip(parts=bar(0.0, Look.PLAIN, "0 B"), high=1.0, title="x"))
    assert NOT_KNOWN not in zero
    assert "0 B" in zero


def test_names_are_text_wherever_they_are() -> None:
    cell = Cell(text=HOSTILE, look=Look.PLAIN, title=HOSTILE)
    point = Point(x=0.5, y=0.5, title=HOSTILE, label=HOSTILE, href=HOSTILE)
    moment = Moment(x=0.5, title=HOSTILE, label=HOSTILE, href=HOSTILE)
    row = Row(label=HOSTILE, cells=[[cell]], title=HOSTILE, href=HOSTILE, heading=HOSTILE)
    parts = (*bar(1.0, Look.PLAIN, HOSTILE), *stacked([(1.0, Look.PLAIN, HOSTILE, HOSTILE)]))
    pictures = [
        strip(Strip(parts=parts, ticks=[Tick(at=1, title=HOSTILE)], high=1.0, title=HOSTILE)),
        line_chart(
            LineChart(
                title=HOSTILE, lines=[Line(points=[point])], x_range=(0, 1), y_range=(0, 1), x_labels=[(0, HOSTILE)],
                y_labels=[(0, HOSTILE)], levels=[Level(y=1, title=HOSTILE)], moments=[moment],
            )
        ),
        grid(Grid(title=HOSTILE, columns=[HOSTILE], rows=[row], column_hrefs=[HOSTILE])),
    ]  # fmt: skip
    for svg in pictures:
        assert "<script" not in svg
        assert "\x1b" not in svg
        assert not list(parsed(svg).iter("script"))


def test_a_picture_with_links_is_a_group_and_each_link_has_a_name() -> None:
    row = Row(
        label="9", cells=[[Cell(text="1.68", look=Look.FULL, title="disk")]], title="broker 9", href="/b?id=9&x=1"
    )
    svg = parsed(grid(Grid(title="x", columns=["disk"], rows=[row])))
    assert svg.get("role") == "group"
    (link,) = svg.iter("a")
    assert (link.get("href"), link.get("aria-label")) == ("/b?id=9&x=1", "broker 9")
    assert "1.68" in "".join(link.itertext())


def test_cells_of_one_place_share_its_width() -> None:
    two = [Cell(text=text, look=Look.PLAIN, title="x") for text in ("1.6", "1.1")]
    single = Cell(text="1.0", look=Look.PLAIN, title="x")
    svg = parsed(grid(Grid(title="x", columns=["disk", "in"], rows=[Row(label="9", cells=[two, [single]], title="9")])))
    places = [across(part) for part in svg.iter("rect")]
    assert places[0][1] == places[1][1] == pytest.approx(places[2][1] / 2, abs=0.01)
    assert [start for start, _ in places] == sorted(start for start, _ in places)


def test_a_line_has_its_points_in_order_inside_the_axes() -> None:
    points = [
        Point(x=day, y=value, title=f"{value}", is_marked=day == 2) for day, value in enumerate((10.0, 20.0, 15.0))
    ]
    chart = LineChart(
        title="x", lines=[Line(points=points)], x_range=(0, 2), y_range=(0, 20), band=(5.0, 15.0),
        levels=[Level(y=17.0, title="85 %")], moments=[Moment(x=1, title="plan applied", label="plan")],
    )  # fmt: skip
    svg = parsed(line_chart(chart))
    dots = [(float(dot.get("cx").rstrip("%")), float(dot.get("cy")), float(dot.get("r"))) for dot in svg.iter("circle")]
    assert [x for x, _, _ in dots] == [2.0, 50.0, 98.0]
    assert dots[1][1] < dots[2][1] < dots[0][1]  # the largest value is the highest
    assert dots[2][2] > dots[0][2]
    (joined,) = svg.iter("polyline")
    assert len(joined.get("points").split()) == 3
    band = next(part for part in svg.iter("rect") if part.get("class") == "band")
    assert float(band.get("y")) == pytest.approx(dots[2][1])
    assert {"85 %", "plan"} <= {text.text for text in svg.iter("text")}


def test_each_look_has_a_colour_in_the_style_sheet() -> None:
    for look in Look:
        assert re.search(rf"\.{look.value}[ ,{{]", style()), look


def test_a_part_as_thin_as_nothing_is_still_there() -> None:
    thin = Part(start=1.0, end=1.0, look=Look.ARRIVES, title="0 B")
    (part,) = parsed(strip(Strip(parts=[thin], high=10.0, title="x"))).iter("rect")
    assert across(part)[1] > 0


def test_a_part_without_width_is_seen_at_the_end_too() -> None:
    part = Part(start=10.0, end=10.0, look=Look.FULL, title="now")
    drawn = parsed(strip(Strip(title="a day", parts=[part], low=0.0, high=10.0)))
    start, width = across(next(rect for rect in drawn.iter() if rect.tag.endswith("rect")))
    assert width >= 0.5
    assert start + width == 100
