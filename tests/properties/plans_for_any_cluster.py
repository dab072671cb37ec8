"""Every small cluster with any job gets a verdict, and every plan is right by the independent verifier.

    python -m tests.properties.plans_for_any_cluster --cases 2000 [--first 0]

prints a table of jobs by verdict, with the bounds, frontiers and estimates that had to be lowered or left out, and each
case that has no verdict or whose plan is refused. Every fourth case is searched with the usual effort (but for points
of the frontier, which are not annealed), the others in short: what has to hold of a plan does not depend on how long it
was searched for.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.advisory.advise import AdviceRequest, advise
from kafka_rebalance.planner.params import Effort, SolveParams
from kafka_rebalance.plans.params import DEFAULTS, PlanParams
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import Plan, Verdict
from kafka_rebalance.plans.searches import verified
from rebalance_advisor.cli.exit_codes import exit_code_of
from tests.properties.any_cluster import Case, any_case

EXIT_CODES = (0, 3, 4)


@dataclass(frozen=True)
class Outcome:
    """``verdict`` "" where there is none. ``lost``: what of the plan as it was made could not be verified, by name."""

    case: Case
    verdict: str
    exit_code: int = 1
    lost: tuple[str, ...] = ()
    wrong: str = ""


def outcome_of(case: Case, params: PlanParams) -> Outcome:
    """Plan, verify; where nobody can tell, the whole advisory as well: it has to say the same."""
    try:
        made = make_plan(case.snapshot, case.options, params=params)
        plan = verified(made, case.snapshot).plan
        if plan.verdict is Verdict.CANNOT_TELL:
            reported = advise(case.snapshot, AdviceRequest(case.options), params=params).plan
            if reported.plan_id != plan.plan_id:
                return Outcome(case, plan.verdict.value, wrong="advise says something else")
    except AdvisorError as error:
        return Outcome(case, "", wrong=f"{type(error).__name__}: {error}")
    return Outcome(case, plan.verdict.value, exit_code_of(plan.verdict), _lost(made, plan))


def _lost(made: Plan, plan: Plan) -> tuple[str, ...]:
    stated = {bound.cost: bound.value for bound in plan.lower_bound}
    lost = [f"bound on {bound.cost}" for bound in made.lower_bound if stated.get(bound.cost) != bound.value]
    lost += ["frontier"] if made.frontier and not plan.frontier else []
    lost += ["slot filling"] if made.cost.seconds_slot_filling != plan.cost.seconds_slot_filling else []
    lost += ["robustness"] if made.robustness is not None and plan.robustness is None else []
    return tuple(lost)


def params_of(seed: int) -> PlanParams:
    """The frontier's points without annealing; three plans of four without annealing and linear programs."""
    points = DEFAULTS.frontier.solve
    short = replace(DEFAULTS.frontier, solve=replace(points, effort=replace(points.effort, anneal_steps=0)))
    if seed % 4 == 0:
        return replace(DEFAULTS, frontier=short)
    return replace(DEFAULTS, frontier=short, solve=SolveParams(effort=Effort(program_steps=0, anneal_steps=0)))


def outcomes_of(seeds: Sequence[int]) -> list[Outcome]:
    """One case a seed."""
    return [outcome_of(any_case(seed), params_of(seed)) for seed in seeds]


def faults_of(outcomes: Sequence[Outcome]) -> list[str]:
    """What must not be: a case without a verdict, a plan that is refused, a bound on bytes that is lost."""
    wrong = [
        f"{outcome.case}: {outcome.wrong}"
        for outcome in outcomes
        if outcome.wrong or outcome.exit_code not in EXIT_CODES
    ]
    wrong += [f"{outcome.case}: lost the bound on bytes" for outcome in outcomes if "bound on bytes" in outcome.lost]
    return wrong


def table_of(outcomes: Sequence[Outcome]) -> list[str]:
    """Jobs by verdict, and what was lost."""
    verdicts = [verdict.value for verdict in Verdict]
    head = f"{'job':<26}" + "".join(f"{verdict:>23}" for verdict in verdicts) + f"{'lost':>6}  {'wrong':>5}"
    lines = [head]
    for job in [*sorted({outcome.case.job for outcome in outcomes}), "all"]:
        mine = [outcome for outcome in outcomes if job in (outcome.case.job, "all")]
        counts = Counter(result.verdict for result in mine)
        cells = "".join(f"{counts[verdict]:>23}" for verdict in verdicts)
        lost, wrong = sum(bool(result.lost) for result in mine), sum(bool(result.wrong) for result in mine)
        lines.append(f"{job:<26}{cells}{lost:>6}  {wrong:>5}")
    parts = Counter(name for outcome in outcomes for name in outcome.lost)
    lines.append("lost: " + (", ".join(f"{name} {count}" for name, count in sorted(parts.items())) or "nothing"))
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Run the cases, telling what is wrong at once; the table at the end."""
    parser = argparse.ArgumentParser(prog="python -m tests.properties.plans_for_any_cluster")
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    arguments = parser.parse_args(argv)
    outcomes: list[Outcome] = []
    for seed in range(arguments.first, arguments.first + arguments.cases):
        outcomes += outcomes_of([seed])
        for fault in faults_of(outcomes[-1:]):
            print(fault, flush=True)
        if outcomes[-1].lost:
            print(f"{outcomes[-1].case}: lost {', '.join(outcomes[-1].lost)}", flush=True)
        if len(outcomes) % 100 == 0:
            print(f"{len(outcomes)} cases", file=sys.stderr, flush=True)
    print("\n".join(table_of(outcomes)))
    return 1 if faults_of(outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
