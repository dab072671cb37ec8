"""No folder imports another that imports it, however far apart: the data goes through the code in one direction."""

import ast
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parents[2] / "plugins"


def module_of(path: Path) -> str:
    parts = path.relative_to(PLUGINS).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in PLUGINS.rglob("*.py")}


def imported_by(module: str) -> set[str]:
    """Our modules that ``module`` imports anywhere in its text, also inside functions and for types alone."""
    imported = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            below = {f"{node.module}.{alias.name}" for alias in node.names} & MODULES.keys()
            imported |= below or {node.module} & MODULES.keys()
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names} & MODULES.keys()
    return imported - {module}


def arrows() -> dict[str, dict[str, set[str]]]:
    """Package → child → children it imports: a module counts for the folder that it lies in, at every level."""
    arrows: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for module in MODULES:
        for other in imported_by(module):
            left, right = module.split("."), other.split(".")
            shared = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), None)
            if shared is not None:
                arrows[".".join(left[:shared])][left[shared]].add(right[shared])
    return arrows


ARROWS = arrows()


@pytest.mark.parametrize("package", sorted(ARROWS))
def test_no_circle_between_the_parts_of_a_package(package: str) -> None:
    folders = {name for name in ARROWS[package] if f"{package}.{name}" in MODULES and is_package(f"{package}.{name}")}
    try:
        list(TopologicalSorter(ARROWS[package]).static_order())
    except CycleError as error:
        circle = error.args[1]
        assert not folders & set(circle), f"in {package}: {' <- '.join(circle)}"
        # The checks of the options name their class, for types alone.
        assert package == "kafka_rebalance.options", f"in {package}: {' <- '.join(circle)}"


def is_package(module: str) -> bool:
    return MODULES[module].name == "__init__.py"


def test_it_would_see_a_circle() -> None:
    assert ARROWS["kafka_rebalance"]["plans"] >= {"planner", "cluster_arrays"}
    with pytest.raises(CycleError):
        list(TopologicalSorter({"plans": {"planner"}, "planner": {"plans"}}).static_order())
