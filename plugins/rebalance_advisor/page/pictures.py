"""Facts of the pictures (``page/charts.py``) from rows of the views. NULL gives no part and no figure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from kafka_rebalance.findings.finding import Severity
from rebalance_advisor.page import rendering as texts
from rebalance_advisor.page.charts import (
    Cell,
    Grid,
    Level,
    Line,
    LineChart,
    Look,
    Moment,
    Part,
    Point,
    Strip,
    Tick,
    bar,
    stacked,
)
from rebalance_advisor.page.charts import Row as GridRow
from rebalance_advisor.publish.charts import cost_axis
from rebalance_advisor.publish.plan_text import highest_skew

Row = Mapping[str, Any]
Band = tuple[float | None, float | None]
Link = Callable[..., str]
"""``address`` of the request: path parts, then the query."""

RESOURCES = ("disk", "in", "out", "leaders", "replicas")
FULL_SHARE = 0.85
"""Of the capacity; the view broker_disk_forecast has the same limit."""
_FAR = 1.5


def bands(resources: Sequence[Row]) -> dict[str, Band]:
    """In multiples of the share, as requested or widened. ``resources``: ``plan_resource``."""
    return {
        row["resource"]: (
            row["band_asked_low"] if row["widened_low"] is None else row["widened_low"],
            row["band_asked_high"] if row["widened_high"] is None else row["widened_high"],
        )
        for row in resources
        if row["exclusion_reason_code"] is None and row["watched_broker"] is None
    }


def look_of(times_share: float | None, capacity_share: float | None, band: Band | None) -> Look:
    """Nearly full comes before the allowed range; plain if neither is known."""
    if capacity_share is not None and capacity_share >= FULL_SHARE:
        return Look.FULL
    if times_share is None or band is None:
        return Look.PLAIN
    low, high = band
    if high is not None and times_share > high:
        return Look.FAR_ABOVE if times_share > _FAR * high else Look.ABOVE
    return Look.BELOW if low is not None and times_share < low else Look.INSIDE


def heat_map(levels: Sequence[Row], allowed: Mapping[str, Band], link: Link) -> Grid | None:
    """Brokers by rack × resources, today and after the plan; None without brokers. ``levels``: ``ask.heat``."""
    of_broker: dict[tuple[str, int], dict[str, Row]] = defaultdict(dict)
    for row in levels:
        of_broker[row["rack"] or "", row["broker"]][row["resource"]] = row
    if not of_broker:
        return None
    rows, last_rack = [], None
    for (rack, broker), loads in sorted(of_broker.items()):
        cells = [_level_cells(broker, name, loads.get(name), allowed.get(name)) for name in RESOURCES]
        heading = "" if rack == last_rack else texts.describe_rack(rack)
        rows.append(
            GridRow(
                label=str(broker), cells=cells, title=f"broker {broker}", href=link("broker", id=broker),
                heading=heading,
            )
        )  # fmt: skip
        last_rack = rack
    return Grid(title="Load of brokers by resource, as multiples of their share", columns=RESOURCES, rows=rows)


def _level_cells(broker: int, resource: str, row: Row | None, band: Band | None) -> list[Cell]:
    if row is None or row["times_share"] is None:
        return [Cell(text=None, look=Look.PLAIN, title=texts.describe_level(broker, resource, row))]
    title = texts.describe_level(broker, resource, row)
    cells = [_level_cell(row["load"], row["times_share"], row, band, title)]
    if row["load_after"] is not None:
        cells.append(_level_cell(row["load_after"], row["times_share_after"], row, band, title))
    return cells


def _level_cell(load: float, times_share: float | None, row: Row, band: Band | None, title: str) -> Cell:
    look = look_of(times_share, load / row["capacity"] if row["capacity"] else None, band)
    mark = "!" if look is Look.FULL else ""
    return Cell(text=None if times_share is None else f"{times_share:.2f}{mark}", look=look, title=title)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerBar:
    broker: int
    strip: Strip
    before: float
    after: float
    capacity: float | None
    is_full: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceBars:
    """Brokers furthest from the mean first."""

    resource: str
    unit: str
    bars: Sequence[BrokerBar]
    left_out_count: int

    @property
    def has_capacity(self) -> bool:
        return any(row.capacity is not None for row in self.bars)


def before_and_after(resources: Sequence[Row], brokers: Sequence[Row], most: int) -> list[ResourceBars]:
    """``resources``: ``plan_resource``; ``brokers``: ``plan_broker``."""
    drawn = []
    for resource in resources:
        if resource["exclusion_reason_code"] is not None:
            continue
        loads = [row for row in brokers if row["resource"] == resource["resource"]]
        nearest = sorted(sorted(loads, key=lambda row: _distance(row, resource))[:most], key=lambda row: row["broker"])
        high = max((value for row in nearest for value in _values(row)), default=1.0)
        bars = [_broker_bar(row, resource["unit"], high) for row in nearest]
        drawn.append(
            ResourceBars(
                resource=resource["resource"], unit=resource["unit"], bars=bars,
                left_out_count=len(loads) - len(nearest),
            )
        )  # fmt: skip
    return drawn


def _values(row: Row) -> list[float]:
    return [value for value in (row["load_before"], row["load_after"], row["capacity"]) if value is not None]


def _distance(row: Row, resource: Row) -> tuple[float, int]:
    """Furthest from the mean first, by either load; ties by id."""
    mean = (row["capacity"] or 1.0) * resource["mean_level"] if resource["mean_level"] else 1.0
    return -max(abs(row["load_before"] / mean - 1), abs(row["load_after"] / mean - 1)), row["broker"]


def _broker_bar(row: Row, unit: str, high: float) -> BrokerBar:
    title = texts.describe_change_of(row, unit)
    capacity = row["capacity"]
    ticks = (
        [] if capacity is None else [Tick(at=capacity, title=texts.describe_capacity(capacity, unit), is_dashed=True)]
    )
    parts = change_parts(row["load_before"], row["load_after"], unit)
    return BrokerBar(
        broker=row["broker"], strip=Strip(title=title, parts=parts, ticks=ticks, high=high), before=row["load_before"],
        after=row["load_after"], capacity=capacity,
        is_full=bool(capacity) and row["load_before"] >= FULL_SHARE * capacity,
    )  # fmt: skip


def change_parts(before: float, after: float | None, unit: str, look: Look = Look.PLAIN) -> list[Part]:
    """What stays, then what leaves or arrives; only today's load if the plan's is unknown."""
    stays = before if after is None else min(before, after)
    parts = [
        Part(
            start=0.0,
            end=stays,
            look=look,
            title=texts.describe_what_stays(stays, unit, is_planned=after is not None),
        )
    ]
    if after is not None and after != before:
        look = Look.ARRIVES if after > before else Look.LEAVES
        title = texts.describe_change(after - before, unit)
        parts.append(Part(start=stays, end=max(before, after), look=look, title=title))
    return parts


def frontier(points: Sequence[Row], compared: Sequence[str]) -> LineChart | None:
    """Cost across, highest skew of the compared resources up. None with fewer than two plans."""
    if not points:
        return None
    axis = cost_axis(points)
    drawable = [
        (point, highest[1])
        for point in points
        if point[axis] is not None and (highest := highest_skew(point, compared)) is not None
    ]
    if len(drawable) < 2:
        return None
    most = max(float(point[axis]) for point, _ in drawable) or 1.0
    low, high = min(skew for _, skew in drawable), max(skew for _, skew in drawable)
    room = 0.08 * (high - low) or 0.1
    drawn = [_frontier_point(point, axis, skew) for point, skew in drawable]
    proved = [
        Point(x=point["lower_bound_bytes"], y=skew, title="")
        for point, skew in drawable
        if axis == "bytes" and point["lower_bound_bytes"] is not None
    ]
    return LineChart(
        title=texts.frontier_label(len(drawable), compared),
        lines=[Line(points=proved, is_dashed=True, has_dots=False), Line(points=drawn)],
        x_range=(0.0, most), y_range=(low - room, high + room),
        x_labels=[(share * most, texts.describe_cost(share * most, axis)) for share in (0.0, 0.5, 1.0)],
        y_labels=[(value, f"{value:.2f} ×") for value in (low, (low + high) / 2, high)], height_px=240,
    )  # fmt: skip


def _frontier_point(point: Row, axis: str, skew: float) -> Point:
    return Point(
        x=float(point[axis]), y=skew, title=texts.describe_point(point, skew), href=f"#point-{point['position']}",
        label="this plan" if point["is_recommended"] else point["name"] or "", is_marked=point["is_recommended"],
    )  # fmt: skip


_MOST_PIECES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyBar:
    """Sent to the left, received to the right."""

    broker: int
    strip: Strip
    sent: float
    received: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyBars:
    bars: Sequence[CopyBar]
    left_out_count: int
    unsized_count: int


def copies(rows: Sequence[Row], waves: int, link: Link, run: str) -> CopyBars | None:
    """Stacked bars of waves, one a broker; None without copies.

    Many waves share pieces with their neighbours. ``rows``: ``ask.copies``.
    """
    of_broker: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        of_broker[row["broker"]].append(row)
    if not of_broker:
        return None
    both = {broker: (_total(own, "sent_bytes"), _total(own, "received_bytes")) for broker, own in of_broker.items()}
    most = max(max(pair) for pair in both.values()) or 1.0
    bars = [
        CopyBar(
            broker=broker, sent=both[broker][0], received=both[broker][1],
            strip=Strip(
                title=texts.describe_copies(broker, *both[broker]), low=-most, high=most,
                ticks=[Tick(at=0.0, title="left: sent; right: received")],
                parts=[
                    *stacked(_pieces(own, "sent_bytes", waves, link, run), is_leftward=True),
                    *stacked(_pieces(own, "received_bytes", waves, link, run)),
                ],
            ),
        )
        for broker, own in of_broker.items()
    ]  # fmt: skip
    return CopyBars(
        bars=bars, left_out_count=rows[0]["broker_count"] - len(bars),
        unsized_count=sum(row["unsized_move_count"] for row in rows),
    )  # fmt: skip


def _total(rows: Sequence[Row], name: str) -> float:
    return sum(float(row[name] or 0.0) for row in rows)


def _pieces(rows: Sequence[Row], name: str, waves: int, link: Link, run: str) -> list[tuple[float, Look, str, str]]:
    size = -(-waves // _MOST_PIECES)
    pieces: dict[int, float] = defaultdict(float)
    for row in rows:
        pieces[(row["wave"] - 1) // size] += float(row[name] or 0.0)
    is_sent, drawn = name == "sent_bytes", []
    for number, amount in sorted(pieces.items()):
        if amount:
            first, last = number * size + 1, min((number + 1) * size, waves)
            href = link("plan", run=run, wave=first, broker=rows[0]["broker"]) + "#moves" if size == 1 else ""
            title = texts.describe_copy(amount, first, last, is_sent=is_sent)
            drawn.append((amount, Look.LEAVES if is_sent else Look.ARRIVES, title, href))
    return drawn


_RACK_LOOKS = (Look.FIRST, Look.SECOND, Look.THIRD, Look.FOURTH, Look.FIFTH, Look.SIXTH)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionBar:
    """Its size if the topic's rates are unknown."""

    partition: int
    strip: Strip
    in_bytes_per_s: float | None
    log_bytes: int | None
    leader: int | None
    rack: str
    replicas: Sequence[int]
    isr: Sequence[int]


def rack_looks(brokers: Iterable[int], racks: Mapping[int, str]) -> dict[str, Look]:
    """Many racks share looks; the name is beside them."""
    names = sorted({racks[broker] for broker in brokers if broker in racks})
    return {name: _RACK_LOOKS[number % len(_RACK_LOOKS)] for number, name in enumerate(names)}


def partition_bars(partitions: Sequence[Row], loads: Sequence[Row], racks: Mapping[int, str]) -> list[PartitionBar]:
    """Bars in the look of the leader's rack.

    ``partitions``: ``partition_latest``; ``loads``: ``load_latest`` of the whole topic, so that all pages have one
    scale.
    """
    rates = {row["partition"]: row["in_bytes_per_s"] for row in loads if row["in_bytes_per_s"] is not None}
    sizes = {row["partition"]: size for row in partitions if (size := leader_bytes(row)) is not None}
    values, unit = (rates, "bytes/s") if rates else (sizes, "bytes")
    high = max(values.values(), default=0.0) or 1.0
    looks = rack_looks([row["leader"] for row in partitions], racks)
    bars = []
    for row in partitions:
        value, rack = values.get(row["partition"]), racks.get(row["leader"], "")
        title = texts.describe_partition(row["partition"], value, unit, row["leader"], rack)
        bars.append(
            PartitionBar(
                partition=row["partition"], log_bytes=sizes.get(row["partition"]),
                strip=Strip(title=title, parts=bar(value, looks.get(rack, Look.QUIET), title), high=high),
                in_bytes_per_s=rates.get(row["partition"]), leader=row["leader"], rack=rack, replicas=row["replicas"],
                isr=row["isr"],
            )
        )  # fmt: skip
    return bars


def leader_bytes(partition: Row) -> int | None:
    sizes, leader = partition["log_bytes"], partition["leader"]
    if not sizes or leader not in partition["replicas"]:
        return None
    size: int | None = sizes[partition["replicas"].index(leader)]
    return size


_MOST_COLUMNS = 40
_COLUMN_PX, _LABEL_PX = 30, 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    grid: Grid
    racks: Mapping[str, Sequence[int]]
    width_px: int
    left_out_count: int


def placement(
    partitions: Sequence[Row], moves: Sequence[Row], racks: Mapping[int, str], link: Link
) -> Placement | None:
    """Replicas today and after the plan; None without partitions.

    Of more than ``_MOST_COLUMNS`` brokers those with most partitions.
    """
    moved = {row["partition"]: row for row in moves}
    held: dict[int, int] = defaultdict(int)
    for row in partitions:
        for broker in set(row["replicas"]) | set(_target(row, moved)):
            held[broker] += 1
    if not held:
        return None
    brokers = sorted(held, key=lambda broker: (-held[broker], broker))[:_MOST_COLUMNS]
    brokers.sort(key=lambda broker: (racks.get(broker, ""), broker))
    rows = [
        GridRow(
            label=str(row["partition"]), title=f"partition {row['partition']}",
            cells=[_replica_cells(row, broker, moved.get(row["partition"])) for broker in brokers],
        )
        for row in partitions
    ]  # fmt: skip
    width = _LABEL_PX + _COLUMN_PX * len(brokers)
    drawn = Grid(
        title="Replicas of each partition by broker", columns=[str(broker) for broker in brokers], rows=rows,
        label_share=_LABEL_PX / width, column_hrefs=[link("broker", id=broker) for broker in brokers],
    )  # fmt: skip
    by_rack: dict[str, list[int]] = defaultdict(list)
    for broker in brokers:
        by_rack[racks.get(broker, "")].append(broker)
    return Placement(grid=drawn, racks=by_rack, width_px=width, left_out_count=len(held) - len(brokers))


def _target(partition: Row, moved: Mapping[int, Row]) -> Sequence[int]:
    move = moved.get(partition["partition"])
    replicas: Sequence[int] = partition["replicas"] if move is None else move["to_replicas"]
    return replicas


def _replica_cells(partition: Row, broker: int, move: Row | None) -> list[Cell]:
    """No cell without a replica now or later."""
    is_there = broker in partition["replicas"]
    will_be = is_there if move is None else broker in move["to_replicas"]
    if not is_there and not will_be:
        return []
    leads = broker == partition["leader"]
    will_lead = leads if move is None else broker == move["leader_to"]
    is_out = is_there and broker not in (partition["isr"] or ())
    change = "+" if not is_there else "−" if not will_be else "" if leads == will_lead else "↑" if will_lead else "↓"
    look = {"+": Look.ARRIVES, "−": Look.LEAVES, "↑": Look.ARRIVES, "↓": Look.LEAVES}.get(change)
    look = look or (Look.FAR_ABOVE if is_out else Look.FIRST if leads else Look.PLAIN)
    role = "✕" if is_out else "●" if (leads if is_there else will_lead) else "○"
    title = texts.describe_replica(partition["partition"], broker, role, change)
    return [Cell(text=role + change, look=look, title=title)]


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelBar:
    level: Row
    strip: Strip
    share: float | None


def level_bars(levels: Sequence[Row]) -> list[LevelBar]:
    bars = []
    for row in levels:
        unit, capacity, after = row["unit"], row["capacity"], row["load_after"]
        share = None if row["fair_share"] is None else row["fair_share"] * (capacity or 1.0)
        ticks = [] if share is None else [Tick(at=share, title=texts.describe_share(share, unit))]
        if capacity is not None:
            ticks.append(Tick(at=capacity, title=texts.describe_capacity(capacity, unit), is_dashed=True))
        high = max(value for value in (row["load"], after, share, capacity, 0.0) if value is not None) or 1.0
        title = texts.describe_level(row["broker"], row["resource"], row)
        strip = Strip(title=title, parts=change_parts(row["load"], after, unit), ticks=ticks, high=high)
        bars.append(LevelBar(level=row, strip=strip, share=share))
    return bars


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedLoad:
    """``figure`` today with ``note``, its share of the capacity or of the mean; ``after`` if the plan changes it."""

    figure: str
    note: str
    after: str
    strip: Strip | None


_UNITS = {"disk": "bytes", "in": "bytes/s", "out": "bytes/s", "leaders": "count", "replicas": "count"}


def listed_loads(brokers: Sequence[Row], levels: Sequence[Row], highest: Sequence[Row]) -> list[dict[str, ListedLoad]]:
    """Loads of each broker by resource. A bar ends at the capacity, without one at the highest load of all brokers.

    ``brokers``: ``broker_overview_latest``; ``levels``: ``ask.levels_in``; ``highest``: ``ask.highest_loads``.
    """
    level_of = {(row["broker"], row["resource"]): row for row in levels}
    high_of = {row["resource"]: row["load"] for row in highest}
    return [
        {
            resource: _listed_load(broker, resource, level_of.get((broker["broker"], resource)), high_of.get(resource))
            for resource in RESOURCES
        }
        for broker in brokers
    ]


_NO_LEVEL: Row = dict.fromkeys(("load", "load_after", "capacity", "fair_share", "level_to_mean_ratio"))


def _listed_load(broker: Row, resource: str, judged: Row | None, highest: float | None) -> ListedLoad:
    """Disks, leaders and replicas are those of the newest snapshot, as on the broker's page."""
    level, unit = judged or _NO_LEVEL, _UNITS[resource]
    load, after, capacity = level["load"], level["load_after"], level["capacity"]
    share = None if level["fair_share"] is None else level["fair_share"] * (capacity or 1.0)
    ratio = level["level_to_mean_ratio"]
    if resource == "disk":
        load, capacity, share, ratio = broker["used_bytes"], broker["total_bytes"], None, broker["disk_to_mean_ratio"]
        with_plan = broker["used_ratio_with_plan"]
        after = None if with_plan is None else with_plan * capacity
        if capacity is None:
            load, after = broker["disk_bytes"], level["load_after"]
    elif unit == "count":
        load = broker["leader_count" if resource == "leaders" else "replica_count"]
    elif judged is None:
        load, ratio = broker[f"{resource}_bytes_per_s"], broker[f"{resource}_to_mean_ratio"]
    if load is None:
        return ListedLoad(figure=texts.UNKNOWN, note="", after="", strip=None)
    whole = capacity if resource == "disk" else None
    figure = texts.describe_listed_load(load, unit, whole)
    planned = figure if after is None else texts.describe_listed_load(after, unit, whole)
    is_full = bool(capacity) and load >= FULL_SHARE * capacity
    return ListedLoad(
        figure=figure, note="" if whole else texts.describe_listed_share(load, capacity, ratio),
        after="" if planned == figure else planned,
        strip=Strip(
            title=f"broker {broker['broker']}, {resource}",
            parts=change_parts(load, None if planned == figure else after, unit, Look.FULL if is_full else Look.PLAIN),
            ticks=[] if share is None else [Tick(at=share, title=texts.describe_share(share, unit))],
            high=capacity or max(load, after or 0.0, highest or 0.0) or 1.0,
        ),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Filling:
    strip: Strip
    topics: Sequence[tuple[str, float, Look]]
    rest: float


def filling(carried: Sequence[Row], held: float | None, capacity: float | None, link: Link) -> Filling | None:
    """None if sizes are unknown. ``carried``: ``ask.carried_by``; ``held``: bytes of all replicas."""
    with_bytes = [row for row in carried if row["log_bytes"]][: len(_RACK_LOOKS) - 1]
    if not with_bytes or held is None:
        return None
    topics = [
        (str(row["topic"]), float(row["log_bytes"]), look) for row, look in zip(with_bytes, _RACK_LOOKS, strict=False)
    ]
    rest = max(held - sum(size for _, size, _ in topics), 0.0)
    pieces = [
        (size, look, texts.describe_held_topic(name, size), link("topic", name=name)) for name, size, look in topics
    ]
    pieces += [(rest, Look.QUIET, texts.describe_held_topic("all other topics", rest), "")] if rest else []
    ticks = (
        []
        if capacity is None
        else [Tick(at=capacity, title=texts.describe_capacity(capacity, "bytes"), is_dashed=True)]
    )
    high = max(held, capacity or 0.0, 1.0)
    strip = Strip(title=texts.describe_filling(topics, rest), parts=stacked(pieces), ticks=ticks, high=high)
    return Filling(strip=strip, topics=topics, rest=rest)


_AHEAD = timedelta(days=14)
_FURTHEST = timedelta(days=90)
_MOST_DOTS = 40


def disk_growth(disk: Row, history: Sequence[Row], captured_at: datetime) -> LineChart | None:
    """Bytes used and forecast; None if the disk's size is unknown.

    ``disk``: ``broker_disk_forecast``; ``history``: ``ask.disk_history``. The forecast ends at 85 %, after 14 to 90
    days.
    """
    if not disk["total_bytes"]:
        return None
    now, total = captured_at.timestamp(), float(disk["total_bytes"])
    measured = [(row["moment"].timestamp(), float(row["used_bytes"])) for row in history if row["moment"] < captured_at]
    measured.append((now, float(disk["used_bytes"])))
    full_at = disk["reaches_85_percent_at"]
    ahead = _AHEAD if full_at is None else min(max(full_at - captured_at, _AHEAD), _FURTHEST)
    end = now + ahead.total_seconds()
    lines = [Line(points=[_disk_point(*moment) for moment in measured], has_dots=len(measured) <= _MOST_DOTS)]
    growth = disk["growth_bytes_per_day"]
    if growth is not None:
        starts = {disk["used_bytes"], disk["used_bytes_with_plan"]} - {None}
        lines += [_forecast(float(start), growth, now, end) for start in sorted(starts)]
    moments = [
        Moment(x=at.timestamp(), title=texts.describe_full_disk(at, is_planned=is_planned), label=label)
        for at, is_planned, label in (
            (full_at, False, "85 %"), (disk["reaches_85_percent_at_with_plan"], True, "85 % after the plan")
        )
        if at is not None and captured_at < at and at.timestamp() <= end
    ]  # fmt: skip
    first = measured[0][0]
    dated = (first, now, end) if now - first > 0.15 * (end - first) else (now, end)
    return LineChart(
        title=texts.describe_disk(disk), lines=lines, x_range=(first, end), y_range=(0.0, total), moments=moments,
        x_labels=[(moment, texts.day(moment)) for moment in dated],
        y_labels=[(share * total, texts.describe_size(share * total)) for share in (0.0, 0.5, 1.0)],
        levels=[Level(y=FULL_SHARE * total, title=texts.describe_limit(FULL_SHARE * total))],
    )  # fmt: skip


def _disk_point(moment: float, used: float) -> Point:
    return Point(x=moment, y=used, title=texts.describe_used_disk(moment, used))


def _forecast(start: float, growth: float, now: float, end: float) -> Line:
    points = [Point(x=at, y=max(start + growth * (at - now) / 86_400, 0.0), title="") for at in (now, end)]
    return Line(points=points, is_dashed=True, has_dots=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberBar:
    member: Row
    today: Strip
    advised: Strip | None


def member_bars(members: Sequence[Row], advised: Sequence[Row]) -> list[MemberBar]:
    """Rates on one scale, or partitions if no rate is known.

    Rows of ``member_score_latest``. A member missing from the recommended strategy is unknown there, not idle.
    """
    by_rate = any(row["in_bytes_per_s"] is not None for row in members)
    name, unit = ("in_bytes_per_s", "bytes/s") if by_rate else ("partitions", "count")
    later = {row["member_id"]: row for row in advised}
    high = max((float(row[name]) for row in (*members, *advised) if row[name] is not None), default=0.0) or 1.0

    def strip_of(row: Row | None) -> Strip:
        value = None if row is None or row[name] is None else float(row[name])
        look = Look.FULL if row is not None and row["is_falling_behind"] else Look.PLAIN
        title = texts.describe_reads(row, unit)
        return Strip(title=title, parts=bar(value, look, title), high=high)

    return [
        MemberBar(
            member=row, today=strip_of(row), advised=strip_of(later.get(row["member_id"])) if advised else None
        )
        for row in members
    ]  # fmt: skip


def lag_chart(days: Sequence[Row]) -> LineChart | None:
    """None with fewer than two days. ``days``: ``group_lag_by_day``, oldest first."""
    if len(days) < 2:
        return None
    most = max(float(row["highest_lag_messages"]) for row in days) or 1.0
    moments = [row["period_start"].timestamp() for row in days]
    mean, highest = (
        [Point(x=at, y=float(row[name]), title=texts.describe_lag(row)) for at, row in zip(moments, days, strict=True)]
        for name in ("lag_messages", "highest_lag_messages")
    )
    return LineChart(
        title=texts.lag_label(days), lines=[Line(points=highest, is_dashed=True, has_dots=False), Line(points=mean)],
        x_range=(moments[0], moments[-1]), y_range=(0.0, most),
        x_labels=[(moments[index], texts.day(moments[index])) for index in (0, -1)],
        y_labels=[(share * most, f"{share * most:,.0f}") for share in ((0.0, 0.5, 1.0) if most > 1 else (0.0, 1.0))],
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SkewChart:
    resource: str
    chart: LineChart
    skew: float


def skew_charts(
    days: Sequence[Row], allowed: Mapping[str, Band], applied: Sequence[Row], link: Link, since: datetime, now: datetime
) -> list[SkewChart]:
    """Resources with at least two days, with allowed range and applied plans.

    ``days``: ``skew_by_day``, newest first; ``applied``: ``ask.applied_plans``.
    """
    of_resource: dict[str, list[Row]] = defaultdict(list)
    for row in reversed(days):
        of_resource[row["resource"]].append(row)
    drawn = []
    for resource, own in of_resource.items():
        if len(own) < 2:
            continue
        band = allowed.get(resource)
        limit = band[1] if band else None
        most = max(row["skew"] for row in own)
        top = 1.08 * max(most, limit or 0.0, 1.1)
        chart = LineChart(
            title=texts.skew_label(resource, own),
            lines=[Line(points=[_skew_point(row) for row in own], has_dots=len(own) <= _MOST_DOTS)],
            x_range=(since.timestamp(), now.timestamp()), y_range=(min(1.0, *(row["skew"] for row in own)), top),
            band=None if limit is None else (1.0, limit),
            x_labels=[(at.timestamp(), texts.day(at.timestamp())) for at in (since, now)],
            y_labels=[(1.0, "1.00 ×"), (most, f"{most:.2f} ×")] if most > 1.05 else [(1.0, "1.00 ×")],
            moments=[
                Moment(
                    x=row["verified_at"].timestamp(), title=texts.describe_applied(row), label="plan",
                    href=link("plan", run=row["run_id"]),
                )
                for row in applied
            ],
            height_px=130,
        )  # fmt: skip
        drawn.append(SkewChart(resource=resource, chart=chart, skew=own[-1]["skew"]))
    order = {name: number for number, name in enumerate(RESOURCES)}
    return sorted(drawn, key=lambda skew_chart: (order.get(skew_chart.resource, len(order)), skew_chart.resource))


def _skew_point(row: Row) -> Point:
    at = row["period_start"].timestamp()
    return Point(x=at, y=row["skew"], title=texts.describe_skew(row))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    finding: Row
    strip: Strip
    is_open: bool


def lanes(findings: Sequence[Row], since: datetime, now: datetime, newest: datetime) -> list[Lane]:
    """Lanes of ``ask.finding_lanes``; ``newest``: start of the newest advisory, which has all open ones.

    A finding seen once has the least width.
    """
    drawn = []
    for row in findings:
        is_open = row["last_seen"] >= newest
        end = now if is_open else row["last_seen"]
        look = Look.FULL if row["severity_rank"] <= Severity.HIGH.rank else Look.QUIET
        title = texts.describe_lane(row, is_open=is_open)
        part = Part(start=row["first_seen"].timestamp(), end=end.timestamp(), look=look, title=title)
        strip = Strip(title=title, parts=[part], low=since.timestamp(), high=now.timestamp())
        drawn.append(Lane(finding=row, strip=strip, is_open=is_open))
    return drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """Rows of ``plan_outcome``."""

    outcome: Row
    strip: Strip


def promises(outcomes: Sequence[Row]) -> list[Promise]:
    """One scale for all, from an even cluster on."""
    names = ("skew_before", "skew_predicted", "skew_measured")
    high = max((row[name] for row in outcomes for name in names if row[name] is not None), default=1.0)
    drawn = []
    for row in outcomes:
        before, promised, measured = (row[name] for name in names)
        title = texts.describe_promise(row)
        is_known = before is not None and promised is not None
        part = (
            Part(start=min(before, promised), end=max(before, promised), look=Look.LEAVES, title=title)
            if is_known
            else None
        )
        ticks = [] if measured is None else [Tick(at=measured, title=texts.describe_measured(measured))]
        strip = Strip(title=title, parts=[part] if part else [], ticks=ticks, low=1.0, high=max(high, 1.1))
        drawn.append(Promise(outcome=row, strip=strip))
    return drawn


def sparklines(days: Sequence[Row]) -> dict[str, LineChart]:
    """Skew of each cluster with at least two days. ``days``: ``ask.worst_skews``."""
    of_cluster: dict[str, list[Row]] = defaultdict(list)
    for row in days:
        of_cluster[row["cluster"]].append(row)
    return {cluster: _sparkline(own) for cluster, own in of_cluster.items() if len(own) > 1}


def _sparkline(days: Sequence[Row]) -> LineChart:
    points = [_skew_point(row) for row in days]
    skews = [point.y for point in points]
    return _spark(texts.skew_label(days[0]["resource"], days), points, (min(1.0, *skews), max(1.1, *skews)))


def _spark(title: str, points: Sequence[Point], y_range: tuple[float, float]) -> LineChart:
    return LineChart(
        title=title, lines=[Line(points=points, has_dots=False)], x_range=(points[0].x, points[-1].x), y_range=y_range,
        height_px=28, top_px=3, below_px=3,
    )  # fmt: skip


def lag_sparklines(days: Sequence[Row]) -> dict[str, LineChart]:
    """Mean lag of each group with at least two days, as ``lag_chart``. ``days``: ``ask.lag_days``."""
    of_group: dict[str, list[Row]] = defaultdict(list)
    for row in days:
        of_group[row["group_id"]].append(row)
    drawn = {}
    for group, own in of_group.items():
        if len(own) > 1:
            points = [Point(x=row["period_start"].timestamp(), y=float(row["lag_messages"]), title="") for row in own]
            drawn[group] = _spark(texts.lag_label(own), points, (0.0, max(point.y for point in points) or 1.0))
    return drawn
