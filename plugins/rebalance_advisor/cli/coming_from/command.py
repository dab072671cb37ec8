"""Print another balancer's settings as a table of clusters.toml; what has no counterpart follows as comments.

Exit codes: 0 done, 1 bad input, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from rebalance_advisor.terminal import write_lines

CRUISE_CONTROL, TOPICMAPPR = "cruise-control", "topicmappr"
_NAME = re.compile(r"[a-z0-9_-]{1,60}")


def _cluster_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise argparse.ArgumentTypeError("a name in clusters.toml is up to 60 of a-z, 0-9, _ and -")
    return text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The tool, its file, and what else stands in the table."""
    tools = [CRUISE_CONTROL, TOPICMAPPR]
    parser.add_argument("tool", metavar="TOOL", choices=tools, help=" or ".join(tools))
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="cruisecontrol.properties, or a file with topicmappr's command as typed"
    )
    parser.add_argument(
        "--capacity", type=Path, metavar="FILE", help="capacities: CSV, or Cruise Control's capacity.json of any kind"
    )
    parser.add_argument("--cluster", type=_cluster_name, default="imported", metavar="NAME", help="of the table")


def run(arguments: argparse.Namespace) -> int:
    """To standard output, once everything was read."""
    from rebalance_advisor.cli.coming_from.cluster_table import cluster_table
    from rebalance_advisor.cli.coming_from.cruise_control import read_cruise_control
    from rebalance_advisor.cli.coming_from.topicmappr import read_topicmappr
    from rebalance_advisor.dumps.capacity_file import read_capacity

    read = read_topicmappr if arguments.tool == TOPICMAPPR else read_cruise_control
    imported = read(arguments.file)
    if arguments.capacity is not None:
        read_capacity(arguments.capacity)
    capacity = None if arguments.capacity is None else str(arguments.capacity)
    write_lines(sys.stdout, *cluster_table(arguments.cluster, imported, capacity))
    return 0
