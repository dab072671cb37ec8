"""Rows of the table of random kills: kept as they come, one JSON document a line, so that a second start goes on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.stack.kills.random_kill import Outcome

_HEAD = ("no.", "SIGKILL", "while", "readers saw", "more tries", "went on", "in")


@dataclass(frozen=True, slots=True)
class KeptRows:
    """The rows of one seed in a file."""

    file: Path
    seed: int

    def add(self, outcome: Outcome) -> None:
        """On disk when it returns."""
        row = {"seed": self.seed, "date": datetime.now(UTC).isoformat(timespec="seconds")} | asdict(outcome)
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")

    def newest(self) -> dict[int, Mapping[str, Any]]:
        """By number; of a moment that was lived through twice, the later row."""
        if not self.file.exists():
            return {}
        rows = map(json.loads, self.file.read_text(encoding="utf-8").splitlines())
        return {row["number"]: row for row in rows if row["seed"] == self.seed}

    def done(self) -> set[int]:
        """The numbers of those that held what was promised: others are for a second start."""
        return {number for number, row in self.newest().items() if not row["faults"]}


def table(rows: Iterable[Mapping[str, Any]]) -> str:
    """As text; a row that did not hold has its faults below."""
    lines: list[tuple[str, ...] | str] = [_HEAD]
    for row in rows:
        lines.append(
            (
                str(row["number"]), row["kind"], row["at"], row["readers"], row["tried_again"] or "none",
                row["went_on"], f"{row['seconds']:.0f} s",
            )
        )  # fmt: skip
        lines += [f"     NOT AS PROMISED: {fault}" for fault in row["faults"]]
    cells = [line for line in lines if not isinstance(line, str)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEAD))]
    return "\n".join(line if isinstance(line, str) else _padded(line, widths) for line in lines)


def _padded(line: Iterable[str], widths: Iterable[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
