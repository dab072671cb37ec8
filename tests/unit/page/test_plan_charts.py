from rebalance_advisor.page.routes import resource_charts

RESOURCE = {
    "resource": "disk", "mean_level": 10.0, "band_asked_low": None, "band_asked_high": 1.1, "widened_low": None,
    "widened_high": None, "exclusion_reason_code": None,
}  # fmt: skip


def brokers(count, capacity=None):
    return [
        {"broker": broker, "resource": "disk", "load_before": 10.0 + broker, "load_after": 10.0, "capacity": capacity}
        for broker in range(count)
    ]


def test_a_balanced_resource_is_drawn_and_one_left_out_is_not():
    (chart,) = resource_charts(
        [RESOURCE, RESOURCE | {"resource": "in", "exclusion_reason_code": "unknown"}], brokers(3)
    )
    assert chart.resource == "disk"
    assert chart.svg.startswith("<svg")
    assert "<script" not in chart.svg
    assert chart.left_out_count == 0


def test_a_thousand_brokers_are_drawn_as_the_few_furthest_from_the_mean():
    (chart,) = resource_charts([RESOURCE], brokers(1000, capacity=2.0))
    assert chart.left_out_count == 976
    assert ">999<" in chart.svg
    assert ">500<" not in chart.svg


def test_without_brokers_there_is_nothing_to_draw():
    (chart,) = resource_charts([RESOURCE], [])
    assert chart.svg == ""
