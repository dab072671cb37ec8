"""Answer cases of any strategy: JSON lines ``{"id", "strategy", "input"}`` on stdin, ``{"id", "output"}`` on stdout.

``own:NAME`` and ``own-partitioner:NAME`` are custom classes, from an option or an installed package. A strategy's
refusal is an answer, as in the recordings. A line that cannot be answered gives {"id", "error"}; the other lines are
answered, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, TextIO

import orjson

from kafka_assignors.errors import AdvisorError, InvalidInputError
from kafka_rebalance.placement.recorded_cases import answer
from rebalance_advisor.cli.arguments import add_option
from rebalance_advisor.own_strategies.limits import limits_of
from rebalance_advisor.own_strategies.registering import described, own_strategies
from rebalance_advisor.own_strategies.targets import Kind, targets_here
from rebalance_advisor.request.run_request import OPTIONS, RunRequest
from rebalance_advisor.terminal import write_json_text

EXIT_DONE, EXIT_FAILED = 0, 1
_LIMITS = ("own_strategy_seconds", "own_strategy_memory")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for flag, form in (("--own-strategy", "own:NAME"), ("--own-partitioner", "own-partitioner:NAME")):
        parser.add_argument(
            flag, action="append", default=[], metavar="PLACE",
            help=f"module:Class or FILE.py:Class; cases ask it by its name, as {form}; repeatable",
        )  # fmt: skip
    for name in _LIMITS:
        add_option(parser, next(option for option in OPTIONS if option.name == name))


def run(arguments: argparse.Namespace) -> int:
    targets = targets_here(arguments.own_strategy, Kind.ASSIGNOR)
    targets += targets_here(arguments.own_partitioner, Kind.PARTITIONER)
    request = RunRequest.from_mapping({name: getattr(arguments, name) for name in _LIMITS})
    limits = limits_of(request.own_strategy_s, request.own_strategy_bytes)
    with own_strategies(described(targets, limits), limits):
        return answer_lines(sys.stdin, sys.stdout)


def answer_lines(stdin: TextIO, stdout: TextIO) -> int:
    code = EXIT_DONE
    for number, line in enumerate(stdin, start=1):
        if not line.strip():
            continue
        result, is_answered = _answer_line(line, number)
        if not is_answered:
            code = EXIT_FAILED
        write_json_text(stdout, orjson.dumps(result, option=orjson.OPT_NON_STR_KEYS).decode())
    stdout.flush()
    return code


def _answer_line(line: str, number: int) -> tuple[dict[str, Any], bool]:
    case_id: Any = None
    try:
        case = _parse(line, number)
        case_id = case.get("id")
        return answer(case), True
    except AdvisorError as error:
        return {"id": case_id, "error": f"line {number}: {error}"}, False


def _parse(line: str, number: int) -> dict[str, Any]:
    try:
        case = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InvalidInputError.at(f"line {number}", f"is not JSON ({error})") from error
    if not isinstance(case, dict):
        raise InvalidInputError.at(f"line {number}", "is not a JSON object", 'a case is {"id", "strategy", "input"}')
    return case
