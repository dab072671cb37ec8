"""One process that reads damaged inputs and tells the outcome of each, a line before and a line after."""

from __future__ import annotations

import io
import json
import re
import resource
import shutil
import sys
import tempfile
import traceback
from pathlib import Path

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.plans.check import check_plan
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.verify import verify_plan
from rebalance_advisor.cli.replay import answer_lines
from tests.fuzz import whole_inputs as whole
from tests.fuzz.readers import KINDS, RefusedLineError, draw_of

MEMORY_BYTES = 8 * 2**30
_PLACE = re.compile(r"\S.*: \S")
_FOREIGN = re.compile(
    r"Traceback|object at 0x|\b(?:Key|Type|Value|Index|Attribute|Overflow|Recursion|Memory|ZeroDivision|Assertion|OS|"
    r"FileNotFound|UnicodeDecode|UnicodeEncode|JSONDecode)Error\b"
)


def main(first: int, last: int) -> int:
    """Inputs ``first`` to ``last`` - 1; kinds in turn."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    warm_up()
    _tell({"ready": first})
    names = list(KINDS)
    for number in range(first, last):
        _tell({"start": number})
        outcome, text = outcome_of(names[number % len(names)], number // len(names))
        _tell({"end": number, "outcome": outcome, "words": text})
    return 0


def warm_up() -> None:
    """Loads what the inputs need, so that no input waits for a kernel that is compiled."""
    for number in whole.PLANS:
        document, snapshot, options = whole.plan_document(number)
        verify_plan(document, snapshot)
        check_plan(document, snapshot)
        make_plan(snapshot, options, previous=document)
    answer_lines(io.StringIO("\n".join(map(json.dumps, whole.replay_cases()))), io.StringIO())


def outcome_of(kind: str, seed: int) -> tuple[str, str]:
    """("read" | "refused" | "crash", what was said)."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        KINDS[kind](draw_of(kind, seed), folder)
    except (AdvisorError, RefusedLineError) as refusal:
        message = str(refusal)
        return ("refused" if is_well_refused(message) else "crash"), message
    except BaseException as error:  # noqa: BLE001  # whatever it is, it is what this program looks for
        where = "".join(traceback.format_exception(error)[-4:])
        return "crash", f"{type(error).__name__}: {error}\n{where}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return "read", ""


def is_well_refused(text: str) -> bool:
    """A place, a reason, and nothing of Python's."""
    return bool(_PLACE.match(text)) and not _FOREIGN.search(text)


def _tell(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
