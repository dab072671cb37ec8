"""Losses and growth as the shell and the form take them."""

import pytest

from kafka_rebalance.errors import UsageError
from rebalance_advisor.request.what_if import WhatIfRequest
from tests.unit.advisory.test_what_if import snapshot


def test_a_request_is_one_scenario_growth_first() -> None:
    asked = {"lose_broker": ["2", 1, 1], "lose_rack": ["b", "a"], "growth": ["20%", "orders.*=-50%"]}
    request = WhatIfRequest.from_mapping(asked)
    assert request.document() == {"lose_rack": ["a", "b"], "lose_broker": [1, 2], "growth": ["20%", "orders.*=-50%"]}
    assert WhatIfRequest.from_mapping(request.document()) == request
    assert request.scenario is not None
    assert request.scenario.name == (
        "growth 20%, growth -50% of orders.*, without rack a and rack b and broker 1 and broker 2"
    )
    kinds = [type(change).__name__ for change in request.scenario.changes]
    assert kinds == ["Growth", "Growth", "RackLost", "RackLost", "BrokersLost"]


def test_nothing_asked_is_no_scenario() -> None:
    assert WhatIfRequest.from_mapping({"lose_rack": [], "lose_broker": None}).scenario is None


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"lose_racks": ["a"]}, "'lose_racks': is no option; did you mean lose_rack"),
        ({"lose_rack": [""]}, "--lose-rack: '' is no rack"),
        ({"lose_broker": ["b1"]}, "--lose-broker: 'b1' is no broker id; give 0 to"),
        ({"growth": ["20"]}, "--growth: '20' is no growth; give 20%, or orders"),
        ({"growth": [20]}, "--growth: 20 is no growth"),
        ({"growth": ["-101%"]}, "--growth: '-101%' is no growth"),
        ({"growth": ["100000000%"]}, "--growth: '100000000%' is no growth"),
        ({"growth": ["(=20%"]}, r"--growth: .* is no regular expression"),
    ],
)
def test_a_wrong_value_is_refused_by_its_name(asked: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        WhatIfRequest.from_mapping(asked)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"lose_rack": ["z"]}, "^rack 'z': no rack of the cluster has it; known: rack-0, rack-1, rack-2"),
        ({"growth": ["20%"], "lose_broker": [9]}, "^broker 9: no broker of the cluster has it; known: 0, 1, 2"),
        ({"growth": ["nosuch=20%"]}, "^topic 'nosuch': no topic of the cluster has such a name"),
    ],
)
def test_what_the_cluster_does_not_have_is_wrong_usage(asked: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        WhatIfRequest.from_mapping(asked).require_fit(snapshot())
