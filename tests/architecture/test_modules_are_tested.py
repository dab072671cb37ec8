"""Every module is imported by a test that looks at it, and unit tests lie where their modules do."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("kafka_rebalance", "rebalance_advisor")
END_TO_END = ("stack", "live", "benchmarks", "fuzz")
UNIT = ROOT / "tests" / "unit"
# Of ``tests/unit``: what is tested there lies elsewhere, or is one catalogue of cases.
ELSEWHERE = {
    "stack": ROOT / "stack", "benchmarks": ROOT / "tests" / "benchmarks", "mutation": ROOT / "tests" / "mutation",
    "packaging": ROOT / "docker",
}  # fmt: skip
CATALOGUES = ("verify/forgeries", "cli/hostile")


def modules() -> set[str]:
    """Dotted names of all modules with code of their own."""
    files = [path for package in PACKAGES for path in (ROOT / "plugins" / package).rglob("*.py")]
    named = {".".join(path.relative_to(ROOT / "plugins").with_suffix("").parts) for path in files}
    return {name for name in named if not name.endswith("__init__")}


def imported(tree: ast.AST) -> set[str]:
    """What a test imports, also as ``from package import module``."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


@pytest.fixture(scope="module")
def tested() -> set[str]:
    tests = [
        path for path in (ROOT / "tests").rglob("*.py") if path.relative_to(ROOT / "tests").parts[0] not in END_TO_END
    ]
    return set().union(*(imported(ast.parse(path.read_text())) for path in tests))


def test_every_module_is_imported_by_a_test(tested: set[str]) -> None:
    assert sorted(modules() - tested) == []


def test_folders_of_unit_tests_are_folders_of_packages() -> None:
    """``plugins/PACKAGE/folder/module.py`` is tested in ``tests/unit/folder``."""
    folders = {path.parent.relative_to(UNIT).as_posix() for path in UNIT.rglob("*.py")} - {".", *CATALOGUES}
    strangers = [
        name
        for name in sorted(folders)
        if not any((ROOT / "plugins" / package / name).is_dir() for package in PACKAGES)
        and not ELSEWHERE.get(name, ROOT / "none").is_dir()
    ]
    assert strangers == []


def test_a_test_in_no_folder_is_of_a_module_in_none() -> None:
    loose = [path.stem.removeprefix("test_") for path in UNIT.glob("*.py")]
    assert loose
    assert [name for name in loose if not any((ROOT / "plugins" / p / f"{name}.py").exists() for p in PACKAGES)] == []
