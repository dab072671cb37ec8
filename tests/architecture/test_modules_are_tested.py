"""Every module is imported by a test that looks at it, not only reached by the whole pipeline."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("kafka_rebalance", "rebalance_advisor")
END_TO_END = ("stack", "live", "benchmarks", "fuzz")
# Modules without a test of their own so far, told by the folder that reaches them. Only ever shorter.
NOT_YET = frozenset((
    "kafka_rebalance.advisory.advisory",
    "kafka_rebalance.assignors.server.uniform_homogeneous",
    "kafka_rebalance.assignors.share.spread",
    "kafka_rebalance.assignors.sticky.balance",
    "kafka_rebalance.assignors.sticky.state",
    "kafka_rebalance.assignors.sticky.sticky_input",
    "kafka_rebalance.kernels.link_time",
    "rebalance_advisor.airflow.advisory_tasks",
    "rebalance_advisor.airflow.assets",
    "rebalance_advisor.airflow.collecting",
    "rebalance_advisor.airflow.connections",
    "rebalance_advisor.airflow.fail_without_retry",
    "rebalance_advisor.airflow.form",
    "rebalance_advisor.airflow.gate_tasks",
    "rebalance_advisor.airflow.plugin",
    "rebalance_advisor.airflow.prune_task",
    "rebalance_advisor.airflow.snapshot_tasks",
    "rebalance_advisor.airflow.spark_job",
    "rebalance_advisor.dumps.capacity_file",
    "rebalance_advisor.dumps.cluster_model",
    "rebalance_advisor.dumps.dump_folder",
    "rebalance_advisor.dumps.groups.rows",
    "rebalance_advisor.gates.expectations",
    "rebalance_advisor.kafka.connection.client",
    "rebalance_advisor.kafka.connection.tls",
    "rebalance_advisor.kafka.read_cluster",
    "rebalance_advisor.store.__main__",
    "rebalance_advisor.store.checks",
    "rebalance_advisor.store.prune",
    "rebalance_advisor.store.rows.snapshot_rows",
    "rebalance_advisor.store.schema.migrate",
    "rebalance_advisor.store.snapshot_load",
))  # fmt: skip


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
    assert sorted(modules() - tested - NOT_YET) == []


def test_no_module_is_excused_that_has_a_test_or_is_gone(tested: set[str]) -> None:
    assert sorted(NOT_YET & tested) == []
    assert sorted(NOT_YET - modules()) == []
