"""``make mutate``: a seeded sample of mutants, each put to the tests that reach its line; prints those that survive.

The suites of ``make test`` come first: the fast tests with compiled kernels where the mutant is no kernel, then small
cases with kernels interpreted. What they leave alive is put to the slow tests, and a mutant of the gates to those on
PostgreSQL, as ``make test-all`` does. In each suite the tests of the module's own folder come first, all of them; of
the others the quickest ``PATIENCE_S`` seconds. A mutant of a line that runs at import is put to the tests of its folder
and to those that reach anything of the module; one that no test reaches survives. ``--again FILE`` asks again of those
that an earlier run printed into FILE, found by what they change: lines may have moved since.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from tests.mutation.mutants import UNCHANGED, Mutant, mutants_of
from tests.mutation.small_cases import ROOT, SUITES, Reached, reached
from tests.mutation.trial import survives

LIBRARY, PROGRAM = "plugins/kafka_rebalance", "plugins/rebalance_advisor"
TARGETS = (
    *(f"{LIBRARY}/{name}" for name in ("planner", "verify", "scoring", "findings", "groups")),
    f"{PROGRAM}/gates",
)
PATIENCE_S = 40.0  # beside the tests of the module's own folder, which are all asked
# What fails without any change fails in the quick tests, too: those that did not pass under coverage are left out.
PATIENCE_WITH_CONTROLS_S = 8.0
GOAL = 0.85  # of make test-all
_COLUMNS = 5  # of a line that ``shown`` writes
KILLED = KILLED_BY_TEST, KILLED_BY_TEST_ALL = "killed by make test", "killed by make test-all"


def sample(count: int, seed: int, only: Sequence[str]) -> list[Mutant]:
    """``count`` of all mutants of the targets (of those named so, or all), each as likely as any other."""
    targets = [target for target in TARGETS if not only or target.rpartition("/")[2] in only]
    files = sorted(path for target in targets for path in (ROOT / target).rglob("*.py"))
    every = [mutant for path in files for mutant in mutants_of(path, ROOT)]
    return sorted(random.Random(seed).sample(every, min(count, len(every))), key=lambda m: (m.path, m.number))


def shown(verdict: str, mutant: Mutant) -> str:
    """Return a line of columns between tabs: verdict, place, number, before, after."""
    location = f"{mutant.path}:{mutant.line}"
    return "\t".join((verdict, location, str(mutant.number), mutant.before, mutant.after))


def printed(lines: Iterable[str]) -> list[Mutant]:
    """Mutants that ``shown`` told of; of several with the same change the one whose number is the nearest.

    Raises SystemExit for one that is no longer there.
    """
    chosen = []
    rows = (line.rstrip("\n").split("\t") for line in lines)
    for _, location, number, *change in (row for row in rows if len(row) == _COLUMNS):
        path, _, line = location.rpartition(":")
        alike = [m for m in mutants_of(ROOT / path, ROOT) if [m.before, m.after] == change]
        if not alike:
            raise SystemExit(f"{path} holds no {'  →  '.join(change)} any more")
        chosen.append(min(alike, key=lambda m: (abs(m.number - int(number)), abs(m.line - int(line)))))
    return chosen


def mirrored(path: str) -> str:
    """Return the folder of a module's unit tests, or the nearest above it: ``tests/unit/planner/`` of ``solve``."""
    folder = Path("tests", "unit", *Path(path).parent.parts[2:])
    return f"{next(location for location in (folder, *folder.parents) if (ROOT / location).is_dir())}/"


def tests_for(mutant: Mutant, reach: Reached) -> list[str]:
    """Return those of one suite in their order: the module's own folder, then others; of each the quickest first."""
    by_line, own = reach.tests.get(mutant.path, {}), mirrored(mutant.path)
    tests = {node for line in mutant.lines for node in by_line.get(line, ())}
    if "" in tests or mutant.number == UNCHANGED:
        tests = {node for nodes in by_line.values() for node in nodes}
        tests |= {node for node in reach.seconds if node.startswith(own)}  # they may read what the module declares
    is_control = mutant.number == UNCHANGED
    patience = PATIENCE_WITH_CONTROLS_S if is_control else PATIENCE_S
    chosen, spent = [], 0.0
    for node in sorted(tests - {""}, key=lambda node: (not node.startswith(own), reach.seconds.get(node, 0.0), node)):
        spent += reach.seconds.get(node, 0.0) if is_control or not node.startswith(own) else 0.0
        if chosen and spent > patience:
            break
        chosen.append(node)
    return chosen


def judged(mutant: Mutant, suites: Sequence[Reached]) -> str:
    """``KILLED_BY_TEST``, ``KILLED_BY_TEST_ALL``, survived or unreached."""
    verdict = "unreached"
    for suite in suites:
        if not suite.suite.is_asked_of(mutant.path, is_in_kernel=mutant.is_in_kernel):
            continue
        tests = tests_for(mutant, suite)
        limit = 30.0 + 4.0 * sum(suite.seconds.get(node, 0.0) for node in tests)
        if tests and not survives(suite.suite, mutant, tests, limit):
            return KILLED_BY_TEST if suite.suite.is_in_make_test else KILLED_BY_TEST_ALL
        verdict = "survived" if tests else verdict
    return verdict


def controls(chosen: list[Mutant], result: Sequence[Reached], at_once: int) -> list[str]:
    """Modules of the sample that, unchanged, fail the tests that they are put to: then nothing would survive."""
    first = {mutant.path: mutant for mutant in reversed(chosen)}
    unchanged = [replace(mutant, number=UNCHANGED) for mutant in first.values()]
    with ThreadPoolExecutor(at_once) as pool:
        verdicts = pool.map(lambda mutant: judged(mutant, result), unchanged)
    return [mutant.path for mutant, verdict in zip(unchanged, verdicts, strict=True) if verdict in KILLED]


def chosen_by(arguments: argparse.Namespace) -> list[Mutant]:
    """A sample, or those of an earlier run."""
    if arguments.again is None:
        return sample(arguments.mutants, arguments.seed, arguments.only)
    return printed(arguments.again.read_text().splitlines())


def main() -> int:
    """1 where ``make test-all`` kills fewer than ``GOAL``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", action="append", default=[], metavar="PACKAGE", help="planner, verify, …; repeatable")
    parser.add_argument("--again", type=Path, metavar="FILE", help="survivors that an earlier run printed")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1)
    arguments = parser.parse_args()
    started, chosen = time.monotonic(), chosen_by(arguments)
    results = [
        reached(suite)
        for suite in SUITES
        if any(suite.is_asked_of(mutant.path, is_in_kernel=mutant.is_in_kernel) for mutant in chosen)
    ]
    broken = controls(chosen, results, arguments.at_once)
    if broken:
        print("fail without any change: " + ", ".join(broken))
        return 1
    verdicts: Counter[str] = Counter()
    with ThreadPoolExecutor(arguments.at_once) as pool:
        for mutant, verdict in zip(chosen, pool.map(lambda m: judged(m, results), chosen), strict=True):
            verdicts[verdict] += 1
            if verdict not in KILLED:
                print(shown(verdict, mutant), flush=True)
    by_test = verdicts[KILLED_BY_TEST] / max(len(chosen), 1)
    by_test_all = by_test + verdicts[KILLED_BY_TEST_ALL] / max(len(chosen), 1)
    minutes = (time.monotonic() - started) / 60
    whose = f"seed {arguments.seed}" if arguments.again is None else f"again {arguments.again.name}"
    print(f"{whose}: {dict(verdicts)} in {minutes:.0f} minutes")
    print(f"killed by make test alone {by_test:.1%}, by make test-all {by_test_all:.1%} (goal {GOAL:.0%})")
    return 0 if by_test_all >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
