import pytest

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.plan_options import PlanOptions
from rebalance_advisor.run_parameters import plan_options


def test_an_empty_form_wishes_nothing():
    fields = ("balance_within", "max_moves", "throttle", "remove_broker", "add_broker", "include_topic")
    assert plan_options({}) == plan_options(dict.fromkeys(fields)) == PlanOptions()


def test_every_field_reaches_its_option():
    form = {
        "cluster": "c", "snapshot": "fresh", "seed": 3, "balance_within": 0.2, "max_move_bytes": 0, "max_moves": 4,
        "max_leader_changes": 5, "throttle": 1000, "remove_broker": [3, 1], "add_broker": ["7:rack-b", "8"],
        "include_topic": ["a.*"], "exclude_topic": ["a.b"],
    }  # fmt: skip
    assert plan_options(form) == PlanOptions(
        within=0.2, max_move_bytes=0, max_moves=4, max_leader_changes=5, throttle_bytes_per_s=1000,
        remove_brokers=frozenset({1, 3}), add_brokers={7: "rack-b", 8: None}, include_topics=("a.*",),
        exclude_topics=("a.b",),
    )  # fmt: skip


@pytest.mark.parametrize(
    "form", [{"add_broker": ["rack-b:7"]}, {"exclude_topic": ["("]}, {"remove_broker": [7], "add_broker": ["7"]}]
)
def test_a_wish_that_cannot_be_is_refused(form):
    with pytest.raises(InvalidInputError):
        plan_options(form)
