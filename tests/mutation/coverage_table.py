"""``make coverage``: the lines that ``make test`` and ``make test-all`` reach, by package, and those that neither does.

A kernel's lines count where a small case reaches them interpreted: compiled, no coverage tool sees them. With ``--all``
the slow tests and the whole search (half an hour); without it the second column is left out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

from tests.mutation.small_cases import COMPILED, INTERPRETED, WHOLE, Reached, kept, run

LIBRARY = "plugins/kafka_rebalance/"
WITH_GOAL = ("planner", "verify", "scoring", "findings", "groups", "plans")
GOAL_OF_TEST = 0.90
GOAL_OF_TEST_ALL = 0.97


def package_of(path: str) -> str:
    """``planner`` for a file of the library, else the whole package's name."""
    inner = path.removeprefix(LIBRARY)
    return inner.partition("/")[0] if inner != path else "rebalance_advisor"


def missed(suites: Iterable[Reached]) -> dict[str, tuple[int, list[int]]]:
    """File of a package with a goal → (its lines, those that no suite reaches)."""
    results: dict[str, tuple[int, list[int]]] = {}
    for suite in suites:
        for path, (statements, missing) in suite.lines.items():
            if package_of(path) in WITH_GOAL:
                _, before = results.get(path, (0, missing))
                results[path] = (len(statements), sorted(set(before) & set(missing)))
    return results


def shares(result: dict[str, tuple[int, list[int]]]) -> dict[str, float]:
    """Package → share of its lines that were reached."""
    totals = dict.fromkeys(WITH_GOAL, (0, 0))
    for path, (count, missing) in result.items():
        lines, lost = totals[package_of(path)]
        totals[package_of(path)] = (lines + count, lost + len(missing))
    return {package: 1 - lost / max(lines, 1) for package, (lines, lost) in totals.items()}


def main() -> int:
    """1 where a test fails or a package is below a goal."""
    parser = argparse.ArgumentParser(prog="make coverage", description=__doc__)
    parser.add_argument("--all", action="store_true", help="the slow tests and the whole search as well")
    suites = (COMPILED, INTERPRETED, WHOLE) if parser.parse_args().all else (COMPILED, INTERPRETED)
    failed = [suite.name for suite in suites if run(suite)]
    by_test = missed(kept(suite) for suite in suites if suite.is_in_make_test)
    by_all = missed(kept(suite) for suite in suites)
    for path, (_, missing) in sorted(by_all.items()):
        if missing:
            print(f"{path}: {', '.join(map(str, missing))}")
    columns = {"make test": (shares(by_test), GOAL_OF_TEST)}
    if WHOLE in suites:
        columns["make test-all"] = (shares(by_all), GOAL_OF_TEST_ALL)
    print(f"\n{'package':<12}" + "".join(f"{name:>16}" for name in columns))
    for package in WITH_GOAL:
        print(f"{package:<12}" + "".join(f"{reached[package]:>16.1%}" for reached, _ in columns.values()))
    below = [
        f"{package} ({name})"
        for name, (reached, goal) in columns.items()
        for package in WITH_GOAL
        if reached[package] < goal
    ]
    print("goals: " + ", ".join(f"{name} {goal:.0%}" for name, (_, goal) in columns.items()))
    if failed or below:
        print(
            "FAILED: "
            + ", ".join([*(f"tests of {name}" for name in failed), *(f"below the goal: {name}" for name in below)])
        )
    return 1 if failed or below else 0


if __name__ == "__main__":
    sys.exit(main())
