"""Numbers that decide something are fields of a parameter class; what is compiled as a literal stands in one place."""

from __future__ import annotations

import ast
from pathlib import Path

LIBRARY = Path(__file__).parents[2] / "plugins" / "kafka_rebalance"
FILES = sorted(path for folder in ("planner", "cluster_arrays", "plans") for path in (LIBRARY / folder).rglob("*.py"))
# The version of a document and the largest id that Kafka has are no parameters.
ELSEWHERE = {"tolerances.py", "versions.py", "planned.py"}


def test_no_module_of_the_planner_or_of_plans_has_numbers_of_its_own() -> None:
    assert len(FILES) > 80
    numbers = [
        f"{path.relative_to(LIBRARY)}:{node.lineno}: {ast.unparse(node)}"
        for path in FILES
        if path.name not in ELSEWHERE
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and holds_numbers(node.value)
    ]
    assert numbers == []


def holds_numbers(value: ast.expr) -> bool:
    """A number, or an expression or a tuple of numbers alone."""
    if isinstance(value, ast.Tuple):
        return any(holds_numbers(part) for part in value.elts)
    parts = list(ast.walk(value))
    is_plain = all(
        isinstance(part, ast.Constant | ast.UnaryOp | ast.BinOp | ast.operator | ast.unaryop) for part in parts
    )
    constants = [part.value for part in parts if isinstance(part, ast.Constant)]
    return is_plain and bool(constants) and all(isinstance(constant, int | float) for constant in constants)
