"""What the verifier reads a document of an older version as; what is not as its version has it is left to the rules."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_rebalance.verify.document.older_versions import NEWEST, read_as_newest
from kafka_rebalance.verify.faults import FaultList


def test_names_and_counts_of_version_1_are_those_of_the_newest() -> None:
    old: dict[str, Any] = {
        "format_version": 1, "parameters": {"is_order": True, "seed": 3}, "moves": [{"wave": 0}, {"wave": 4}],
    }  # fmt: skip
    faults = FaultList()
    read = read_as_newest(old, faults)
    parameters = {name: read["parameters"][name] for name in ("is_explicit", "seed", "caps")}
    assert read | {"parameters": parameters} == {
        "format_version": NEWEST,
        "parameters": {"is_explicit": True, "seed": 3, "caps": {}},
        "moves": [{"wave": 1}, {"wave": 5}],
        "proofs": {},
        "after_failure": None,
        "preferred_leaders": None,
        "within_budget": None,
        "trace": [],
    }
    assert not faults.counts
    assert (old["format_version"], old["moves"][0]) == (1, {"wave": 0})  # its hash is of the document as it is


@pytest.mark.parametrize("name", ["is_explicit", "caps"])
def test_a_name_of_version_2_is_a_fault_in_version_1(name: str) -> None:
    faults = FaultList()
    read_as_newest({"format_version": 1, "parameters": {name: {}}}, faults)
    assert [fault.code for fault in faults.faults] == ["shape"]
    assert f"plan.parameters.{name}" in str(faults.faults[0])


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        "1",
        {},
        {"format_version": NEWEST, "moves": [{"wave": 1}]},
        {"format_version": True},
        {"format_version": 1.0},
    ],
)
def test_what_is_no_older_version_stays_as_it_is(document: object) -> None:
    assert read_as_newest(document, FaultList()) is document


@pytest.mark.parametrize("move", [None, 5, {"wave": True}, {"wave": "0"}, {"wave": 0.0}, {}])
def test_a_move_of_another_shape_is_left_for_the_check_of_the_shape(move: object) -> None:
    assert read_as_newest({"format_version": 1, "moves": [move]}, FaultList())["moves"] == [move]
