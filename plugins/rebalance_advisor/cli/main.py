"""Exit codes: 0 done, 1 bad input or failure, 2 wrong usage, 3 infeasible, 4 cannot tell, 130 Ctrl-C; ``check`` has its
own.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any

from kafka_assignors.errors import AdvisorError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.errors import InfeasibleError, UsageError
from rebalance_advisor.cli.interrupt import end_on_interrupt, tell_of_interrupt
from rebalance_advisor.cli.parser import ERROR_TONES, CommandParser, refusal_lines
from rebalance_advisor.terminal import write_lines

PROGRAM = "rebalance-advisor"
COMMANDS = {
    "snapshot": ("rebalance_advisor.cli.snapshot", "read a live cluster into a snapshot file"),
    "plan": ("rebalance_advisor.cli.plan", "the best reassignment plan for a snapshot, with its proof"),
    "what-if": ("rebalance_advisor.cli.what_if", "the cluster after a lost rack or broker, or after growth"),
    "verify": ("rebalance_advisor.cli.verify", "recompute a plan from its input alone and name each fault"),
    "check": ("rebalance_advisor.cli.check", "is a plan still valid and worth it on a newer snapshot?"),
    "advise": ("rebalance_advisor.cli.advise", "the whole advisory as files: findings, plan, groups, report"),
    "keys": (
        "rebalance_advisor.cli.keys",
        "what a topic's keys do to its partitions, from a sample of its records",
    ),
    "group": ("rebalance_advisor.cli.group", "one group under every strategy, and what a pod's death costs"),
    "health": ("rebalance_advisor.cli.health", "is the advisor itself well? for Prometheus, from the store"),
    "import": (
        "rebalance_advisor.cli.coming_from",
        "settings of Cruise Control or topicmappr as a table of clusters.toml",
    ),
    "schema": ("rebalance_advisor.cli.schemas", "the JSON schema of plan.json or findings.json"),
    "replay": ("rebalance_advisor.cli.replay", "answer cases of any strategy, one JSON a line"),
}


def main(argv: Sequence[str] | None = None) -> int:
    if argv is None:
        end_on_interrupt()
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments[0] if arguments else ""
    if name not in COMMANDS:
        return _usage(arguments)
    module = importlib.import_module(COMMANDS[name][0])
    parser = CommandParser(
        prog=f"{PROGRAM} {name}",
        common=getattr(module, "COMMON", None),
        description=module.__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    try:
        with _standard_output_to_ourselves():
            return _run(module, parser.parse_args(arguments[1:]), parser.prog)
    except KeyboardInterrupt:
        return tell_of_interrupt()


@contextlib.contextmanager
def _standard_output_to_ourselves() -> Iterator[None]:
    """Native output (HiGHS ignores its settings) goes to stderr, so that ``--json`` stays one document."""
    if sys.stdout is not sys.__stdout__ or sys.stdout is None:
        yield
        return
    sys.stdout.flush()
    ours = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = os.fdopen(os.dup(ours), "w", encoding=sys.stdout.encoding)
    try:
        yield
    finally:
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.close()
        sys.stdout = sys.__stdout__
        os.dup2(ours, 1)
        os.close(ours)


def _run(module: Any, arguments: argparse.Namespace, prog: str) -> int:
    try:
        code = int(module.run(arguments))
        sys.stdout.flush()
    except InfeasibleError as error:
        from kafka_rebalance.render import describe_error  # rarely needed

        write_lines(sys.stderr, f"infeasible: {describe_error(error)}", tones=ERROR_TONES)
        return 3
    except UsageError as error:
        write_lines(sys.stderr, *refusal_lines(str(error), prog), tones=ERROR_TONES)
        return 2
    except AdvisorError as error:
        write_lines(sys.stderr, f"error: {error}", tones=ERROR_TONES)
        return 1
    except BrokenPipeError:
        return 1
    except OSError as error:
        prefix = f"{error.filename}: " if error.filename else ""
        write_lines(sys.stderr, f"error: {prefix}{error.strerror or error}", tones=ERROR_TONES)
        return 1
    return code


def _usage(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("--help", "-h"):
        lines = [f"usage: {PROGRAM} COMMAND …    ({PROGRAM} COMMAND --help shows its options)", ""]
        lines += [f"  {name:<10} {text}" for name, (_, text) in COMMANDS.items()]
        write_lines(sys.stdout if arguments else sys.stderr, *lines)
        return 0 if arguments else 2
    if arguments[0] in ("--version", "-V"):
        from importlib.metadata import version

        write_lines(sys.stdout, version("kafka-rebalance-advisor"))
        return 0
    near = get_close_matches(arguments[0], COMMANDS, n=1)
    message = f"{excerpt(arguments[0])} is no command" + "".join(f"; did you mean {name}?" for name in near)
    write_lines(sys.stderr, *refusal_lines(message, PROGRAM), tones=ERROR_TONES)
    return 2


if __name__ == "__main__":
    sys.exit(main())
