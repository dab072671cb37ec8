"""``moves.csv``, row by row, against the moves of the plan.

A text cell that a spreadsheet would take for a formula (it begins with ``= + - @``, a tab, a line end or ``'``) is
written with one ``'`` before it; numbers are left. So the cell of a text is known exactly, and any other is a fault.
"""

from __future__ import annotations

import csv
import io
from typing import Any

from kafka_rebalance.verify.faults import FaultList

HEAD = (
    "wave", "topic", "partition", "kind", "from", "to", "leader_from", "leader_to", "bytes", "reason_code",
    "reason", "worse_without",
)  # fmt: skip
_WORDS = ("reason", "worse_without")
_TEXTS = ("topic", "kind", "from", "to", "reason_code")
_FORMULA = tuple("=+-@\t\r'")
NAME = "moves.csv"


def check_table(document: dict[str, Any], content: bytes, faults: FaultList) -> None:
    """One row for each move, in the plan's order, each cell what the move says; two columns are words, and free."""
    try:
        rows = list(csv.reader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        faults.add("table", NAME, f"cannot be read ({error})")
        return
    if not rows or tuple(rows[0]) != HEAD:
        faults.add("table", NAME, f"its columns are not {', '.join(HEAD)}")
        return
    moves = document["moves"]
    if len(rows) - 1 != len(moves):
        faults.add("table", NAME, f"holds {len(rows) - 1} moves, the plan {len(moves)}")
    for number, (row, move) in enumerate(zip(rows[1:], moves, strict=False)):
        _check_row(row, move, f"{NAME}:{number + 2}", faults)


def cell_of(text: str) -> str:
    """A text as its cell holds it."""
    return "'" + text if text.startswith(_FORMULA) else text


def _check_row(row: list[str], move: dict[str, Any], place: str, faults: FaultList) -> None:
    expected = _row_of(move)
    if len(row) != len(expected):
        faults.add("table", place, f"has {len(row)} cells, {len(expected)} are the columns")
        return
    for name, claimed, wanted in zip(HEAD, row, expected, strict=True):
        if claimed != wanted and name not in _WORDS:
            faults.add("table", place, f"{name} says {claimed[:60]!r}, the plan {wanted[:60]!r}")


def _row_of(move: dict[str, Any]) -> list[str]:
    values: dict[str, Any] = {name: move.get(name) for name in HEAD} | {"reason_code": move["reason"]["code"]}
    for name in ("from", "to"):
        values[name] = " ".join(map(str, move[name]))
    cells = ["" if values[name] is None else str(values[name]) for name in HEAD]
    return [cell_of(cell) if name in _TEXTS else cell for name, cell in zip(HEAD, cells, strict=True)]
