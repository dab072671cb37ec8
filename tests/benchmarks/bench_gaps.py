"""How far plans are from their bounds on random clusters: disk, in-rate and replica count balanced together.

    python -m tests.benchmarks.bench_gaps [--size BROKERSxPARTITIONSxRACKS …] [--seeds N] [--sizes lognormal|zipf|wide]

One line for each size, variant and tolerance: mean (worst) of bytes / bound - 1 over the seeds, and the CPU seconds of
one search and bound. ``wide`` is lognormal with sigma 2: with zipf the heavy tails, partitions up to a quarter of a
broker.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from kafka_rebalance.planner.assemble import Wanted, assemble
from kafka_rebalance.planner.solve import solve
from tests.benchmarks.generated import generated

SIZES = ("100x30000x4", "200x60000x5", "300x100000x6")
VARIANTS = ("skewed", "newbrokers", "drain")
TOLERANCES = (0.10, 0.03)
RESOURCES = ("disk", "in", "replicas")
OUTSIDE = 1e-9


def main(argv: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", action="append", default=[], metavar="BROKERSxPARTITIONSxRACKS")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sizes", choices=("lognormal", "zipf", "wide"), default="lognormal")
    arguments = parser.parse_args(argv)
    sys.stdout.write("size             variant     band   mean gap  worst gap  cpu_s  outside\n")
    for size in arguments.size or SIZES:
        for variant in VARIANTS:
            for within in TOLERANCES:
                _line(size, variant, within, arguments.seeds, arguments.sizes)
    return 0


def _line(size: str, variant: str, within: float, seeds: int, sizes: str) -> None:
    brokers, partitions, racks = map(int, size.split("x"))
    gaps, seconds, outside = [], [], 0
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
        problem = assemble(flags, placement, Wanted(within=within, resources=RESOURCES))
        started = time.process_time()
        solution = solve(problem)
        seconds.append(time.process_time() - started)
        gaps.append(solution.bounds.bytes.gap(solution.cost.bytes))
        low, high = problem.band_low * (1 - OUTSIDE), problem.band_high * (1 + OUTSIDE)
        outside += not ((solution.after >= low) & (solution.after <= high))[problem.stays].all()
    sys.stdout.write(
        f"{size:<16} {variant:<10} {within:5.0%} {np.mean(gaps):10.2%} {max(gaps):10.2%} "
        f"{np.mean(seconds):6.2f} {outside:>5} of {seeds}\n"
    )
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
