from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from kafka_rebalance.verify.document import (
    UNREADABLE,
    Plan,
    check_expiry,
    check_identity,
    check_seal,
    check_shape,
    read_json,
    read_parameters,
)
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.files import HEAD, cell_of, check_folder, check_table
from kafka_rebalance.verify.frontier import check_frontier
from kafka_rebalance.verify.verification import Verification
from tests.unit.planner.sample_clusters import NOON
from tests.unit.plans.hand_plans import SNAPSHOT
from tests.unit.verify.hand_claims import MOVE, faults_of, frontier, parameters_document
from tests.unit.verify.sample_plans import sealed


def test_a_document_lacks_nothing_and_has_nothing_more() -> None:
    faults = FaultList()
    assert not check_shape({"extra": 1}, faults)
    assert faults.counts["shape"] == len(Plan.__annotations__) + 1


@pytest.mark.parametrize(
    ("captured", "expires", "is_right"),
    [
        ("2026-11-20T12:00:00Z", "2026-11-21T12:00:00Z", True),
        ("2026-11-20T12:00:00+01:00", "2026-11-21T12:00:00+01:00", True),
        ("2026-11-20T12:00:00Z", "2026-11-21T12:00:01Z", False),
        ("2026-11-20T12:00:00Z", None, False),
        (None, None, True),
        ("2026-13-20T12:00:00Z", "2026-11-21T12:00:00Z", False),
    ],
)
def test_a_plan_holds_for_so_many_hours(captured: str | None, expires: str | None, is_right: bool) -> None:
    document = {"captured_at": captured, "expires_at": expires, "parameters": {"expires_after_hours": 24}}
    assert faults_of(check_expiry, document) == ([] if is_right else ["expiry"])


def test_the_seal_is_the_hash_of_the_rest() -> None:
    document = sealed({"a": 1, "b": "ä"})
    assert faults_of(check_seal, document) == []
    assert faults_of(check_seal, document | {"a": 2}) == ["hash"]
    assert faults_of(check_seal, document | {"a": float("nan")}) == ["hash"]


def test_the_plan_names_its_cluster_and_reading() -> None:
    from kafka_rebalance.snapshot.codec import snapshot_id

    document: dict[str, Any] = {
        "cluster": "test", "cluster_id": "test-id", "captured_at": NOON,
        "snapshot_id": snapshot_id(SNAPSHOT), "continues": None,
    }  # fmt: skip
    assert faults_of(check_identity, document, SNAPSHOT) == []
    for name, value in (("cluster", "x"), ("cluster_id", None), ("snapshot_id", "x"), ("continues", "no hash")):
        assert faults_of(check_identity, document | {name: value}, SNAPSHOT) == ["identity"]


# Parameter: values at the edge of what means something, and values beyond it; `BESIDE` is there with both.
BESIDE: dict[str, dict[str, Any]] = {
    "add_brokers": {"remove_brokers": [7], "remove_racks": ["r"]},
    "remove_brokers": {"add_brokers": {"7": "a"}},
}
WITHOUT_CAPACITY = dict.fromkeys(("disk_bytes", "in_bytes_per_s", "out_bytes_per_s", "cpu_percent"))
EDGES: dict[str, tuple[list[Any], list[Any]]] = {
    **dict.fromkeys(("max_move_bytes", "max_moves", "max_leader_changes"), ([0, 1, None], [-1])),
    "max_reorders": ([0, 1], [-1, None]),
    **dict.fromkeys(("dead_band", "least_gain_per_byte"), ([0, 0.5], [-0.5])),
    **dict.fromkeys(
        ("replication_factor", "throttle_bytes_per_s", "moves_per_broker", "partitions_per_wave",
         "max_leader_changes_per_wave", "expires_after_hours"),
        ([1, 2], [0, -1]),
    ),
    "max_hours": ([0.5, 1, None], [0, -1.0]),
    "balance_within": ([0, 0.2, 0.99], [-0.01, 1, 1.5]),
    "slack": ([0, 0.99, None], [-0.01, 1]),
    "prefer": (["bytes", "moves", "time", "leaders"], ["", "cost"]),
    "also_balance": ([[], ["leader_in"], ["leader_in", "potential_out"]],
                     [["potential_out", "leader_in"], ["leader_in", "leader_in"], ["disk"]]),
    "survive": ([None, "broker", "rack"], ["zone"]),
    **dict.fromkeys(("demote_brokers", "exclude_brokers"), ([[], [0], [1, 2]], [[2, 1], [1, 1], [-1]])),
    "remove_brokers": ([[], [0], [1, 2]], [[2, 1], [1, 1], [-1], [7]]),
    "add_brokers": ([{}, {"8": "a"}], [{"7": "a"}, {"8": "r"}]),
    "remove_racks": ([[], ["a", "b"]], [["b", "a"], ["a", "a"], [""]]),
    **dict.fromkeys(("include_topics", "exclude_topics"), ([[], ["a.*"]], [["("], ["a", "["]])),
    "topic_brokers": (
        [[{"pattern": "a", "brokers": [0, 1], "racks": []}], [{"pattern": "a", "brokers": [], "racks": ["a", "b"]}]],
        [
            [{"pattern": pattern, "brokers": brokers, "racks": racks}]
            for pattern, brokers, racks in (
                ("(", [1], []), ("", [1], []), ("a", [], []), ("a", [1, 0], []), ("a", [1, 1], []), ("a", [-1], []),
                ("a", [], ["b", "a"]), ("a", [], ["a", "a"]), ("a", [], [""]),
            )
        ],
    ),
    "min_topic_leaders": (
        [[{"pattern": "a", "leaders": 1}]],
        [[{"pattern": "(", "leaders": 1}], [{"pattern": "", "leaders": 1}], [{"pattern": "a", "leaders": 0}]],
    ),
    "targets": (
        [{"disk": [0, 1e-6]}, {"disk": [1.0, 1.0]}, {"disk": [None, 0.5]}, {"disk": [0.5, None]}],
        [{"disk": [1.2, 0.8]}, {"tape": [0.8, 1.2]}, {"disk": [-0.1, 1.0]}, {"disk": [None, -0.1]}, {"disk": [1.0]}],
    ),
    "caps": ([{"disk": 0.5}, {"replicas": 1}, {"replicas": 2.0}], [{"disk": 0}, {"tape": 1}, {"replicas": 1.5}]),
    "headroom": ([{"disk": 0}, {"cpu": 0.99}], [{"disk": -0.01}, {"disk": 1}, {"replicas": 0.1}]),
    "capacities": (
        [{"1": WITHOUT_CAPACITY | {"disk_bytes": 1}}, {"1": WITHOUT_CAPACITY}], [{"1": {"disk_bytes": -1.0}}],
    ),
}  # fmt: skip


def test_a_parameter_beyond_the_edge_of_what_it_may_be_is_a_fault() -> None:
    """And none at the edge."""
    for name, (lawful, wrong) in EDGES.items():
        beside = BESIDE.get(name, {})
        for value, codes in [*((value, []) for value in lawful), *((value, ["parameter"]) for value in wrong)]:
            assert faults_of(read_parameters, parameters_document(**beside, **{name: value})) == codes, (name, value)
    beside = {"min_topic_leaders": [{"pattern": "a", "leaders": 1}]}
    assert faults_of(read_parameters, parameters_document(**beside, survive="rack")) == ["parameter"]


def test_what_a_plan_says_was_asked_is_what_some_options_ask() -> None:
    """Lawful combinations come from options: a default or requested band, with targets."""
    names = ("balance_within", "is_within_ordered", "is_explicit")
    for more in ({}, {"targets": {"disk": [0.5, 1.5]}}, {"caps": {"disk": 1}}, {"headroom": {"disk": 0}}):
        lawful = {(0.1, True, True), (0.2, True, True), (0.1, False, bool(more))}
        for values in product((0.1, 0.2), (False, True), (False, True)):
            document = parameters_document(**more, **dict(zip(names, values, strict=True)))
            assert faults_of(read_parameters, document) == ([] if values in lawful else ["parameter"]), (more, values)
    election: dict[str, Any] = {"preferred_election": True, "is_within_ordered": False, "is_explicit": False}
    for change, codes in (
        ({"balance_within": None}, []),
        ({"balance_within": None, "min_topic_leaders": [{"pattern": "a", "leaders": 1}]}, ["parameter"]),
        ({"balance_within": 0.1}, ["parameter"]),
        ({"balance_within": None, "preferred_election": False}, ["parameter"]),
        ({"balance_within": None, "is_within_ordered": True, "is_explicit": True}, ["parameter"]),
    ):
        assert faults_of(read_parameters, parameters_document(**(election | change))) == codes, change


@pytest.mark.parametrize(
    "change",
    [
        {"bytes": 5}, {"bytes": None}, {"lower_bound_bytes": 60.0}, {"name": None}, {"is_recommended": False},
        {"skew": {"disk": 0.5}}, {"skew": {}}, {"replica_moves": 0}, {"tolerance": 0.3}, {"reasons": []},
    ],
)  # fmt: skip
def test_a_frontier_is_in_order_named_and_holds_the_plan(change: dict[str, Any]) -> None:
    assert faults_of(check_frontier, frontier()) == []
    assert faults_of(check_frontier, frontier(**change)) == ["frontier"]


def test_a_frontier_has_points_enough_or_none() -> None:
    few = frontier()
    few["frontier"] = few["frontier"][:-1]
    assert faults_of(check_frontier, few) == ["frontier"]
    assert faults_of(check_frontier, frontier() | {"frontier": []}) == []


@pytest.mark.parametrize(
    ("content", "codes"),
    [
        (b'{"a": 1}', []),
        (b'{"a": 1, "a": 2}', ["key_twice"]),
        (b'{"a": NaN}', ["json"]),
        (b"\xff", ["json"]),
        (b"{", ["json"]),
        (b"[" * 100_000, ["json"]),
    ],
)
def test_json_is_read_strictly(content: bytes, codes: list[str]) -> None:
    faults = FaultList()
    value = read_json(content, "plan.json", faults)
    assert sorted(faults.counts) == codes
    assert (value is UNREADABLE) is (codes == ["json"])


def table(**changes: str) -> bytes:
    cells = {
        "wave": "1", "topic": "t", "partition": "1", "kind": "replica", "from": "0 1", "to": "2 1", "leader_from": "0",
        "leader_to": "2", "bytes": "4000000000", "reason_code": "relieves_broker", "reason": "why",
        "worse_without": "what",
    } | changes  # fmt: skip
    return (",".join(HEAD) + "\n" + ",".join(cells[name] for name in HEAD) + "\n").encode()


def test_each_cell_of_the_table_is_the_moves() -> None:
    document = {"moves": [MOVE | {"wave": int(table().split(b"\n")[1].split(b",")[0])}]}
    assert faults_of(check_table, document, table()) == []
    for wrong in (table(to="2 0"), table(bytes="4"), table(reason_code="x"), table() + table().split(b"\n")[1], b"x"):
        assert faults_of(check_table, document, wrong) == ["table"]
    assert [cell_of(text) for text in ("=1", "+1", "a", "'a")] == ["'=1", "'+1", "a", "''a"]


def test_a_folder_lacks_no_file_and_names_no_other_plan() -> None:
    document = {
        "plan_id": "a" * 64, "moves": [], "waves": [], "rollback": None, "cluster": "c", "cluster_id": "i",
        "captured_at": "2026-11-20T12:00:00Z", "verdict": "nothing_to_do",
        "reasons": [{"code": "all_inside_band", "args": {}}],
    }  # fmt: skip
    faults = FaultList()
    check_folder(document, {"plan.json": b"{}", "digest.md": b"another"}, faults)
    assert {(fault.code, fault.location) for fault in faults.faults} == {
        ("file", "commands.md"), ("file", "moves.csv"), ("file", "digest.md"),
    }  # fmt: skip
    faults = FaultList()
    check_folder(document, {"plan.json": b"{}", "advisory.json": b'{"cluster": "d"}'}, faults)
    assert sum(fault.location.startswith("advisory.json") for fault in faults.faults) == 3


def test_a_weak_bound_is_a_note_and_no_fault() -> None:
    assert Verification((), {"bound_weak": 1}).is_right
    assert not Verification((), {"bound_weak": 1, "cost": 1}).is_right
