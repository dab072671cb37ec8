"""How views are described: columns that all of a kind begin with, twins, and one module for each kind."""

from __future__ import annotations

import pytest
from sqlalchemy import BigInteger, Column, Double, Table, Text

from rebalance_advisor.store.schema.contract import advisories, answers, define, readings


@pytest.fixture
def names_before():
    """Views that a test enters are taken out again: the contract is one for the process."""
    before = set(define.CONTRACT.tables)
    yield before
    for name in set(define.CONTRACT.tables) - before:
        define.CONTRACT.remove(define.CONTRACT.tables[name])


def first_names(table: Table) -> list[str]:
    return [column.name for column in table.columns][:3]


def test_readings_and_advisories_begin_with_when_which_cluster_and_which_one() -> None:
    assert first_names(readings.BROKER) == first_names(readings.PARTITION) == ["time", "cluster", "snapshot_id"]
    assert first_names(advisories.PLAN) == first_names(advisories.MOVE) == ["time", "cluster", "run_id"]
    assert first_names(answers.ADVICE_BASIS_LATEST) == ["time", "cluster", "run_id"]
    assert [str(column.type) for column in define.of_reading()] == [str(column.type) for column in define.of_advisory()]


def test_a_view_enters_with_its_twin(names_before: set[str]) -> None:
    table = define.view("colour", "Colours.", *define.of_reading(), latest="Colours now.")
    assert set(define.CONTRACT.tables) - names_before == {"advisor.colour", "advisor.colour_latest"}
    twin = define.CONTRACT.tables["advisor.colour_latest"]
    assert (define.history_of(table), define.history_of(twin)) == (None, "colour")
    assert (table.comment, twin.comment) == ("Colours.", "Colours now.")
    assert first_names(twin) == first_names(table)


def test_a_view_of_its_own_has_no_twin(names_before: set[str]) -> None:
    define.view("shade", "Shades.", *define.of_advisory())
    assert set(define.CONTRACT.tables) - names_before == {"advisor.shade"}


@pytest.mark.parametrize(
    ("column", "unit"),
    [
        (Column("in_bytes_per_s", Double()), "bytes/s"), (Column("growth_bytes_per_day", Double()), "bytes/day"),
        (Column("bytes", BigInteger()), "bytes"), (Column("used_ratio", Double()), "ratio"),
        (Column("window_s", Double()), "seconds"), (Column("bytes_basis", Text()), None),
        (Column("broker_count", BigInteger()), None), (Column("megabytes", Double()), None),
    ],
)  # fmt: skip
def test_a_unit_is_a_whole_part_of_a_name(column: Column[object], unit: str | None) -> None:
    assert define.unit_of(column) == unit
