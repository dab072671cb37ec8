"""Facts of the pictures, from rows as the views have them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from rebalance_advisor.page import pictures
from rebalance_advisor.page.charts import Look
from rebalance_advisor.page.rendering import ask_for

RESOURCE = {
    "resource": "disk", "unit": "bytes", "mean_level": 10.0, "band_asked_low": 0.9, "band_asked_high": 1.1,
    "widened_low": None, "widened_high": None, "exclusion_reason_code": None, "watched_broker": None,
}  # fmt: skip


def link(*parts: str, **query: object) -> str:
    return "/".join(parts) + "".join(f"?{name}={value}" for name, value in query.items())


def level(broker: int, resource: str = "disk", **others: object) -> dict[str, object]:
    return {
        "broker": broker, "rack": "a", "resource": resource, "unit": "bytes", "load": 50.0, "capacity": 100.0,
        "times_share": 1.0, "load_after": 40.0, "times_share_after": 0.8,
    } | others  # fmt: skip


def test_a_range_is_that_which_the_plan_keeps_and_a_watched_resource_has_none() -> None:
    widened = RESOURCE | {"resource": "in", "widened_high": 1.3}
    watched = RESOURCE | {"resource": "out", "watched_broker": 4}
    excluded = RESOURCE | {"resource": "cpu", "exclusion_reason_code": "figure_not_measured"}
    assert pictures.bands([RESOURCE, widened, watched, excluded]) == {"disk": (0.9, 1.1), "in": (0.9, 1.3)}


def test_the_look_of_a_load() -> None:
    band = (0.9, 1.1)
    looks = [pictures.look_of(times, None, band) for times in (0.5, 0.9, 1.1, 1.2, 1.66)]
    assert looks == [Look.BELOW, Look.INSIDE, Look.INSIDE, Look.ABOVE, Look.FAR_ABOVE]
    assert pictures.look_of(1.0, 0.85, band) is Look.FULL  # before all else
    assert pictures.look_of(3.0, 0.84, None) is Look.PLAIN
    assert pictures.look_of(None, None, band) is Look.PLAIN
    assert pictures.look_of(0.1, None, (None, 1.1)) is Look.INSIDE


def test_the_heat_map_has_a_row_a_broker_under_its_rack() -> None:
    rows = [level(2, rack="b"), level(1), level(1, "in", load_after=None), level(3, rack=None)]
    drawn = pictures.heat_map(rows, {"disk": (0.9, 1.1)}, link)
    assert [(row.label, row.heading) for row in drawn.rows] == [("3", "no rack"), ("1", "a"), ("2", "b")]
    first = drawn.rows[1]
    assert first.href == "broker?id=1"
    disk, written, *others = first.cells
    assert [(cell.text, cell.look) for cell in disk] == [("1.00", Look.INSIDE), ("0.80", Look.BELOW)]
    assert [cell.text for cell in written] == ["1.00"]  # the plan does not say what it is afterwards
    assert [[cell.text for cell in cells] for cells in others] == [[None]] * 3
    assert "50 B of 100 B; after the plan 0.80 ×, 40 B of 100 B" in disk[0].title
    assert others[0][0].title == "broker 1, out: not known"


def test_a_broker_that_is_nearly_full_is_marked_by_a_sign_too() -> None:
    drawn = pictures.heat_map([level(1, load=90.0, times_share=1.0)], {}, link)
    assert drawn.rows[0].cells[0][0].text == "1.00!"


def test_a_load_without_a_share_after_the_plan_is_not_known() -> None:
    drawn = pictures.heat_map([level(1, times_share_after=None)], {}, link)
    assert drawn is not None
    assert [cell.text for cell in drawn.rows[0].cells[0]] == ["1.00", None]


def test_there_is_no_heat_map_without_a_broker() -> None:
    assert pictures.heat_map([], {}, link) is None


def plan_broker(broker: int, before: float, after: float, capacity: float | None = None) -> dict[str, object]:
    return {
        "broker": broker, "resource": "disk", "load_before": before, "load_after": after, "capacity": capacity
    }  # fmt: skip


def test_bars_before_and_after_are_of_the_brokers_furthest_from_the_mean() -> None:
    loads = [plan_broker(broker, 10.0 + broker, 10.0) for broker in range(1000)]
    excluded = RESOURCE | {"resource": "cpu", "exclusion_reason_code": "figure_not_measured"}
    (drawn,) = pictures.before_and_after([RESOURCE, excluded], loads, 16)
    assert [row.broker for row in drawn.bars] == list(range(984, 1000))
    assert (drawn.left_out_count, drawn.has_capacity) == (984, False)
    assert pictures.before_and_after([RESOURCE], [], 16)[0].bars == []


def test_a_bar_shows_what_leaves_what_arrives_and_the_capacity() -> None:
    loads = [plan_broker(1, 90.0, 40.0, 100.0), plan_broker(2, 10.0, 60.0, 100.0), plan_broker(3, 50.0, 50.0, 100.0)]
    full, empty, same = pictures.before_and_after([RESOURCE | {"mean_level": 0.5}], loads, 16)[0].bars
    assert [(part.start, part.end, part.look) for part in full.strip.parts] == [
        (0.0, 40.0, Look.PLAIN), (40.0, 90.0, Look.LEAVES)
    ]  # fmt: skip
    assert [(part.start, part.end, part.look) for part in empty.strip.parts] == [
        (0.0, 10.0, Look.PLAIN), (10.0, 60.0, Look.ARRIVES)
    ]  # fmt: skip
    assert [(part.start, part.end) for part in same.strip.parts] == [(0.0, 50.0)]
    assert full.strip.title == "broker 1: 90 B today, 40 B after the plan, capacity 100 B"
    assert [row.is_full for row in (full, empty, same)] == [True, False, False]
    assert [tick.at for tick in full.strip.ticks] == [100.0]


def point(position: int, **others: object) -> dict[str, object]:
    return {
        "position": position, "tolerance": 0.1 * position, "bytes": 100 * position, "replica_moves": position,
        "leader_changes": 2, "seconds": 60.0, "lower_bound_bytes": 90.0 * position,
        "skew": {"disk": 2.0 / position, "out": 3.0}, "name": None, "is_recommended": False, "reasons": [],
    } | others  # fmt: skip


def test_the_frontier_is_that_of_what_the_plan_balances() -> None:
    """Rates that it only watches stay at 3 ×, however even a plan is."""
    points = [point(1, name="cheap"), point(2, is_recommended=True), point(4, name="even")]
    chart = pictures.frontier(points, ["disk"])
    proved, plans = chart.lines
    assert [(dot.x, dot.y) for dot in plans.points] == [(100.0, 2.0), (200.0, 1.0), (400.0, 0.5)]
    assert [dot.x for dot in proved.points] == [90.0, 180.0, 360.0]
    assert [dot.label for dot in plans.points] == ["cheap", "this plan", "even"]
    assert [dot.is_marked for dot in plans.points] == [False, True, False]
    assert plans.points[1].title == "200 B copied, 2 replica moves, 2 leader changes, 1 min: highest skew 1.00 ×"
    assert chart.x_range == (0.0, 400.0)


def test_a_point_of_unknown_cost_is_not_drawn_and_one_alone_is_no_choice() -> None:
    unknown = point(2, bytes=None, seconds=None)
    chart = pictures.frontier([point(1), unknown, point(3)], ["disk"])
    assert [dot.x for dot in chart.lines[1].points] == [100.0, 300.0]
    assert pictures.frontier([point(1), unknown | {"position": 3}, point(4, skew={})], ["disk"]) is None
    assert pictures.frontier([], []) is None


def test_the_option_that_asks_for_a_plan() -> None:
    options = [ask_for(point(1, **others)) for others in (
        {"name": "knee"}, {"name": "knee", "is_recommended": True}, {"tolerance": 0.17123}, {"tolerance": None},
    )]  # fmt: skip
    assert options == ["--at knee", "", "--balance-within 17.12%", ""]


def copy(broker: int, wave: int, received: float | None, sent: float | None, unsized: int = 0) -> dict[str, object]:
    return {
        "broker": broker, "wave": wave, "received_bytes": received, "sent_bytes": sent, "unsized_move_count": unsized,
        "broker_count": 5,
    }  # fmt: skip


def test_what_brokers_copy_is_stacked_by_wave_sent_to_the_left() -> None:
    rows = [copy(9, 1, None, 30.0), copy(9, 2, 5.0, 10.0), copy(3, 2, 40.0, None, unsized=1)]
    drawn = pictures.copies(rows, 2, link, "run")
    nine, three = drawn.bars
    assert (nine.broker, nine.sent, nine.received) == (9, 40.0, 5.0)
    assert [(part.start, part.end) for part in nine.strip.parts] == [(-30.0, 0.0), (-40.0, -30.0), (0.0, 5.0)]
    assert nine.strip.parts[1].title == "sends 10 B in wave 2"
    assert nine.strip.parts[1].href == "plan?run=run?wave=2?broker=9#moves"
    assert (three.strip.low, three.strip.high) == (-40.0, 40.0)
    assert (drawn.left_out_count, drawn.unsized_count) == (3, 1)
    assert pictures.copies([], 2, link, "run") is None


def test_many_waves_share_a_piece() -> None:
    drawn = pictures.copies([copy(9, wave, 1.0, None) for wave in range(1, 61)], 60, link, "run")
    parts = drawn.bars[0].strip.parts
    assert len(parts) == 8
    assert (parts[0].title, parts[-1].title) == ("receives 8 B in waves 1 to 8", "receives 4 B in waves 57 to 60")
    assert parts[-1].end == 60.0


def partition(number: int, replicas: list[int], **others: object) -> dict[str, object]:
    return {
        "partition": number, "replicas": replicas, "leader": replicas[0], "isr": replicas,
        "log_bytes": [100 + replica for replica in replicas],
    } | others  # fmt: skip


RACKS = {1: "a", 2: "b", 3: "c", 4: "a"}


def test_a_partition_has_a_bar_of_what_is_written_in_the_look_of_its_leaders_rack() -> None:
    loads = [{"partition": number, "in_bytes_per_s": rate} for number, rate in ((0, 50.0), (1, None), (99, 200.0))]
    first, second, lost = pictures.partition_bars(
        [partition(0, [2, 1]), partition(1, [1, 2]), partition(2, [3], leader=None)], loads, RACKS
    )
    assert first.strip.high == 200.0  # of the whole topic, not of this page
    assert [(part.end, part.look) for part in first.strip.parts] == [(50.0, Look.SECOND)]
    assert (first.strip.title, first.log_bytes) == ("partition 0: 50 B/s written, led by broker 2 in b", 102)
    assert second.strip.parts == ()
    assert second.strip.title == "partition 1: not known, led by broker 1 in a"
    assert (lost.strip.title, lost.log_bytes, lost.rack) == ("partition 2: not known, without leader", None, "")


def test_where_no_rate_is_known_bars_are_of_sizes() -> None:
    (bar,) = pictures.partition_bars([partition(0, [2, 1])], [], RACKS)
    assert [part.end for part in bar.strip.parts] == [102]
    assert "102 B held by its leader" in bar.strip.title


def signs(drawn: pictures.Placement) -> list[list[str | None]]:
    return [[cells[0].text if cells else None for cells in row.cells] for row in drawn.grid.rows]


def test_the_matrix_shows_replicas_and_what_the_plan_changes() -> None:
    move = {"partition": 1, "to_replicas": [4, 2], "leader_to": 4}
    elect = {"partition": 2, "to_replicas": [1, 2], "leader_to": 2}
    parts = [partition(0, [1, 2], isr=[1]), partition(1, [1, 2]), partition(2, [1, 2])]
    drawn = pictures.placement(parts, [move, elect], RACKS, link)
    assert drawn.grid.columns == ["1", "4", "2"]  # in the order of racks
    assert drawn.racks == {"a": [1, 4], "b": [2]}
    assert signs(drawn) == [["●", None, "✕"], ["●−", "●+", "○"], ["●↓", None, "○↑"]]
    assert drawn.grid.column_hrefs[1] == "broker?id=4"
    arriving = drawn.grid.rows[1].cells[1][0]
    assert (arriving.look, arriving.title) == (
        Look.ARRIVES, "partition 1: broker 4 will have it; the plan puts it there"
    )  # fmt: skip


def test_a_matrix_of_many_brokers_has_those_with_most_partitions() -> None:
    parts = [partition(number, [number, 500]) for number in range(60)]
    drawn = pictures.placement(parts, [], {}, link)
    assert (len(drawn.grid.columns), drawn.left_out_count) == (40, 21)
    assert "500" in drawn.grid.columns
    assert pictures.placement([], [], {}, link) is None


def test_loads_of_a_broker_have_its_share_and_capacity_and_unknown_ones_are_no_zeros() -> None:
    disk = level(9, load=90.0, fair_share=0.5, load_after=60.0)
    bare = level(9, "leaders", unit="count", load=0.0, capacity=None, fair_share=None, load_after=None)
    drawn, leads_nothing = pictures.level_bars([disk, bare])
    assert [(part.end, part.look) for part in drawn.strip.parts] == [(60.0, Look.PLAIN), (90.0, Look.LEAVES)]
    assert [(tick.at, tick.is_dashed) for tick in drawn.strip.ticks] == [(50.0, False), (100.0, True)]
    assert (drawn.share, drawn.strip.high) == (50.0, 100.0)
    assert [(part.start, part.end) for part in leads_nothing.strip.parts] == [(0.0, 0.0)]
    assert "not known" in leads_nothing.strip.title


def listed_broker(**known: object) -> dict[str, object]:
    names = (
        "used_bytes", "total_bytes", "used_ratio_with_plan", "disk_bytes", "disk_to_mean_ratio", "in_bytes_per_s",
        "in_to_mean_ratio", "out_bytes_per_s", "out_to_mean_ratio",
    )  # fmt: skip
    return {"broker": 1, "leader_count": 0, "replica_count": 3} | dict.fromkeys(names) | known


def test_a_listed_load_has_its_figure_its_share_and_the_figure_after_a_plan_that_moves_it() -> None:
    levels = [
        judged("in", 50.0, load_after=30.0, fair_share=0.4, capacity=100.0),
        judged("leaders", 9.0, load_after=0.0, fair_share=4.0, level_to_mean_ratio=0.0),
        judged("replicas", 3.0, load_after=3.0, level_to_mean_ratio=0.5),
    ]
    disk = {"used_bytes": 90, "total_bytes": 100, "used_ratio_with_plan": 0.7}
    (loads,) = pictures.listed_loads([listed_broker(**disk)], levels, [{"resource": "replicas", "load": 6.0}])
    assert {name: (load.figure, load.note, load.after) for name, load in loads.items()} == {
        "disk": ("90 %", "", "70 %"),
        "in": ("50 B/s", "50 %", "30 B/s"),
        "out": ("unknown", "", ""),
        "leaders": ("0", "0.00 ×", ""),
        "replicas": ("3", "0.50 ×", ""),
    }
    looks = [(part.end, part.look) for part in loads["disk"].strip.parts]
    assert looks == [(70.0, Look.FULL), (90, Look.LEAVES)]
    assert [tick.at for tick in loads["in"].strip.ticks] == [40.0]
    assert [loads[name].strip.high for name in ("disk", "in", "replicas")] == [100, 100.0, 6.0]
    assert loads["out"].strip is None


def test_without_an_advisory_rates_are_those_of_the_snapshot() -> None:
    (loads,) = pictures.listed_loads([listed_broker(in_bytes_per_s=5.0, in_to_mean_ratio=1.25)], [], [])
    assert [(load.figure, load.note) for load in loads.values()] == [
        ("unknown", ""), ("5 B/s", "1.25 ×"), ("unknown", ""), ("0", ""), ("3", "")
    ]  # fmt: skip


def judged(resource: str, load: float, **known: object) -> dict[str, object]:
    names = ("load_after", "capacity", "fair_share", "level_to_mean_ratio")
    return {"broker": 1, "resource": resource, "load": load} | dict.fromkeys(names) | known


def test_what_fills_a_disk_is_its_largest_topics_and_the_rest() -> None:
    carried = [{"topic": f"t{number}", "log_bytes": 20 - number} for number in range(8)]
    drawn = pictures.filling(carried, 200.0, 400.0, link)
    assert [name for name, _, _ in drawn.topics] == ["t0", "t1", "t2", "t3", "t4"]
    assert drawn.rest == 200.0 - 90.0
    assert drawn.strip.parts[-1].end == 200.0
    assert (drawn.strip.parts[0].href, drawn.strip.high) == ("topic?name=t0", 400.0)
    assert pictures.filling([{"topic": "t", "log_bytes": None}], 200.0, None, link) is None
    assert pictures.filling(carried, None, None, link) is None


NOW = datetime(2026, 11, 20, tzinfo=UTC)
DISK = {
    "used_bytes": 700.0, "total_bytes": 1000.0, "growth_bytes_per_day": 10.0, "used_bytes_with_plan": 400.0,
    "reaches_85_percent_at": NOW + timedelta(days=15), "reaches_85_percent_at_with_plan": NOW + timedelta(days=45),
}  # fmt: skip


def days(count: int) -> list[dict[str, object]]:
    return [{"moment": NOW - timedelta(days=n), "used_bytes": 700 - 10 * n} for n in range(count, 0, -1)]


def test_a_disk_is_shown_as_it_grew_and_until_it_is_full() -> None:
    chart = pictures.disk_growth(DISK, days(5), NOW)
    measured, with_plan, without = chart.lines
    assert [point.y for point in measured.points] == [650.0, 660.0, 670.0, 680.0, 690.0, 700.0]
    assert [round(point.y) for point in without.points] == [700, 850]  # 85 % on the 15th day
    assert [round(point.y) for point in with_plan.points] == [400, 550]
    assert with_plan.is_dashed
    assert chart.x_range[1] == (NOW + timedelta(days=15)).timestamp()
    assert [(moment.label, moment.title) for moment in chart.moments] == [("85 %", "85 % is used on 2026-12-05")]
    assert chart.title == "700 B of 1000 B used; it grows by 10 B a day"


def test_a_disk_whose_growth_is_unknown_has_no_forecast() -> None:
    unknown = DISK | {"growth_bytes_per_day": None, "reaches_85_percent_at": None}
    chart = pictures.disk_growth(unknown | {"reaches_85_percent_at_with_plan": None}, [], NOW)
    assert [len(line.points) for line in chart.lines] == [1]
    assert chart.moments == []
    assert "not known" in chart.title
    assert pictures.disk_growth(DISK | {"total_bytes": None}, [], NOW) is None


def test_a_forecast_ends_after_90_days_and_a_full_disk_has_one_of_14() -> None:
    slow = pictures.disk_growth(DISK | {"reaches_85_percent_at": NOW + timedelta(days=4000)}, [], NOW)
    full = pictures.disk_growth(DISK | {"reaches_85_percent_at": NOW}, [], NOW)
    ends = [(chart.x_range[1] - NOW.timestamp()) / 86_400 for chart in (slow, full)]
    assert ends == [90.0, 14.0]
    assert full.moments == []


def member(name: str, partitions: int, rate: float | None, **others: object) -> dict[str, object]:
    return {
        "member_id": name, "partitions": partitions, "in_bytes_per_s": rate, "is_falling_behind": False
    } | others  # fmt: skip


def test_members_have_bars_of_today_and_of_the_advised_strategy_on_one_scale() -> None:
    today = [member("a", 24, 60.0, is_falling_behind=True), member("b", 0, 0.0), member("c", 0, None)]
    busy, idle, unknown = pictures.member_bars(today, [member("a", 12, 30.0), member("b", 12, 30.0)])
    assert [(part.end, part.look) for part in busy.today.parts] == [(60.0, Look.FULL)]
    assert busy.today.title == "24 partitions, 60 B/s; falling behind"
    assert [part.end for part in busy.advised.parts] == [30.0]
    assert {strip.high for bars in (busy, idle) for strip in (bars.today, bars.advised)} == {60.0}
    assert [part.end for part in idle.today.parts] == [0.0]
    assert (unknown.today.parts, unknown.advised.parts, unknown.advised.title) == ((), (), "not known")


def test_members_of_unknown_rates_have_bars_of_partitions_and_a_group_that_keeps_its_strategy_has_one_bar_each() -> (
    None
):
    drawn = pictures.member_bars([member("a", 3, None), member("b", 1, None)], [])
    assert [bars.today.parts[0].end for bars in drawn] == [3.0, 1.0]
    assert [bars.advised for bars in drawn] == [None, None]
    assert drawn[0].today.title == "3 partitions"
    assert pictures.member_bars([], []) == []


def lag_day(number: int, lag: float, highest: int) -> dict[str, object]:
    return {"period_start": NOW + timedelta(days=number), "lag_messages": lag, "highest_lag_messages": highest}


def test_lag_is_a_line_of_means_below_a_dashed_one_of_the_highest() -> None:
    highest, mean = pictures.lag_chart([lag_day(0, 5.0, 9), lag_day(1, 6.0, 20)]).lines
    assert ([point.y for point in highest.points], highest.is_dashed) == ([9.0, 20.0], True)
    assert [(point.y, point.title) for point in mean.points] == [
        (5.0, "2026-11-20: 5 messages behind, at most 9"), (6.0, "2026-11-21: 6 messages behind, at most 20"),
    ]  # fmt: skip
    assert pictures.lag_chart([lag_day(0, 5.0, 9)]) is None
    assert pictures.lag_chart([lag_day(0, 0.0, 0), lag_day(1, 0.0, 0)]).y_range == (0.0, 1.0)


def test_a_group_has_a_small_line_of_its_lag_where_two_days_are_known() -> None:
    read = [day | {"group_id": group} for group, day in (("a", lag_day(0, 5.0, 9)), ("a", lag_day(1, 6.0, 20)))]
    drawn = pictures.lag_sparklines([*read, lag_day(0, 5.0, 9) | {"group_id": "b"}])
    assert {group: [point.y for point in chart.lines[0].points] for group, chart in drawn.items()} == {"a": [5.0, 6.0]}
    assert drawn["a"].title == pictures.lag_chart(read).title


def skew_day(number: int, skew: float, resource: str = "disk", worst: int | None = 9) -> dict[str, object]:
    return {
        "period_start": NOW + timedelta(days=number), "resource": resource, "skew": skew, "highest_skew": skew,
        "worst_broker": worst,
    }  # fmt: skip


def test_skew_is_a_line_a_resource_with_its_range_and_the_plans_that_were_applied() -> None:
    days = [
        skew_day(2, 1.1),
        skew_day(1, 1.5),
        skew_day(0, 1.6),
        skew_day(1, 1.2, "leaders"),
        skew_day(0, 1.3, "leaders"),
    ]
    alone = skew_day(0, 1.0, "cpu")
    plan = {"verified_at": NOW + timedelta(days=1), "run_id": "r", "state": "partly_applied"}
    end = NOW + timedelta(days=3)
    disk, leaders = pictures.skew_charts([*days, alone], {"disk": (0.9, 1.1)}, [plan], link, NOW, end)
    assert (disk.resource, leaders.resource, disk.skew) == ("disk", "leaders", 1.1)
    (line,) = disk.chart.lines
    assert [point.y for point in line.points] == [1.6, 1.5, 1.1]
    assert line.points[0].title == "2026-11-20: 1.60 ×, broker 9 the highest"
    assert (disk.chart.band, leaders.chart.band) == ((1.0, 1.1), None)
    (moment,) = disk.chart.moments
    assert (moment.title, moment.href) == ("plan partly applied, seen on 2026-11-21", "plan?run=r")


def test_a_lane_ends_when_its_finding_was_last_seen_or_goes_on_to_now() -> None:
    seen = {"code": "x", "subject_type": "broker", "subject": "9", "severity_rank": 1, "first_seen": NOW}
    newest = NOW + timedelta(days=5)
    now = newest + timedelta(hours=1)
    gone, still = pictures.lanes(
        [
            seen | {"last_seen": NOW + timedelta(days=2), "times_seen": 3},
            seen | {"last_seen": newest, "times_seen": 1, "severity_rank": 3},
        ],
        NOW, now, newest,
    )  # fmt: skip
    assert (gone.is_open, gone.strip.title) == (False, "2026-11-20 to 2026-11-22, seen 3 times")
    assert gone.strip.parts[0].end == (NOW + timedelta(days=2)).timestamp()
    assert (still.is_open, still.strip.title) == (True, "2026-11-20 to today, seen once")
    assert still.strip.parts[0].end == now.timestamp() == still.strip.high
    assert [lane.strip.parts[0].look for lane in (gone, still)] == [Look.FULL, Look.QUIET]


def outcome(before: float | None, promised: float | None, measured: float | None) -> dict[str, object]:
    return {
        "resource": "disk", "skew_before": before, "skew_predicted": promised, "skew_measured": measured
    }  # fmt: skip


def test_a_promise_goes_from_the_skew_then_to_the_promised_one_beside_the_measured_one() -> None:
    kept, open_, unknown = pictures.promises(
        [outcome(1.7, 1.1, 1.2), outcome(1.5, 1.1, None), outcome(None, None, None)]
    )
    assert [(part.start, part.end) for part in kept.strip.parts] == [(1.1, 1.7)]
    assert [tick.at for tick in kept.strip.ticks] == [1.2]
    assert kept.strip.title == "disk: 1.70 × then, 1.10 × promised, 1.20 × measured"
    assert (open_.strip.ticks, open_.strip.high) == ([], 1.7)
    assert open_.strip.title.endswith("not measured yet")
    assert unknown.strip.parts == []
    assert pictures.promises([]) == []


def test_a_cluster_has_a_small_line_of_its_skew_where_two_days_are_known() -> None:
    days = [skew_day(n, 1.5 - 0.1 * n) | {"cluster": "prod"} for n in range(3)] + [
        skew_day(0, 1.2) | {"cluster": "new"}
    ]
    drawn = pictures.sparklines(days)
    assert list(drawn) == ["prod"]
    assert [point.y for point in drawn["prod"].lines[0].points] == [1.5, 1.4, 1.3]
    assert drawn["prod"].title == (
        "Skew of disk by the day. 2026-11-20: 1.50 ×, broker 9 the highest; 2026-11-22: 1.30 ×, broker 9 the highest"
    )
