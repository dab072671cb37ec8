"""``make coverage``: line coverage by package with kernels interpreted, and the lines that no small case reaches."""

from __future__ import annotations

import sys

from tests.mutation.small_cases import Reached, kept, run

LIBRARY = "plugins/kafka_rebalance/"
GOAL = 0.92
WITH_GOAL = ("planner", "verify", "scoring", "findings", "groups", "plans")


def package_of(path: str) -> str:
    """``planner`` for a file of the library, else the whole package's name."""
    inner = path.removeprefix(LIBRARY)
    return inner.partition("/")[0] if inner != path else "rebalance_advisor"


def shares(found: Reached) -> dict[str, tuple[int, int]]:
    """Package → (lines reached, lines)."""
    totals: dict[str, tuple[int, int]] = {}
    for path, (statements, missing) in found.lines.items():
        hit, count = totals.get(package_of(path), (0, 0))
        totals[package_of(path)] = (hit + len(statements) - len(missing), count + len(statements))
    return totals


def main() -> int:
    """1 where a test fails or a package with a goal is below it."""
    failed = run()
    found = kept()
    totals = shares(found)
    for path, (_, missing) in sorted(found.lines.items()):
        if missing and package_of(path) in WITH_GOAL:
            print(f"{path}: {', '.join(map(str, missing))}")
    print(f"\n{'package':<24}{'lines':>8}{'reached':>10}")
    for package, (hit, count) in sorted(totals.items()):
        goal = f"  goal {GOAL:.0%}" if package in WITH_GOAL else ""
        print(f"{package:<24}{count:>8}{hit / max(count, 1):>10.1%}{goal}")
    below = [name for name in WITH_GOAL if totals[name][0] < GOAL * totals[name][1]]
    if below:
        print(f"below the goal: {', '.join(below)}")
    return 1 if failed or below else 0


if __name__ == "__main__":
    sys.exit(main())
