"""Compile kernels while a first demo waits: ``python -m stack.demo.warm_kernels FOLDER``.

Compiling takes about 25 CPU seconds, once a machine; a CPU is idle while Airflow starts. Tasks find the kernels on
disk. With all of them there this ends in two seconds.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from stack.installed_code import CHECKOUT, installed_code
from stack.machine import Machine
from stack.processes import Program

# Bands that need annealing: its kernels are compiled as well.
WITHIN = 0.03


def kernel_warmer(machine: Machine) -> Program:
    return Program("warm_kernels", machine.run / "warm_kernels.json", machine.run / "warm_kernels.log")


def start_warming(machine: Machine, dumps: Path) -> None:
    paths = os.pathsep.join((str(installed_code().plugins), str(CHECKOUT)))
    command = [sys.executable, "-m", "stack.demo.warm_kernels", str(dumps)]
    kernel_warmer(machine).start(command, {**os.environ, "PYTHONPATH": paths})


def main(folder: Path) -> None:
    from kafka_rebalance.options.plan_options import PlanOptions
    from kafka_rebalance.planner.params import Effort, SolveParams
    from kafka_rebalance.planner.solve import solve
    from kafka_rebalance.plans.request import build_request
    from rebalance_advisor.dumps import read_input

    params = SolveParams(effort=Effort(program_steps=0, anneal_steps=1))
    solve(build_request(read_input(folder), PlanOptions(within=WITHIN)).problem(WITHIN), params=params)


if __name__ == "__main__":
    os.nice(10)  # lower priority than what the user waits for
    main(Path(sys.argv[1]))
