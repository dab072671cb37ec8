"""What ``plan`` and ``advise`` share: from their arguments to INPUT, options, capacities and the earlier plan."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_rebalance.snapshot.model import ClusterSnapshot
from rebalance_advisor.cli.history import require_history, with_window
from rebalance_advisor.cli.input_arguments import add_input_options, read_given
from rebalance_advisor.cli.plan_arguments import add_plan_options, read_previous, request_of, with_capacity_file
from rebalance_advisor.publish.folders.whole_folder import check_folder
from rebalance_advisor.request.names_in_cluster import require_names_known
from rebalance_advisor.request.pattern_trial import require_quick_request
from rebalance_advisor.request.run_request import RunRequest

if TYPE_CHECKING:
    from kafka_rebalance.snapshot.history.hourly_loads import HourlyLoads


@dataclass(frozen=True, slots=True)
class PlanInput:
    """What was asked and what was read; ``previous`` is the document of an earlier plan.

    ``hourly``: the hours that the snapshot's loads are made of, where a load of a window was asked for.
    """

    request: RunRequest
    snapshot: ClusterSnapshot
    previous: dict[str, Any] | None
    hourly: HourlyLoads | None = None


def add_planning_arguments(parser: argparse.ArgumentParser, *, made: str, printed: str, many: bool = False) -> None:
    """INPUT (with ``many`` one or more, as ``inputs``), ``--out``, ``--json`` and every option of a plan.

    ``made`` and ``printed`` are the command's own words.
    """
    if many:
        parser.add_argument("inputs", metavar="INPUT", type=Path, nargs="+")
    else:
        parser.add_argument("input", metavar="INPUT", type=Path)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help=f"where {made} to be replaced whole")
    parser.add_argument("--json", action="store_true", help=f"print {printed} as JSON")
    parser.add_argument(
        "--verbose", action="store_true", help="print each stage of the plan on stderr, with its moves and its seconds"
    )
    add_plan_options(parser)
    add_input_options(parser)


def requested(arguments: argparse.Namespace) -> RunRequest:
    """What was asked, before anything heavy is imported or read: wrong options and a wrong ``--out`` end here."""
    request = request_of(arguments)
    require_history(request, arguments.history)
    check_folder(arguments.out)
    return request


def read_plan_input(
    arguments: argparse.Namespace, request: RunRequest, say: Callable[[str], None], *, is_one_of_many: bool = False
) -> PlanInput:
    """Read INPUT, capacities and the earlier plan. ``is_one_of_many``: the same request is made of other inputs, too.

    Raises InvalidInputError for one that cannot be read, and for an INPUT from the future; UsageError for names and
    patterns that it does not know.
    """
    from kafka_rebalance.snapshot.age import age_of

    previous = read_previous(arguments.previous)
    say("reading")
    snapshot = read_given(arguments.input, arguments)
    if snapshot.captured_at is not None:
        age_of(snapshot.captured_at, datetime.now(UTC))
    snapshot, hourly = with_window(snapshot, request, arguments.history, max_bytes=arguments.max_input_bytes, say=say)
    require_quick_request(request, snapshot)
    require_names_known(request, snapshot, tuple(request.options.topic_patterns()) if is_one_of_many else ())
    return PlanInput(with_capacity_file(request, arguments.capacity, snapshot), snapshot, previous, hourly)
