"""The benchmark measures what it says: a fair draw of Kafka's grid, and one request in both forms."""

from collections import Counter
from dataclasses import fields

import pytest

from kafka_rebalance.assignors.registry import by_name
from kafka_rebalance.conformance.cases import answer
from tests.benchmarks import assignor_inputs, server_inputs
from tests.benchmarks.dictionary_form import case_of
from tests.benchmarks.spread import is_larger, spread

GRIDS = [list(assignor_inputs.grid("cooperative-sticky")), list(server_inputs.grid("uniform"))]


@pytest.mark.parametrize("grid", GRIDS)
def test_the_first_24_cells_hold_each_value_of_an_axis_about_equally_often(grid: list) -> None:
    draw = spread(grid, 24)
    cells = [next(draw) for _ in range(24)]
    for axis in fields(grid[0]):
        counts = Counter(getattr(cell, axis.name) for cell in cells)
        assert max(counts.values()) - min(counts.values()) <= 2, axis.name
        assert len(counts) == len({getattr(cell, axis.name) for cell in grid})


@pytest.mark.parametrize("grid", GRIDS)
def test_a_draw_goes_on_until_the_whole_grid_is_drawn_once(grid: list) -> None:
    drawn = list(spread(grid, 24))
    assert len(drawn) == len(grid)
    assert set(drawn) == set(grid)


def test_a_larger_cell_has_more_members_or_partitions_and_is_else_the_same() -> None:
    small = server_inputs.Cell("uniform", 500, 10, 100, True, True)
    assert is_larger(server_inputs.Cell("uniform", 1000, 10, 100, True, True), small)
    assert not is_larger(server_inputs.Cell("uniform", 1000, 5, 100, True, True), small)
    assert not is_larger(server_inputs.Cell("uniform", 1000, 10, 100, False, True), small)


def test_racks_and_a_second_round_only_add_work() -> None:
    def cell(*, has_racks: bool, mode: str) -> assignor_inputs.Cell:
        return assignor_inputs.Cell("range", 500, 10, 100, has_racks, False, mode)

    plain = cell(has_racks=False, mode=assignor_inputs.FULL)
    assert is_larger(cell(has_racks=True, mode=assignor_inputs.INTENDED), plain)
    assert not is_larger(plain, cell(has_racks=True, mode=assignor_inputs.FULL))
    assert not is_larger(plain, cell(has_racks=False, mode=assignor_inputs.INTENDED))


@pytest.mark.parametrize("is_homogeneous", [True, False])
@pytest.mark.parametrize("strategy", ["range", "cooperative-sticky"])
def test_the_clients_dictionaries_and_columns_are_answered_alike(strategy: str, is_homogeneous: bool) -> None:
    cell = assignor_inputs.Cell(strategy, 20, 5, 10, True, is_homogeneous, assignor_inputs.INTENDED)
    request = assignor_inputs.request_of(cell, by_name(strategy))
    columns, lists = by_name(strategy).assign(request), answer(case_of(request, strategy))["output"]["assignment"]
    names = request.topics.names
    for i, member in enumerate(request.members.ids):
        flat = [(topic, partition) for topic, partitions in lists[member] for partition in partitions]
        assert flat == [(names[topic], partition) for topic, partition in columns.of_member(i)]


@pytest.mark.parametrize("is_homogeneous", [True, False])
@pytest.mark.parametrize("assignor", ["uniform", "range"])
def test_the_servers_dictionaries_and_columns_are_answered_alike(assignor: str, is_homogeneous: bool) -> None:
    cell = server_inputs.Cell(assignor, 20, 5, 10, is_homogeneous, True)
    request = server_inputs.request_of(cell, by_name(cell.strategy))
    case = case_of(request, cell.strategy)
    columns, sets = by_name(cell.strategy).assign(request), answer(case)["output"]["assignment"]
    ids = [topic["id"] for topic in case["input"]["topics"]]
    for i, member in enumerate(request.members.ids):
        held = {(topic, partition) for topic, partitions in sets[member].items() for partition in partitions}
        assert held == {(ids[topic], partition) for topic, partition in columns.of_member(i)}
