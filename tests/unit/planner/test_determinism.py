"""Same input and seed, two fresh processes with different hash seeds: the same bytes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from rebalance_advisor.publish.plan_files import plan_files
from tests.unit.planner.sample_clusters import random_cluster
options = PlanOptions(within=0.1, remove_brokers=frozenset({3, 8}), exclude_brokers=frozenset({5, 1}))
for name, content in plan_files(make_plan(random_cluster(2), options, seed=5)).items():
    sys.stdout.buffer.write(name.encode() + b"\\n" + content)
"""
ROOT = Path(__file__).parents[3]


def bytes_of_a_fresh_process(hash_seed: str) -> bytes:
    environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": f"{ROOT / 'plugins'}:{ROOT}"}
    return subprocess.run([sys.executable, "-c", SCRIPT], env=environment, check=True, capture_output=True).stdout


@pytest.mark.slow
def test_two_processes_with_different_hash_seeds_write_the_same_bytes() -> None:
    first = bytes_of_a_fresh_process("1")
    assert b"plan.json" in first
    assert b'"knee"' in first, "the frontier is part of what must be the same"
    assert first == bytes_of_a_fresh_process("2024")
