"""Print the answers of `plan` and `advise` to each real dump: ``python -m tests.unit.dumps.realdata_verdicts
FOLDER``.

Each file is read as in ``realdata_table``. A line has both exit codes; exit code 1 if one of them is no verdict (0 a
plan, 3 infeasible, 4 cannot tell).
"""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from rebalance_advisor.cli import main as cli
from tests.unit.dumps.realdata_table import COMPANION, Outcome, table

VERDICTS = (0, 3, 4)


def exit_codes_of(path: Path, way: str) -> tuple[int, int]:
    """``plan`` and ``advise`` over one file, alone, in a folder, or beside a small dump of topics."""
    with tempfile.TemporaryDirectory() as scratch:
        source = path
        if way != "file":
            source = Path(scratch) / "dumps"
            source.mkdir()
            shutil.copy(path, source / path.name)
        if way == "beside topics":
            (source / "companion-topics.txt").write_text(COMPANION)
        plan = _exit_code(["plan", str(source), "--out", str(Path(scratch) / "plan")])
        return plan, _exit_code(["advise", str(source), "--out", str(Path(scratch) / "advice")])


def _exit_code(argv: list[str]) -> int:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = cli.main(argv)
    if code not in VERDICTS:
        print(f"  {' '.join(argv)}: {said.getvalue()[-400:]}", file=sys.__stdout__)
    return code


def main(folder: str) -> int:
    """Print the table and its totals."""
    totals: Counter[tuple[int, int]] = Counter()
    read: list[Outcome] = [row for row in table(Path(folder)) if row.way != "refused"]
    for row in read:
        codes = exit_codes_of(Path(folder) / row.path, row.way)
        totals[codes] += 1
        print(f"plan {codes[0]} advise {codes[1]} ({row.way}) {row.path}", flush=True)
    for (plan, advise), count in sorted(totals.items()):
        print(f"plan {plan}, advise {advise}: {count}")
    return int(any(code not in VERDICTS for codes in totals for code in codes))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
