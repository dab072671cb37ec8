"""Print the JSON schema (2020-12) of FILE, one of those that plan and advise write.

Exit codes: 0 done, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any

from rebalance_advisor.terminal import write_json


def _plan() -> dict[str, Any]:
    from rebalance_advisor.publish.schemas import plan_schema

    return plan_schema()


def _findings() -> dict[str, Any]:
    from rebalance_advisor.publish.schemas import findings_schema

    return findings_schema()


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {"plan.json": _plan, "findings.json": _findings}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The file's name."""
    parser.add_argument("file", metavar="FILE", choices=list(SCHEMAS), help=" or ".join(SCHEMAS))


def run(arguments: argparse.Namespace) -> int:
    """To standard output."""
    write_json(sys.stdout, SCHEMAS[arguments.file]())
    return 0
