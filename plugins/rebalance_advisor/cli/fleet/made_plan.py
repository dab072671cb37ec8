"""From what was asked to a folder with a verified plan: for one cluster, and for each of a fleet."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_rebalance.plans.plan import Plan
from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.cli.interrupt import taken_back_on_interrupt
from rebalance_advisor.cli.plan_input import read_plan_input
from rebalance_advisor.request.run_request import RunRequest

if TYPE_CHECKING:
    from kafka_rebalance.plans.hours_outside import HoursOutside
    from kafka_rebalance.plans.state import Watch


@dataclass(frozen=True, slots=True)
class Made:
    """A plan that was verified, and where its files are."""

    plan: Plan
    snapshot: ClusterSnapshot
    folder: Path
    hours: HoursOutside | None


def plan_into_folder(
    arguments: argparse.Namespace,
    request: RunRequest,
    say: Callable[[str], None],
    *,
    is_one_of_many: bool = False,
    watch: Watch | None = None,
) -> Made:
    """Read, plan, verify, write. A plan that does not pass its own verification is not written."""
    from kafka_rebalance.plans.hours_outside import hours_outside
    from kafka_rebalance.plans.searches import PlanQuestion, planned
    from kafka_rebalance.plans.state import ignore
    from rebalance_advisor.compiling.first_compile import tell_of_first_compile
    from rebalance_advisor.publish.plan_folder import write_plan_folder
    from rebalance_advisor.version import advisor_version

    tell_of_first_compile("plan")
    given = read_plan_input(arguments, request, say, is_one_of_many=is_one_of_many)
    question = PlanQuestion(
        given.snapshot, given.request.options, given.request.seed, given.previous, advisor_version()
    )
    plan = planned(question, progress=say, watch=watch or ignore).plan
    hours = hours_outside(given.snapshot, plan, given.hourly)
    say("writing")
    with taken_back_on_interrupt():
        folder = write_plan_folder(arguments.out, given.snapshot, plan, hours)
    return Made(plan, given.snapshot, folder, hours)
