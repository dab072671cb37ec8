"""``--help`` shows the common options with examples that work; ``--help-all`` shows every option."""

from __future__ import annotations

import importlib
import shlex

import pytest

from rebalance_advisor.cli.main import COMMANDS, main
from rebalance_advisor.cli.parser import CommandParser

MOST_OPTIONS, EXAMPLES = 12, 4


def parser_of(command: str) -> CommandParser:
    module = importlib.import_module(COMMANDS[command][0])
    parser = CommandParser(prog=f"rebalance-advisor {command}", common=getattr(module, "COMMON", None))
    module.add_arguments(parser)
    return parser


def flags_of(parser: CommandParser) -> list[str]:
    """Return the options that a command has of its own."""
    return [flag for flag in parser._option_string_actions if flag.startswith("--") and not flag.startswith("--help")]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_twelve_options_at_most(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    shown = capsys.readouterr().out
    listed = [line.split()[0] for line in shown.splitlines() if line.startswith("  --")]
    assert end.value.code == 0
    assert 0 <= len(listed) <= MOST_OPTIONS
    parser = parser_of(command)
    if len(flags_of(parser)) <= MOST_OPTIONS:
        assert parser.common is None
        assert sorted(listed) == sorted(flags_of(parser))
        return
    assert parser.common is not None
    assert listed == list(parser.common.flags)
    assert len(parser.common.examples) == EXAMPLES
    assert f"rebalance-advisor {command} --help-all" in shown


@pytest.mark.parametrize("command", ["plan", "advise", "keys"])
def test_help_all_shows_every_option_and_the_exit_codes(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--help-all"])
    shown, parser = capsys.readouterr().out, parser_of(command)
    assert end.value.code == 0
    assert [flag for flag in flags_of(parser) if f"\n  {flag}" not in shown] == []
    assert (parser.description or "") == ""  # added by main, which shows all of it
    assert str(importlib.import_module(COMMANDS[command][0]).__doc__).splitlines()[-1] in shown


@pytest.mark.parametrize("command", ["plan", "advise", "keys"])
def test_examples_of_help_are_command_lines_that_can_be_typed(command: str) -> None:
    parser = parser_of(command)
    assert parser.common is not None
    for _, arguments in parser.common.examples:
        parser.parse_args(shlex.split(arguments))


def test_an_option_that_may_be_repeated_says_so() -> None:
    text = parser_of("plan").format_whole_help()
    assert "move every replica and leader off it; repeatable" in " ".join(text.split())
    assert "…" not in text


def test_an_amount_has_its_unit_in_the_default() -> None:
    assert "e.g. 50MiB (default: 50.0 MiB)" in " ".join(parser_of("plan").format_help().split())
