"""One plan of a fleet in its own process, which isolates failures such as lack of memory.

Request as JSON on stdin, table row as last line of stdout.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from pathlib import Path
from typing import Any

from kafka_assignors.errors import AdvisorError
from kafka_rebalance.errors import UsageError
from kafka_rebalance.render import describe_error
from rebalance_advisor.cli.fleet import FleetRow, plan_into_folder
from rebalance_advisor.request.run_request import RunRequest
from rebalance_advisor.terminal import write_lines


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the parent reports Ctrl-C
    ask = json.load(sys.stdin)
    row = planned(ask).document()
    write_lines(sys.stdout, "", json.dumps(row))  # after output of native libraries
    return 0


def planned(ask: dict[str, Any]) -> FleetRow:
    name, source = ask["name"], ask["input"]
    try:
        arguments = argparse.Namespace(
            input=Path(source), out=Path(ask["out"]), previous=None, history=None,
            capacity=None if ask["capacity"] is None else Path(ask["capacity"]),
            max_input_bytes=ask["max_input_bytes"], strict=ask.get("strict", False),
        )  # fmt: skip
        request = RunRequest.from_mapping(ask["request"])
        made = plan_into_folder(arguments, request, lambda _: None, is_one_of_many=True)
    except AdvisorError as error:
        return FleetRow.failed(name, source, 2 if isinstance(error, UsageError) else 1, describe_error(error))
    except OSError as error:
        return FleetRow.failed(name, source, 1, f"{error.filename or ''}: {error.strerror or error}")
    return FleetRow.of_plan(name, source, made.plan, str(made.folder))


if __name__ == "__main__":
    sys.exit(main())
