from __future__ import annotations

from pathlib import Path

import pytest

from stack.demo.cluster import write_demo_cluster
from stack.demo.warm_kernels import kernel_warmer, start_warming
from stack.machine import Machine
from stack.processes import stop
from stack.waiting import PATIENCE_S, wait_for


@pytest.mark.slow
def test_the_warmer_searches_a_plan_in_the_background_and_ends_well(tmp_path: Path) -> None:
    write_demo_cluster(tmp_path / "demo", captured_at="2026-11-21T12:00:00+00:00")
    machine = Machine(run=tmp_path)
    start_warming(machine, tmp_path / "demo")
    warmer = kernel_warmer(machine)
    assert warmer.is_running
    wait_for("the kernels", lambda: not warmer.is_running, seconds=4 * PATIENCE_S)
    assert warmer.log_tail() == ""
    stop([warmer], 1.0)
    assert not warmer.record.exists()
