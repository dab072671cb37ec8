"""A plan as a folder: every file of it that a person or a tool reads, none missing, each as the plan says.

Judged: ``plan.json``, ``waves/``, ``rollback/``, ``elections/``, ``moves.csv``; of any other JSON file that it holds no
key twice; of ``advisory.json`` that it is of this snapshot. The shell blocks of ``commands.md`` are the plan's; its
words, ``report.html`` and ``digest.md`` are made of the plan, and only have to name it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_rebalance.verify.document.strict_json import UNREADABLE, read_json
from kafka_rebalance.verify.faults import FaultList
from kafka_rebalance.verify.files.moves_table import check_table
from kafka_rebalance.verify.files.plan_files import check_files, names_its_own_moves
from kafka_rebalance.verify.files.shell_blocks import check_shell_blocks

PLAN = "plan.json"
FOLDERS = ("waves", "rollback", "elections")
COMMANDS, TABLE = "commands.md", "moves.csv"
PAGES = (COMMANDS, "report.html", "digest.md")


def check_folder(document: dict[str, Any], contents: Mapping[str, bytes], faults: FaultList) -> None:
    """``contents``: each file by its path in the folder. ``document`` has the shape of a plan."""
    found: dict[str, Any] = {}
    for name, content in contents.items():
        if name == PLAN or not name.endswith(".json"):
            continue
        value = read_json(content, name, faults)
        if name.partition("/")[0] in FOLDERS:
            found[name] = value
        elif value is not UNREADABLE:
            _check_same_reading(name, value, document, faults)
    check_files(document, found, faults)
    for name, check in ((COMMANDS, check_shell_blocks), (TABLE, check_table)):
        if name not in contents:
            faults.add("file", name, "is missing")
        elif names_its_own_moves(document):
            check(document, contents[name], faults)
    for name in PAGES:
        if name in contents and document["plan_id"][:12].encode() not in contents[name]:
            faults.add("file", name, "names another plan")


def _check_same_reading(name: str, value: Any, document: dict[str, Any], faults: FaultList) -> None:
    """An advisory beside the plan is of the same reading of the same cluster."""
    if name != "advisory.json":
        return
    for key in ("cluster", "cluster_id", "captured_at"):
        if not isinstance(value, dict) or value.get(key) != document[key]:
            faults.add("file", f"{name} {key}", "is not the plan's")
