"""``python -m tests.conformance.whole_files FOLDER``: every recorded file through the shell command, whole.

Prints a line a file: cases answered exactly, of how many. Exit code 1 when one differs. The files are the recordings
that ``vectors/`` holds a selection of (``*.jsonl.gz``).
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

from tests.conformance.recorded import is_recorded_answer

COMMAND = Path(sys.executable).with_name("rebalance-advisor")


def exact_answers(file: Path) -> tuple[int, int]:
    """Cases of ``file`` that ``rebalance-advisor replay`` answers as recorded, in their order; and all of them."""
    recorded = gzip.decompress(file.read_bytes())
    replayed = subprocess.run([str(COMMAND), "replay"], input=recorded, capture_output=True, check=False).stdout
    exact = total = 0
    for case_line, answer_line in zip_longest(recorded.splitlines(), replayed.splitlines()):
        if case_line is None:
            return 0, total
        total += 1
        case = json.loads(case_line)
        answered = json.loads(answer_line) if answer_line else {}
        exact += (
            answered.get("id") == case["id"]
            and "output" in answered
            and is_recorded_answer(answered["output"], case["output"], case["strategy"], case["input"])
        )
    return exact, total


def main() -> int:
    differing = 0
    for file in sorted(Path(sys.argv[1]).glob("*.jsonl.gz")):
        exact, total = exact_answers(file)
        differing += total - exact
        print(f"{file.name.removesuffix('.jsonl.gz'):28} {exact:>6} of {total:>6} exact", flush=True)
    print("all exact" if not differing else f"{differing} differ")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
