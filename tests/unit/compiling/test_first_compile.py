import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from numba import njit
from numba.core import event
from numba.core.dispatcher import Dispatcher

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.planner import leaders, state
from kafka_rebalance.planner.replicas import kernels, search
from kafka_rebalance.plans import wave_filling
from kafka_rebalance.plans.pipeline import make_plan
from rebalance_advisor.compiling import first_compile
from tests.benchmarks.bench_scale import Size, skewed_snapshot

KERNELS = """
from numba import njit

@njit(cache=True)
def twice(number):
    return 2 * number

@njit(cache=True)
def thrice(number):
    return 3 * number
"""
PROGRAM = """
from rebalance_advisor.compiling.first_compile import tell_of_first_compile

for _ in range(3):
    tell_of_first_compile()
from kernels_of_the_test import thrice, twice

print(twice(2) + thrice(3))
"""


def run(folder: Path) -> subprocess.CompletedProcess[str]:
    plugins = Path(__file__).parents[3] / "plugins"
    paths = os.pathsep.join([str(folder), str(plugins)])
    environment = {**os.environ, "PYTHONPATH": paths, "NUMBA_CACHE_DIR": str(folder / "cache")}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True, timeout=1200
    )


@pytest.mark.slow
def test_the_first_run_says_once_that_it_compiles_and_the_next_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "kernels_of_the_test.py").write_text(KERNELS)
    first, second = run(tmp_path), run(tmp_path)
    assert (first.stdout, second.stdout) == ("13\n", "13\n")
    assert first.stderr.count("kernels of this command are compiled, once") == 1
    assert second.stderr == ""


def test_a_step_of_a_dag_says_that_it_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    first_compile._FirstCompile("step", has_helper=False).on_start(None)
    assert "kernels of this step are compiled, once" in capsys.readouterr().err


def test_without_a_writable_folder_the_notice_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started: list[bool] = []
    monkeypatch.setattr(first_compile, "has_folder", lambda: False)
    monkeypatch.setattr(first_compile, "_start_helper", lambda: started.append(True))
    monkeypatch.setattr(first_compile, "_processors", lambda: 2)
    first_compile._FirstCompile("command", has_helper=True).on_start(None)
    assert "at each run, which takes half a minute: set NUMBA_CACHE_DIR" in capsys.readouterr().err
    assert started == []


def test_commands_that_run_one_after_another_in_a_process_start_one_helper(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred of them started a hundred at the first kernel that was missing."""
    started: list[bool] = []
    before = list(first_compile._listening)  # of a test before this one
    for listener in before:
        event.unregister("numba:compile", listener)
    monkeypatch.setattr(first_compile, "_listening", [])
    monkeypatch.setattr(first_compile, "_start_helper", lambda: started.append(True))
    monkeypatch.setattr(first_compile, "_processors", lambda: 2)
    for _ in range(100):
        first_compile.tell_of_first_compile(has_helper=True)
    njit(lambda number: number + 1)(1)
    event.unregister("numba:compile", first_compile._listening[0])
    for listener in before:
        event.register("numba:compile", listener)
    assert started == [True]


MODULES: tuple[Any, ...] = (state, leaders, kernels, search, wave_filling)


def variants() -> dict[str, list[Any]]:
    """Compiled argument types of each Python-callable kernel."""
    return {
        f"{module.__name__}.{name}": list(kernel.signatures)
        for module in MODULES
        for name, kernel in vars(module).items()
        if isinstance(kernel, Dispatcher) and "no_cpython_wrapper" not in kernel.targetoptions
    }


def test_a_plan_finds_the_kernels_that_the_helper_compiled() -> None:
    first_compile.compile_planner()
    compiled = variants()
    plan = make_plan(skewed_snapshot(Size("small", 12, 300, 3)), PlanOptions(within=0.10, with_frontier=False))
    assert plan.moves
    assert variants() == compiled
