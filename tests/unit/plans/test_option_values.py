import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.errors import InfeasibleError, UsageError
from kafka_rebalance.facts import FactCode
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target, TopicBrokers, TopicLeaders
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Verdict
from kafka_rebalance.snapshot.model import BrokerState, Capacity
from tests.sample import for_each
from tests.unit.planner.sample_clusters import brokers, cluster, row

STRANGE: list[Any] = [
    -1, 0.5, 10**30, 2**63, 1e308, float("inf"), float("nan"), True, "5", "\ud800", [], {}, None, b"x", [[]],
]  # fmt: skip
NAMES = list(PlanOptions.__dataclass_fields__)
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"targets": {"disk": Target(None, 0.0)}}, "--target disk: no broker can carry 0 × the mean at most"),
    ({"targets": {"disk": Target(None, 1e-320)}}, "--target disk"),
    ({"targets": {"disk": Target(None, 1e300)}}, "--target disk"),
    ({"targets": {"disk": Target(1e300, None)}}, "--target disk"),
    ({"targets": {"disk": Target(None, None)}}, "--target disk"),
    ({"targets": {"tape": Target(None, 1.1)}}, "'tape' is no resource"),
    ({"caps": {"tape": 1.0}}, "'tape' is no resource"),
    ({"caps": {"disk": 0.0}}, "--cap disk"),
    ({"caps": {"out": float("nan")}}, "--cap out"),
    ({"caps": {"in": "5"}}, "--cap in"),
    ({"caps": {"leaders": 2.5}}, "--cap leaders: 2.5 cannot be; leaders are counted"),
    ({"within": 1.0}, "--balance-within"),
    ({"max_moves": 10**30}, "--max-moves"),
    ({"throttle_bytes_per_s": 0}, "--throttle"),
    ({"replication_factor": 2**15}, "--replication-factor"),
    ({"remove_brokers": frozenset({2**31})}, "--remove-broker"),
    ({"add_brokers": {-1: None}}, "--add-broker"),
    ({"exclude_topics": ("a{99999999999999999999}",)}, "--exclude-topic"),
    ({"capacities": {2**31: Capacity(disk_bytes=1)}}, "--capacity"),
]


@pytest.mark.parametrize(("fields", "message"), WRONG, ids=[text for _, text in WRONG])
def test_a_value_out_of_range_is_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as refusal:
        PlanOptions(**fields)
    assert message in str(refusal.value)


@for_each("name", NAMES)
def test_no_value_of_any_kind_crashes(name: str) -> None:
    for value in STRANGE:
        try:
            options = PlanOptions(**{name: value})
        except UsageError:
            continue
        held = getattr(options, name)
        assert held == value or list(held) == value


def test_parameters_of_a_plan_with_any_field_spoiled_are_read_or_refused_with_their_place() -> None:
    good = PlanOptions(within=0.2, targets={"disk": Target(0.9, 1.1)}, add_brokers={7: "r"}, max_moves=3).document()
    assert PlanOptions.from_document(good).document() == good
    refused = 0
    for name in good:
        for value in [*STRANGE, {"7": []}, {"disk": [1]}, {"disk": ["x", "y"]}, {"9" * 5000: 1}, ["\ud800"], [10**400]]:
            reported = None
            try:
                PlanOptions.from_document(good | {name: value})
            except InvalidInputError as error:
                reported = error
            refused += reported is not None
            assert reported is None or (
                not isinstance(reported, UsageError) and str(reported).startswith("plan.parameters: ")
            )
    assert refused > 250


def test_parameters_of_a_plan_are_plain_json() -> None:
    given = PlanOptions(
        targets={"disk": Target(None, 1.1)}, caps={"replicas": 4000, "disk": 1e18}, headroom={"disk": 0.2},
        add_brokers={8: None, 7: "r"}, remove_brokers=frozenset({3, 1, 2}), capacities={2: Capacity(disk_bytes=1)},
        topic_brokers=(TopicBrokers("a", frozenset({2, 1}), frozenset({"z", "b"})),), new_racks=frozenset({"r"}),
        min_topic_leaders=(TopicLeaders("a", 2),), also_balance=frozenset({"potential_out", "leader_in"}),
    )  # fmt: skip
    document = given.document()
    assert json.loads(json.dumps(document)) == document
    assert {name: document[name] for name in ("targets", "caps", "add_brokers", "remove_brokers", "topic_brokers")} == {
        "targets": {"disk": [None, 1.1]},
        "caps": {"disk": 1e18, "replicas": 4000},
        "add_brokers": {"7": "r", "8": None},
        "remove_brokers": [1, 2, 3],
        "topic_brokers": [{"pattern": "a", "brokers": [1, 2], "racks": ["b", "z"]}],
    }
    assert str(document["caps"]) == "{'disk': 1e+18, 'replicas': 4000}", "the plan's hash knows 4000 from 4000.0"
    assert not {"within", "with_frontier", "new_racks"} & set(document)
    assert PlanOptions.from_document(document) == replace(given, new_racks=frozenset())


SMALL = cluster([row("t", p, [p % 3, (p + 1) % 3]) for p in range(6)], brokers(3, racks=3, b2=BrokerState.DEAD))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            PlanOptions(add_brokers={1: "rack-zz"}),
            "--add-broker 1:rack-zz: broker 1 is in the cluster already, on rack-1",
        ),
        (PlanOptions(add_brokers={2: "rack-2"}), "--add-broker 2:rack-2: broker 2 is in the cluster, and dead"),
        (PlanOptions(targets={"cpu": Target(None, 1.2)}), "--target cpu: INPUT does not tell it"),
    ],
    ids=["another rack", "a dead one", "an unmeasured resource"],
)
def test_an_option_that_the_cluster_contradicts_is_refused(options: PlanOptions, message: str) -> None:
    with pytest.raises(UsageError) as refusal:
        make_plan(SMALL, options)
    assert message.replace("on rack-1", "on rack rack-1") in str(refusal.value)


def test_a_replication_factor_beyond_every_broker_is_infeasible_at_once() -> None:
    with pytest.raises(InfeasibleError, match=r"factor_above_brokers\(replication_factor=32767, brokers=3"):
        make_plan(SMALL, PlanOptions(replication_factor=2**15 - 1))


def test_a_budget_in_bytes_is_not_dropped_where_sizes_are_unknown() -> None:
    bare = cluster([row("t", p, [0, 1], None) for p in range(12)], brokers(4))
    plan = make_plan(bare, PlanOptions(within=0.1, max_move_bytes=10**9, with_frontier=False))
    assert plan.verdict is Verdict.INFEASIBLE
    assert (plan.reasons[0].code, plan.reasons[0].args["option"]) == (FactCode.SIZES_UNKNOWN, "--max-move-bytes")
    assert make_plan(bare, PlanOptions(within=0.1, max_moves=10**9, with_frontier=False)).moves


def test_bands_and_targets_at_their_edges_give_a_plan() -> None:
    uneven = cluster([row("t", p, [0, 1]) for p in range(8)], brokers(3))
    draw = np.random.default_rng(3)
    for within in (0.0, 1e-300, 0.999999):
        assert make_plan(uneven, PlanOptions(within=within, with_frontier=False)).verdict in set(Verdict)
    for resource in ("disk", "replicas", "leaders"):
        low = float(draw.choice([0.0, 1e-320, 0.5, 3.0]))
        for target in (Target(None, 1e-6), Target(None, 1e6), Target(low, None), Target(1e6, 1e6)):
            assert make_plan(uneven, PlanOptions(targets={resource: target}, with_frontier=False)).verdict in set(
                Verdict
            )
