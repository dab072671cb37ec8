"""Print the advisor's own health as OpenMetrics text, from the store that ADVISOR_POSTGRES_DSN names.

Exit codes: 0 done, 1 the store cannot be read, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from rebalance_advisor.terminal import write_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=Path, metavar="FILE",
        help="replace FILE whole, for node_exporter's textfile collector (else: standard output)")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    from rebalance_advisor import store
    from rebalance_advisor.health import open_metrics
    from rebalance_advisor.publish.folders import check_file, replace_file
    from rebalance_advisor.store.health import load_health

    if arguments.output is not None:
        check_file(arguments.output)
    with store.connect(store.dsn_from_environment()) as connection:
        text = open_metrics(load_health(connection), datetime.now(UTC))
    if arguments.output is None:
        write_lines(sys.stdout, *text.splitlines())
    else:
        replace_file(arguments.output, text.encode())
    return 0
