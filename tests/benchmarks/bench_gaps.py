"""How far plans are from their bounds on random clusters: all six resources that the command balances, together.

    python -m tests.benchmarks.bench_gaps [--size BROKERSxPARTITIONSxRACKS …] [--seeds N] [--sizes lognormal|zipf|wide]
        [--three] [--mixed]

One line of a Markdown table for each size, variant and tolerance: mean (worst) of bytes / bound - 1 over the seeds, the
CPU seconds of one search and bound, and where the linear program of all moves is solvable (at most 100,000 columns) how
far plan and bound are from its optimum: the latter is what the bound's own weakness is. ``--three``: disk, in-rate and
replica count alone, which leaders do not change. ``wide`` is lognormal with sigma 2: with zipf the heavy tails,
partitions up to a quarter of a broker. ``--mixed``: brokers of one, one and a half and two in disk, rates and CPU.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace

import numpy as np

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.cluster_arrays.snapshot_arrays import Brokers, Placement, Wanted, assemble
from kafka_rebalance.planner.linear_program.relaxation import arcs_of, is_small, relax
from kafka_rebalance.planner.solve import solve
from kafka_rebalance.resources import BALANCED, RESOURCES
from tests.benchmarks.generated import generated

SIZES = ("100x30000x4", "200x60000x5", "300x100000x6")
VARIANTS = ("skewed", "newbrokers", "drain")
TOLERANCES = (0.10, 0.03)
THREE = ("disk", "in", "replicas")
# Percent of a processor for each 100 kB/s in and out: what a leader does with them.
CPU_OF_IN, CPU_OF_OUT = 0.2e-5, 0.1e-5
OUTSIDE = 1e-9


def main(argv: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", action="append", default=[], metavar="BROKERSxPARTITIONSxRACKS")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sizes", choices=("lognormal", "zipf", "wide"), default="lognormal")
    parser.add_argument("--three", action="store_true")
    parser.add_argument("--mixed", action="store_true")
    arguments = parser.parse_args(argv)
    resources = THREE if arguments.three else tuple(name for name in RESOURCES if name in BALANCED)
    sys.stdout.write(
        "| brokers × partitions × racks | sizes | variant | band | gap, mean (worst) | outside | plan / LP optimum "
        "| bound / LP optimum | CPU s |\n|---|---|---|---|---|---|---|---|---|\n"
    )
    _warm_up(resources)
    for size in arguments.size or SIZES:
        for variant in VARIANTS:
            for within in TOLERANCES:
                _line(size, variant, within, arguments, resources)
    return 0


def _warm_up(resources: tuple[str, ...]) -> None:
    """Compile, or load, the kernels: a plan far from its bound needs all of them."""
    flags, placement = generated(40, 4_000, 4, variant="drain")
    placement = with_cpu(placement)
    solve(assemble(flags, placement, Wanted(within=0.03, resources=resources)))


def with_cpu(placement: Placement) -> Placement:
    """``generated`` measures no CPU: here each partition's goes with its rates."""
    loads = placement.loads
    assert loads.in_bytes_per_s is not None
    assert loads.out_bytes_per_s is not None
    cpu = CPU_OF_IN * loads.in_bytes_per_s + CPU_OF_OUT * loads.out_bytes_per_s
    return replace(placement, loads=replace(loads, cpu_percent=cpu))


def with_capacities(flags: Brokers, placement: Placement, seed: int) -> Brokers:
    """Half full in the mean, unequal, the same kind of broker in all four."""
    loads = placement.loads
    assert loads.disk_bytes is not None
    assert loads.in_bytes_per_s is not None
    assert loads.out_bytes_per_s is not None
    assert loads.cpu_percent is not None
    kind = np.random.default_rng(seed).choice([1.0, 1.5, 2.0], len(flags.ids))
    sums = {
        "disk": 3 * loads.disk_bytes.sum(),
        "in": 3 * loads.in_bytes_per_s.sum(),
        "out": (loads.out_bytes_per_s + 2 * loads.in_bytes_per_s).sum(),
        "cpu": 3 * loads.cpu_percent.sum(),
    }
    return replace(flags, capacity={name: 2 * total * kind / kind.sum() for name, total in sums.items()})


def _line(size: str, variant: str, within: float, arguments: argparse.Namespace, resources: tuple[str, ...]) -> None:
    seeds, sizes = arguments.seeds, arguments.sizes
    brokers, partitions, racks = map(int, size.split("x"))
    gaps, seconds, outside = [], [], 0
    optima: list[tuple[float, float]] = []
    for seed in range(seeds):
        flags, placement = generated(
            brokers,
            partitions,
            racks,
            seed=seed,
            variant=variant,
            sigma=2.0 if sizes == "wide" else 1.2,
            sizes="zipf" if sizes == "zipf" else "lognormal",
        )
        placement = with_cpu(placement)
        flags = with_capacities(flags, placement, seed) if arguments.mixed else flags
        problem = assemble(flags, placement, Wanted(within=within, resources=resources))
        started = time.process_time()
        solution = solve(problem)
        seconds.append(time.process_time() - started)
        gaps.append(solution.bounds.bytes.gap(solution.cost.bytes))
        low, high = problem.band_low * (1 - OUTSIDE), problem.band_high * (1 + OUTSIDE)
        optimum = _optimum(problem)
        if optimum:
            optima.append((solution.cost.bytes / optimum, solution.bounds.bytes.value / optimum))
        outside += not ((solution.after >= low) & (solution.after <= high))[problem.stays].all()
    cells = "| - | -"
    if optima:
        plan, bound = np.mean(optima, axis=0)
        cells = f"| {plan:.4f} ({max(pair[0] for pair in optima):.4f}) | {bound:.4f}"
    sys.stdout.write(
        f"| {size.replace('x', ' × ')} | {sizes} | {variant} | ±{within:.0%} | {np.mean(gaps):.2%} ({max(gaps):.2%}) "
        f"| {outside} of {seeds} {cells} | {np.mean(seconds):.1f} |\n"
    )
    sys.stdout.flush()


def _optimum(problem: Problem) -> float | None:
    """Bytes of the cheapest fractional plan, None where the program is too large or no shares meet the bands."""
    if not is_small(problem):
        return None
    arcs = arcs_of(problem)
    size = problem.move_bytes[arcs.row]
    priced = replace(arcs, cost=np.where(arcs.is_kept, 0.0, size / size.mean()))
    relaxed = relax(problem, priced, problem.band_low, problem.band_high)
    return None if relaxed is None else float((relaxed.share * size)[~arcs.is_kept].sum())


if __name__ == "__main__":
    sys.exit(main())
