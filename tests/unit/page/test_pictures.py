"""Facts of the pictures, from rows as the views have them."""

from __future__ import annotations

from rebalance_advisor.page import pictures
from rebalance_advisor.page.charts import Look

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
    disk, written, *others = first.places
    assert [(cell.text, cell.look) for cell in disk] == [("1.00", Look.INSIDE), ("0.80", Look.BELOW)]
    assert [cell.text for cell in written] == ["1.00"]  # the plan does not say what it is afterwards
    assert [[cell.text for cell in place] for place in others] == [[None]] * 3
    assert "50 B of 100 B; after the plan 0.80 ×, 40 B of 100 B" in disk[0].words
    assert others[0][0].words == "broker 1, out: not known"


def test_a_broker_that_is_nearly_full_is_marked_by_a_sign_too() -> None:
    drawn = pictures.heat_map([level(1, load=90.0, times_share=1.0)], {}, link)
    assert drawn.rows[0].places[0][0].text == "1.00!"


def test_there_is_no_heat_map_without_a_broker() -> None:
    assert pictures.heat_map([], {}, link) is None
