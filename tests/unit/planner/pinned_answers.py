"""Pinned answers of the planner to tiny clusters.

The planner must return the same bytes for the same input and seed, unless a change is meant to alter plans. So the
answers of every step, search, bound, program and plan to some dozen tiny clusters (``pinned_problems.py``) are in
``tests/data/pinned/*.json``, one file a subject, for compiled and interpreted kernels.

    python -m tests.unit.planner.pinned_answers --write [SUBJECT …]

writes the files anew. Do that only if a commit is meant to change answers; its message says which and why. Check the
difference first: a change of one rule should show only in its subjects, moves and bytes of plans should not grow,
bounds should not fall.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from kafka_rebalance.cluster_arrays.problem import Problem
from kafka_rebalance.errors import InfeasibleError
from tests.unit.planner import (
    pinned_bounds,
    pinned_corners,
    pinned_kernels,
    pinned_leaders,
    pinned_numbers,
    pinned_plans,
    pinned_steps,
)
from tests.unit.planner.pinned_problems import tiny_problem

FOLDER = Path(__file__).parents[2] / "data" / "pinned"


def of_problem(reported: Callable[[Problem], dict[str, object]], seed: int) -> dict[str, object]:
    """Answers for one tiny cluster, or the reason without a lawful plan."""
    problem = tiny_problem(seed)
    try:
        return reported(problem)
    except InfeasibleError as error:
        return {"refused": error.cause.code.value}


# Subject → function of a number, and its numbers.
SUBJECTS: dict[str, tuple[Callable[[int], dict[str, object]], Sequence[int]]] = {
    "parameters": (pinned_numbers.parameters, range(len(pinned_numbers.PARTS) + 1)),
    "rounding": (pinned_numbers.rounding, range(1)),
    "search": (partial(of_problem, pinned_steps.searched), range(64)),
    "steps": (partial(of_problem, pinned_steps.step_by_step), range(48)),
    "polish": (partial(of_problem, pinned_steps.polished), range(64)),
    "leaders": (partial(of_problem, pinned_leaders.searched), range(80)),
    "chosen_leaders": (partial(of_problem, pinned_leaders.chosen), range(80)),
    "flows": (partial(of_problem, pinned_leaders.flowed), range(60)),
    "orders": (pinned_kernels.orders, range(48)),
    "coverings": (pinned_kernels.coverings, range(48)),
    "bounds": (partial(of_problem, pinned_bounds.bounded), range(32)),
    "starts": (partial(of_problem, pinned_bounds.started), range(60)),
    "corners": (pinned_corners.corner_answers, range(len(pinned_corners.CORNERS))),
    "sets": (partial(of_problem, pinned_plans.searched), range(48)),
    "programs": (partial(of_problem, pinned_plans.programmed), range(16)),
    "plans": (partial(of_problem, pinned_plans.planned), range(10)),
}


def answers(subject: str) -> dict[str, object]:
    """By number, in JSON's types."""
    reported, numbers = SUBJECTS[subject]
    return dict(json.loads(json.dumps({str(number): reported(number) for number in numbers})))


def pinned(subject: str) -> dict[str, object]:
    return dict(json.loads((FOLDER / f"{subject}.json").read_text(encoding="utf-8")))


def differences(subject: str) -> list[str]:
    """A line for each of today's answers that differs."""
    now, then = answers(subject), pinned(subject)
    assert now.keys() == then.keys()
    return [
        f"{subject} {number}:\n  was {then[number]}\n  is  {now[number]}"
        for number in now
        if now[number] != then[number]
    ]


def write(subject: str) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    text = json.dumps(answers(subject), ensure_ascii=False, indent=1)
    (FOLDER / f"{subject}.json").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Write the named subjects, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", nargs="*", choices=sorted(SUBJECTS), required=True, metavar="SUBJECT")
    for subject in parser.parse_args().write or sorted(SUBJECTS):
        write(subject)


if __name__ == "__main__":
    main()
