"""``--policy FILE`` of ``check`` and ``verify``: what a team allows of any plan, as a step of its own checks."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_rebalance.policy import BrokenRule

# None where no policy was given; empty where it is kept.
Broken = list["BrokenRule"] | None
EXIT_AGAINST_POLICY = 13


def add_policy_option(parser: argparse.ArgumentParser) -> None:
    """The option; docs/plans-as-code.md tells the file's keys."""
    words = "a TOML file of limits that the plan must keep: hours, bytes, topics never moved, windows of the week …"
    parser.add_argument("--policy", type=Path, metavar="FILE", help=words)


def rules_broken_by(document: Mapping[str, Any], path: Path | None, now: datetime | None = None) -> Broken:
    """Raises InvalidInputError for a file that is no policy."""
    if path is None:
        return None
    from kafka_rebalance.policy import broken_rules
    from rebalance_advisor.request.pattern_trial import require_quick
    from rebalance_advisor.request.policy_file import read_policy

    policy = read_policy(path)
    moved = {str(move["topic"]) for move in document["moves"]}
    require_quick([("never_moved", pattern) for pattern in policy.never_moved], sorted(moved))
    return broken_rules(document, policy, now)


def exit_code_with(code: int, broken: Broken) -> int:
    """13 where only the policy stands against it; what is worse keeps its own code."""
    return EXIT_AGAINST_POLICY if code == 0 and broken else code


def policy_lines(broken: Broken) -> list[str]:
    """Nothing where there is no policy."""
    if broken is None:
        return []
    return [f"  policy: {rule.rule}: {rule.words}" for rule in broken] or ["  policy: kept"]
