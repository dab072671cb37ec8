from __future__ import annotations

from typing import Any

import pytest

from kafka_rebalance.snapshot.codec import snapshot_id
from kafka_rebalance.verify import verify_plan
from kafka_rebalance.verify.document import (
    MOST,
    Fact,
    check_expiry,
    check_identity,
    check_seal,
    check_shape,
    is_topic_allowed,
    read_parameters,
)
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.files import HEAD, check_files, check_table, expected_files, names_its_own_moves
from kafka_rebalance.verify.frontier import check_frontier
from tests.sample import for_each
from tests.unit.planner.sample_clusters import NOON
from tests.unit.plans.hand_plans import SNAPSHOT
from tests.unit.verify.hand_claims import MOVE, WAVE, faults_of, frontier, parameters_document
from tests.unit.verify.plan_kinds import drain
from tests.unit.verify.sample_plans import sealed, sealed_anyhow


@for_each("change, is_right", [
        ({"max_moves": 0, "max_move_bytes": 0, "max_leader_changes": 0, "least_gain_per_byte": 0}, True),
        ({"min_topic_leaders": [{"pattern": "t", "leaders": 1}]}, True),
        ({"min_topic_leaders": [{"pattern": "t", "leaders": 0}]}, False),
        ({"survive": "rack"}, True), ({"survive": "disk"}, False), ({"survive": ""}, False),
        ({"max_hours": 0.1}, True), ({"max_hours": 0}, False), ({"max_hours": -1.5}, False),
        ({"dead_band": 0}, True), ({"dead_band": -0.1}, False), ({"least_gain_per_byte": -1}, False),
        ({"throttle_bytes_per_s": 1, "moves_per_broker": 1, "partitions_per_wave": 1, "replication_factor": 1}, True),
        ({"replication_factor": 0}, False), ({"partitions_per_wave": 0}, False), ({"expires_after_hours": 0}, False),
        ({"balance_within": 0}, True), ({"balance_within": 0.999}, True), ({"balance_within": -0.001}, False),
        ({"remove_brokers": [0]}, True), ({"remove_brokers": [0, 0]}, False), ({"exclude_brokers": [2, 10]}, True),
        ({"exclude_brokers": [10, 2]}, False), ({"remove_brokers": [1], "add_brokers": {"2": None}}, True),
        ({"capacities": {"1": {"disk_bytes": 0.0}}}, False), ({"capacities": {"1": {"disk_bytes": None}}}, False),
        ({"targets": {"disk": [0, None]}}, True), ({"targets": {"disk": [1.0, 1.0]}}, True),
        ({"targets": {"disk": [None, None]}}, False), ({"targets": {"disk": [-0.1, None]}}, False),
        ({"targets": {"disk": [None, -0.1]}}, False), ({"targets": {"disk": [1.0, 1.1, 1.2]}}, False),
        ({"targets": {"disk": [1.1, 1.0]}}, False),
        ({"caps": {"leaders": 1}}, True), ({"caps": {"leaders": 1.5}}, False),
        ({"caps": {"disk": 0.5}}, True), ({"caps": {"disk": 0}}, False), ({"caps": {"tape": 5}}, False),
        ({"is_explicit": False, "is_within_ordered": False, "balance_within": 0.10}, True),
        ({"is_within_ordered": False, "balance_within": 0.10}, False),
        ({"is_within_ordered": False, "balance_within": 0.10, "caps": {"disk": 5}}, True),
        ({"is_within_ordered": False, "balance_within": 0.11, "caps": {"disk": 5}}, False),
        ({"is_explicit": False, "is_within_ordered": True, "balance_within": 0.10}, False),
        ({"is_explicit": False, "balance_within": 0.10, "caps": {"disk": 5}}, False),
        ({"is_explicit": False, "balance_within": 0.10, "targets": {"disk": [None, 2]}}, False),
        ({"is_explicit": False, "is_within_ordered": False, "balance_within": None, "preferred_election": True}, True),
        ({"is_explicit": True, "is_within_ordered": False, "balance_within": None, "preferred_election": True}, False),
        ({"is_explicit": True, "is_within_ordered": True, "balance_within": None, "preferred_election": True}, False),
        ({"balance_within": None}, False),
        ({"dead_band": 1}, True), ({"dead_band": -2e300}, False), ({"dead_band": float("inf")}, False),
        ({"add_brokers": {"10": None}}, True), ({"add_brokers": {"01": None}}, False),
        ({"add_brokers": {"12345678901": None}}, False), ({"is_explicit": 1}, False), ({"more": 1}, False),
        ({"moves_per_broker": None}, False), ({"dead_band": 10**400}, False), ({"max_moves": [[[]]]}, False),
        ({"exclude_topics": ["a{1,"]}, True), ({"exclude_topics": ["*"]}, False), ({"include_topics": ["[a"]}, False),
    ])  # fmt: skip
def test_a_parameter_at_its_edge(change: dict[str, Any], is_right: bool) -> None:
    assert faults_of(read_parameters, parameters_document(**change)) == ([] if is_right else ["parameter"])


def test_topics_are_included_and_excluded_by_their_whole_name() -> None:
    read = read_parameters(parameters_document(include_topics=["a.*", "b"], exclude_topics=["ab"]), FaultList())
    assert read is not None
    assert [name for name in ("a", "ab", "abc", "b", "bc", "c") if is_topic_allowed(read, name)] == ["a", "abc", "b"]
    assert not read.has_budget
    for limit in ("max_move_bytes", "max_moves", "max_leader_changes"):
        limited = read_parameters(parameters_document(**{limit: 0}), FaultList())
        assert limited is not None
        assert limited.has_budget
    faults = FaultList()
    assert read_parameters({"targets": {}}, faults) is None
    assert read_parameters(parameters_document(max_moves=True), faults) is None
    assert faults.counts == {"parameter": 2}


@pytest.mark.parametrize(
    ("captured", "expires", "hours", "is_right"),
    [
        ("2026-11-20 12:00", "2026-11-20T14:00:00", 2, True),
        ("2026-11-20T12:00:00.5Z", "2026-11-20T14:00:00.500Z", 2, True),
        ("2026-11-20T12:00:00.5Z", "2026-11-20T14:00:00.05Z", 2, False),
        ("2026-11-20T12:00:00.123456789Z", "2026-11-20T14:00:00.123456788Z", 2, False),
        ("2026-11-20T12:00:00Z", "2026-11-20T14:00:00+00:00", 2, False),
        ("2026-11-20T12:00:00Z", "then", 2, False),
        ("then", "then", 2, False),
        (None, "2026-11-20T14:00:00Z", 2, False),
        ("2026-11-20T12:00:00Z", "2026-11-20T14:00:00Z", 10**12, False),
        ("2026-11-20T12:00:00Z", "x", 10**12, False),
    ],
)
def test_times_of_expiry(captured: str | None, expires: str | None, hours: int, is_right: bool) -> None:
    document = {"captured_at": captured, "expires_at": expires, "parameters": {"expires_after_hours": hours}}
    assert faults_of(check_expiry, document) == ([] if is_right else ["expiry"])


def test_a_seal_over_what_is_no_json_is_none() -> None:
    assert faults_of(check_seal, sealed({"a": [1, "ä", None]})) == []
    assert faults_of(check_seal, sealed_anyhow({"a": float("nan")})) == ["hash"]
    assert faults_of(check_seal, {"a": 1}) == ["hash"]
    assert faults_of(check_seal, {"a": {1, 2}, "plan_id": "x"}) == ["hash"]


def test_the_time_is_written_in_one_form() -> None:
    document: dict[str, Any] = {
        "cluster": "test", "cluster_id": "test-id", "captured_at": NOON,
        "snapshot_id": snapshot_id(SNAPSHOT), "continues": "f" * 64,
    }  # fmt: skip
    assert faults_of(check_identity, document, SNAPSHOT) == []
    for other in ("2026-11-20T13:00:00+01:00", "2026-11-20T12:00:01Z", "noon", None):
        assert faults_of(check_identity, document | {"captured_at": other}, SNAPSHOT) == ["identity"]
    for continues in ("f" * 63, "F" * 64, "f" * 65):
        assert faults_of(check_identity, document | {"continues": continues}, SNAPSHOT) == ["identity"]


def point(number: int, document: dict[str, Any] | None = None, **changes: object) -> dict[str, Any]:
    """The frontier with one point changed."""
    document = frontier() if document is None else document
    document["frontier"][number] |= changes
    return document


def unknown_bytes() -> dict[str, Any]:
    """A frontier whose points are ordered by replicas: of all but the first, bytes are unknown."""
    document = frontier()
    for later in document["frontier"][1:]:
        later.update({"bytes": None, "lower_bound_bytes": None})
    return document | {"cost": document["cost"] | {"bytes": None}, "lower_bound": []}


@for_each(
    "document, is_right",
    [
        (point(3, lower_bound_bytes=31.0), True),  # a byte more is rounding
        (point(3, lower_bound_bytes=31.1), False),
        (point(3, lower_bound_bytes=0.0), True),
        (point(3, lower_bound_bytes=-0.1), False),
        (point(3, lower_bound_bytes=None), False),
        (point(3, bytes=20), True),  # equal to the one before
        (point(3, bytes=19), False),
        (point(7, skew={"disk": 1 - 1e-8}), True),
        (point(3, skew={"disk": 1 - 1e-6}), False),
        (point(7, skew={"disk": 0.0}), True),  # nothing is carried
        (point(3, skew={"disk": 1.4}), False),  # equal to the point before, which costs less
        (point(3, skew={"disk": 1.6}), False),
        (point(3, skew={"disk": 1.399}), True),
        (point(3, skew={"disk": 1.4}, bytes=20, replica_moves=2), True),  # the same plan, for a narrower band
        (point(3, skew={"disk": -0.1}), False),
        (point(3, skew={"disk": 1.2, "cpu": 1.0}), False),
        (point(0, skew={"disk": 1.4}), False),  # nothing moves
        (point(0, skew={"disk": 1.4}, leader_changes=1), True),
        (point(0, skew={"disk": 1.48}) | {"parameters": parameters_document(replication_factor=2)}, True),
        (point(3, leader_changes=-1), False),
        (point(3, replica_moves=-1), False),
        (point(3, tolerance=-0.1), False),
        (point(3, tolerance=0.0), True),
        (point(3, tolerance=None), True),
        (point(3, bytes=20, replica_moves=0), False),
        (point(2, bytes=10, lower_bound_bytes=0.0, replica_moves=1), True),
        (point(3, reasons=[]), True),
        (point(1, reasons=[]), False),
        (point(1, name="knee"), False),
        (point(7, name=None), False),
        (point(6, point(7, name=None), name="even"), False),
        (point(3, is_recommended=True), False),
        (frontier() | {"verdict": "infeasible"}, False),
        (frontier(tolerance=None) | {"moves": []}, True),
        (frontier() | {"moves": []}, False),
        (frontier(tolerance=None) | {"parameters": parameters_document(targets={"disk": [None, 2.0]})}, True),
        (frontier() | {"lower_bound": []}, False),
        (frontier() | {"lower_bound": [{"cost": "seconds", "value": 20.0}]}, False),
        (unknown_bytes(), True),
        (point(3, unknown_bytes(), replica_moves=2), True),
        (point(3, unknown_bytes(), replica_moves=1), False),
        (point(0, unknown_bytes(), bytes=None, lower_bound_bytes=None), False),  # copying nothing takes no bytes
        (point(0, unknown_bytes(), bytes=None, lower_bound_bytes=None, replica_moves=1), True),
    ],
)
def test_a_point_of_the_frontier_at_its_edge(document: dict[str, Any], is_right: bool) -> None:
    assert faults_of(check_frontier, document) == ([] if is_right else ["frontier"])


def test_faults_are_told_in_clean_text_of_a_bounded_length() -> None:
    faults = FaultList()
    faults.add("shape", "plan\x1b[2J", "x" * 400)
    faults.add("shape", "plan", "y" * 401)
    assert [str(fault) for fault in faults.faults] == [
        f"shape: plan\\x1b[2J: {'x' * 400}", f"shape: plan: {'y' * 397}...",
    ]  # fmt: skip
    faults.require_close("cost", "a", 1.0, 1.0 + 0.9e-9)
    faults.require_close("cost", "a", 0.0, 0.9e-9, 1.0)
    faults.require_close("cost", "a", None, None)
    assert not faults.has_any("cost")
    faults.require_close("cost", "a", 1.0, 1.0 + 1.1e-9)
    faults.require_close("cost", "a", 0.0, 1.1e-9, 1.0)
    faults.require_close("cost", "a", None, 0.0)
    faults.require_equal("cost", "a", True, 1)
    assert (faults.counts["cost"], faults.has_any(), FaultList().has_any()) == (4, True, False)


@for_each("path, value, is_right", [
        (("seed",), MOST, True), (("seed",), MOST + 1, False), (("seed",), -MOST - 1, False), (("seed",), True, False),
        (("robustness", "noise"), 1e300, True), (("robustness", "noise"), -2e300, False),
        (("robustness", "noise"), 1, True), (("robustness", "noise"), float("inf"), False),
        (("seen", "broker_racks"), {"10": None}, True), (("seen", "broker_racks"), {"01": None}, False),
        (("seen", "broker_racks"), {"12345678901": None}, False), (("topic_ids",), {"any name": None}, True),
        (("topic_excess_replicas",), [1, 2, 3], False), (("topic_excess_replicas",), [1], False),
        (("seen", "reassigning"), [["t", 0]], True), (("seen", "reassigning"), [["t", None]], False),
        (("format_version",), 0, False), (("format_version",), 2, False), (("format_version",), True, False),
        (("format_version",), "1", False), (("resources", 0, "is_ordered"), None, False),
        (("verdict",), "perhaps", False),
        (("certificate",), {"disk": {"x": 1.0}}, False), (("before",), {"disk": {"0": None}}, False),
        (("before",), {"disk": {"x": 1.0}}, False), (("after",), {"disk": {"x": 1.0}}, False),
        (("robustness",), {"trials": 1, "noise": 0.5, "verdict_stands": 1, "more": 1}, False),
    ])  # fmt: skip
def test_each_kind_of_value_at_its_edge(path: tuple[str, ...], value: object, is_right: bool) -> None:
    document = drain().document
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    faults = FaultList()
    assert check_shape(document, faults) is is_right
    assert set(faults.counts) <= {"shape"}


def test_no_bounds_are_told_of_what_could_not_be_judged() -> None:
    sample = drain()
    assert set(verify_plan(sample.document, sample.snapshot).bounds) == {
        "bytes", "replica_moves", "leader_changes", "seconds",
    }  # fmt: skip
    wrong = sample.document
    assert verify_plan(wrong | {"seed": "x"}, sample.snapshot).bounds == {}
    assert verify_plan(wrong | {"parameters": wrong["parameters"] | {"max_moves": -1}}, sample.snapshot).bounds == {}
    assert verify_plan(wrong | {"before": {}}, sample.snapshot).bounds == {}
    twice = wrong | {"moves": [*wrong["moves"], wrong["moves"][0]]}
    assert verify_plan(twice, sample.snapshot).bounds == {}


def test_a_text_cell_is_no_formula_and_a_number_is_itself() -> None:
    move = MOVE | {"topic": "-t", "reason": {"code": "=1", "args": {}}, "bytes": -4, "leader_from": None}
    cells = {
        "wave": "1", "topic": "'-t", "partition": "1", "kind": "replica", "from": "0 1", "to": "2 1", "leader_from": "",
        "leader_to": "2", "bytes": "-4", "reason_code": "'=1", "reason": "why", "worse_without": "what",
    }  # fmt: skip
    head, line = ",".join(HEAD), ",".join(cells[name] for name in HEAD)
    assert faults_of(check_table, {"moves": [move]}, f"{head}\n{line}\n".encode()) == []
    for wrong in (f"{head}\n{line},\n", f"{head},x\n{line}\n", "", f"{head}\n", f'{head}\n"'):
        assert faults_of(check_table, {"moves": [move]}, wrong.encode()) == ["table"]
    assert faults_of(check_table, {"moves": [move]}, b"\xff") == ["table"]
    twice = f"{head}\n{line}\n{line.replace('-4', '5')}\n".encode()
    faults = FaultList()
    check_table({"moves": [move, move]}, twice, faults)
    assert [fault.location for fault in faults.faults] == ["moves.csv:3"]


def test_files_beside_the_plan_say_exactly_what_it_says() -> None:
    leads = MOVE | {"topic": "u", "to": [1, 0], "leader_to": 1, "kind": "leader", "wave": 2}
    still = MOVE | {"topic": "v", "to": [0, 2], "leader_to": 0, "wave": 2}
    document: dict[str, Any] = {
        "moves": [MOVE, leads, still], "waves": [WAVE, WAVE | {"moves": [1, 2]}],
        "rollback": {"waves": [WAVE | {"moves": [1, 2]}, WAVE]},
    }  # fmt: skip
    files = expected_files(document)
    assert sorted(files) == [
        "elections/01.json", "elections/02.json", "rollback/01.json", "rollback/02.json", "waves/01.json",
        "waves/02.json",
    ]  # fmt: skip
    assert files["elections/02.json"] == {"partitions": [{"topic": "u", "partition": 1}]}
    assert files["rollback/02.json"]["partitions"] == [{"topic": "t", "partition": 1, "replicas": [0, 1]}]
    assert files["waves/01.json"] == {"version": 1, "partitions": [{"topic": "t", "partition": 1, "replicas": [2, 1]}]}
    assert faults_of(check_files, document, files) == []
    for version in (True, 1.0, 2):
        wrong = files | {"waves/01.json": files["waves/01.json"] | {"version": version}}
        assert faults_of(check_files, document, wrong) == ["file"]
    assert faults_of(check_files, document, files | {"waves/01.json": files["waves/02.json"]}) == ["file"]
    many = document | {"waves": [WAVE] * 100, "moves": [MOVE], "rollback": None}
    assert {"waves/001.json", "waves/100.json"} < set(expected_files(many))
    few = document | {"waves": [WAVE] * 99, "moves": [MOVE], "rollback": {"waves": [WAVE] * 100}}
    assert "waves/001.json" in expected_files(few)


@pytest.mark.parametrize(
    ("members", "wave", "back", "are_there"),
    [([0], 1, [0], True), ([1], 1, [0], False), ([-1], 1, [0], False), ([], 1, [0], False), ([0], 0, [0], False),
     ([0], 2, [0], False), ([0], 1, [1], False), ([0], 1, None, True)],
)  # fmt: skip
def test_waves_name_moves_that_there_are(members: list, wave: int, back: list | None, are_there: bool) -> None:
    document: dict[str, Any] = {
        "moves": [MOVE | {"wave": wave}], "waves": [WAVE | {"moves": members}],
        "rollback": None if back is None else {"waves": [WAVE | {"moves": back}]},
    }  # fmt: skip
    assert names_its_own_moves(document) is are_there
    if not are_there:
        assert faults_of(check_files, document, {}) == ["file"]


def test_facts_are_nested_three_deep_at_most() -> None:
    def nested(depth: int) -> dict[str, Any]:
        return {"code": "spreads_topic", "args": {"why": nested(depth - 1)} if depth else {}}

    beside = {"code": "spreads_topic", "args": {str(number): nested(2) for number in range(5)}}
    for fact, is_right in ((nested(3), True), (nested(4), False), (beside, True)):
        faults = FaultList()
        assert check_shape(fact, faults, Fact) is is_right, faults.faults
