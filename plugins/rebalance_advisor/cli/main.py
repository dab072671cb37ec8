"""The shell command ``rebalance-advisor``: one module per subcommand, imported only when it is called.

Exit codes: 0 done, 1 bad input or failure, 2 wrong usage, 3 infeasible, 4 cannot tell, 130 Ctrl-C; ``check`` has
its own.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from kafka_assignors.errors import AdvisorError
from kafka_assignors.visible_text import visible
from kafka_rebalance.errors import InfeasibleError, UsageError
from rebalance_advisor.cli.interrupt import end_on_interrupt, tell_of_interrupt
from rebalance_advisor.terminal import write_lines

COMMANDS = {
    "snapshot": ("rebalance_advisor.cli.snapshot", "read a live cluster into a snapshot file"),
    "plan": ("rebalance_advisor.cli.plan", "the best reassignment plan for a snapshot, with its proof"),
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


class _Parser(argparse.ArgumentParser):
    """Quotes a wrong argument so that it shows, and tells which option may be meant; takes no shortened ones."""

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """As argparse does, but an unknown option is told with the nearest known one."""
        known, unknown = self.parse_known_args(args, namespace)
        if unknown:
            known_flags = [flag for flag in self._option_string_actions if flag.startswith("--")]
            near = get_close_matches(unknown[0].partition("=")[0], known_flags, n=1)
            self.error(f"unrecognized arguments: {' '.join(unknown)}" + "".join(f"; did you mean {f}?" for f in near))
        return known

    def error(self, message: str) -> NoReturn:
        """Usage and message on stderr, exit code 2."""
        super().error(visible(message))


def main(argv: Sequence[str] | None = None) -> int:
    """Run one subcommand and return its exit code."""
    if argv is None:
        end_on_interrupt()
    words = list(sys.argv[1:] if argv is None else argv)
    name = words[0] if words else ""
    if name not in COMMANDS:
        return _usage(words)
    module = importlib.import_module(COMMANDS[name][0])
    parser = _Parser(
        prog=f"rebalance-advisor {name}",
        description=module.__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module.add_arguments(parser)
    try:
        with _standard_output_to_ourselves():
            return _run(module, parser.parse_args(words[1:]))
    except KeyboardInterrupt:
        return tell_of_interrupt()


@contextlib.contextmanager
def _standard_output_to_ourselves() -> Iterator[None]:
    """What native libraries print goes to standard error (HiGHS prints a line now and then, whatever it is told): who
    reads ``--json`` gets one document and nothing else.
    """
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


def _run(module: Any, arguments: argparse.Namespace) -> int:
    try:
        code = int(module.run(arguments))
        sys.stdout.flush()
    except InfeasibleError as error:
        from kafka_rebalance.render import error_words  # its tables are heavy, and few commands need them

        write_lines(sys.stderr, f"infeasible: {error_words(error)}")
        return 3
    except AdvisorError as error:
        write_lines(sys.stderr, f"error: {error}")
        return 2 if isinstance(error, UsageError) else 1
    except BrokenPipeError:
        return 1
    except OSError as error:
        write_lines(sys.stderr, f"error: {error.filename or ''}: {error.strerror or error}")
        return 1
    return code


def _usage(words: list[str]) -> int:
    lines = ["usage: rebalance-advisor COMMAND …    (rebalance-advisor COMMAND --help tells its options)", ""]
    lines += [f"  {name:<10} {text}" for name, (_, text) in COMMANDS.items()]
    if words and words[0] in ("--version", "-V"):
        from importlib.metadata import version

        write_lines(sys.stdout, version("kafka-rebalance-advisor"))
        return 0
    if words and words[0] in ("--help", "-h"):
        write_lines(sys.stdout, *lines)
        return 0
    write_lines(sys.stderr, *([f"unknown command {words[0]!r}"] if words else []), *lines)
    return 2


if __name__ == "__main__":
    sys.exit(main())
