"""No folder imports another that imports it, however far apart: the data goes through the code in one direction."""

import ast
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

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


@cache
def arrows() -> dict[str, dict[str, set[str]]]:
    """Package → child → children it imports: a module counts for the folder that it lies in, at every level."""
    arrows: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for module in MODULES:
        for other in imported_by(module):
            left, right = module.split("."), other.split(".")
            shared = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), None)
            if shared is not None:
                arrows[".".join(left[:shared])][left[shared]].add(right[shared])
    return dict(arrows)


def circle_in(package: str, imports: dict[str, set[str]]) -> str | None:
    """The parts of a package that import each other, if one of them is a folder; None where there is no such circle."""
    folders = {name for name in imports if f"{package}.{name}" in MODULES and is_package(f"{package}.{name}")}
    try:
        list(TopologicalSorter(imports).static_order())
    except CycleError as error:
        circle = error.args[1]
        # The checks of the options name their class, for types alone.
        if folders & set(circle) or package != "kafka_rebalance.options":
            return f"in {package}: {' <- '.join(circle)}"
    return None


def test_no_circle_between_the_parts_of_a_package() -> None:
    assert len(arrows()) > 50
    assert [circle for package, imports in sorted(arrows().items()) if (circle := circle_in(package, imports))] == []


def is_package(module: str) -> bool:
    return MODULES[module].name == "__init__.py"


def test_it_would_see_a_circle() -> None:
    assert arrows()["kafka_rebalance"]["plans"] >= {"planner", "cluster_arrays"}
    circle = {"plans": {"planner"}, "planner": {"plans"}}
    assert circle_in("kafka_rebalance", circle) == "in kafka_rebalance: plans <- planner <- plans"
