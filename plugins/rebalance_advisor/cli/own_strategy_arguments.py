"""Classes of one's own, as a shell names them: a file that is not there is wrong usage, before all else."""

from __future__ import annotations

from collections.abc import Iterable

from rebalance_advisor.own_strategies.targets import Kind, Target, installed_targets, read_target, require_file


def targets_of_arguments(places: Iterable[str], kind: Kind) -> tuple[Target, ...]:
    """What is installed, then what was given. Raises UsageError for a place without a class or without its file."""
    given = [read_target(place, kind) for place in places]
    for target in given:
        require_file(target)
    return (*installed_targets(kind), *given)
