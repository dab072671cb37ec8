"""Resources are listed in one place: a new one must not have to be added to a list somewhere else."""

import ast
from dataclasses import fields
from pathlib import Path

import pytest

from kafka_rebalance.resources import BALANCED, RESOURCES, ROWS, TABLE
from kafka_rebalance.snapshot.model import Capacity

ROOT = Path(__file__).parents[2]
TABLE_FILE = ROOT / "plugins/kafka_rebalance/resources.py"
# The verifier takes names and units from the table, and writes every formula, resource by resource, for itself.
VERIFIER = ROOT / "plugins/kafka_rebalance/verify"
FILES = sorted(
    path
    for folder in ("plugins", "spark_jobs", "dags", "stack")
    for path in (ROOT / folder).rglob("*.py")
    if path != TABLE_FILE and VERIFIER not in path.parents
)
# Two names may be a choice; three are a list.
MOST = 2


def listed(node: ast.AST) -> set[str]:
    """Resources that one literal names, as elements or as keys."""
    if isinstance(node, ast.Dict):
        elements: list[ast.expr | None] = list(node.keys)
    elif isinstance(node, ast.Tuple | ast.List | ast.Set):
        elements = list(node.elts)
    else:
        return set()
    return {element.value for element in elements if isinstance(element, ast.Constant) and element.value in ROWS}


def lists_of_resources(source: str) -> list[int]:
    """Lines where a literal lists more resources than a choice does."""
    if sum(f'"{name}"' in source or f"'{name}'" in source for name in ROWS) <= MOST:
        return []
    return [node.lineno for node in ast.walk(ast.parse(source)) if len(listed(node)) > MOST]  # type: ignore[attr-defined]


def test_no_file_lists_resources_beside_the_table() -> None:
    found = {str(path.relative_to(ROOT)): lists_of_resources(path.read_text()) for path in FILES}
    assert len(found) > 300
    assert {path: lines for path, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "source",
    ['X = ("disk", "in", "out")', 'X = {"in": 1, "cpu": 2, "leaders": 3}', 'X = name in {"in", "replicas", "out"}'],
)
def test_a_list_is_noticed_whatever_its_shape(source: str) -> None:
    assert lists_of_resources(source) == [1]


def test_every_capacity_is_that_of_one_resource_that_is_balanced() -> None:
    """Others share one, for a headroom: what a broker might have to send is measured by what it can send."""
    capacities = [row.capacity for row in TABLE if row.capacity is not None and row.is_balanced]
    assert {row.capacity for row in TABLE} - {None} == set(capacities)
    assert sorted(capacities) == sorted(field.name for field in fields(Capacity))


def test_rows_say_what_they_rest_on() -> None:
    for row in TABLE:
        assert row.rests_on[:1] == (() if row.load is None else (row.load,)), row.name
        assert bool(row.why_unknown) is (len(row.rests_on) > 1), row.name
    assert len(RESOURCES) == len(TABLE), "a name stands twice"
    assert {"disk", "in", "out", "cpu", "replicas", "leaders"} == BALANCED
