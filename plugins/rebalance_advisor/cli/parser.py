from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NoReturn

from rebalance_advisor.terminal import Tone, write_lines

ERROR_TONES = {"error:": Tone.BAD, "infeasible:": Tone.BAD}


@dataclass(frozen=True, slots=True)
class CommonOptions:
    usage: str
    flags: tuple[str, ...]
    examples: tuple[tuple[str, str], ...]


class CommandParser(argparse.ArgumentParser):
    """No abbreviations. ``common``: shown by ``--help``; ``--help-all`` shows all."""

    def __init__(self, *, common: CommonOptions | None = None, **given: Any) -> None:
        super().__init__(**given)
        self.common = common
        if common is not None:
            self.add_argument("--help-all", action=_HelpAll, help="show every option and exit")

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        parsed, unknown = self.parse_known_args(args, namespace)
        if unknown:
            known_flags = [flag for flag in self._option_string_actions if flag.startswith("--")]
            near = get_close_matches(unknown[0].partition("=")[0], known_flags, n=1)
            self.error(f"unrecognized arguments: {' '.join(unknown)}" + "".join(f"; did you mean {f}?" for f in near))
        return parsed

    def error(self, message: str) -> NoReturn:
        write_lines(sys.stderr, *refusal_lines(message.removeprefix("argument "), self.prog), tones=ERROR_TONES)
        raise SystemExit(2)

    def format_help(self) -> str:
        return self.format_whole_help() if self.common is None else self._format_common_help(self.common)

    def format_whole_help(self) -> str:
        return super().format_help()

    def _format_common_help(self, common: CommonOptions) -> str:
        actions = self._option_string_actions
        formatter = self.formatter_class(prog=self.prog)
        formatter.add_usage(f"%(prog)s {common.usage}", (), ())
        formatter.add_text((self.description or "").partition("\n")[0])
        formatter.start_section("common options")
        formatter.add_arguments([actions[flag] for flag in common.flags])
        formatter.end_section()
        formatter.start_section("examples")
        formatter.add_text(
            "\n".join(f"{purpose}:\n  {self.prog} {arguments}" for purpose, arguments in common.examples)
        )
        formatter.end_section()
        count = len({id(action) for flag, action in actions.items() if flag.startswith("--")})
        formatter.add_text(f"all {count} options, input and exit codes: {self.prog} --help-all")
        return formatter.format_help()


class _HelpAll(argparse.Action):
    def __init__(self, option_strings: Sequence[str], **given: Any) -> None:
        super().__init__(option_strings, **(given | {"dest": argparse.SUPPRESS, "nargs": 0}))

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        assert isinstance(parser, CommandParser)
        write_lines(sys.stdout, *parser.format_whole_help().splitlines())
        raise SystemExit(0)


def refusal_lines(message: str, prog: str) -> list[str]:
    return [f"error: {message}", f"see: {prog} --help"]
