from __future__ import annotations

import argparse

import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.values import Target
from rebalance_advisor.cli import advise, check, plan
from rebalance_advisor.cli.arguments import add_input_options
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.input_bytes import MAX_INPUT_BYTES


def test_values_that_cannot_be_are_refused_by_name() -> None:
    PlanOptions()
    for wrong in ({"within": 1.0}, {"max_moves": -1}, {"leaders_only": 1}, {"targets": {"tape": Target(0.9, 1.1)}},
                  {"remove_brokers": frozenset({-1})}, {"include_topics": ("(",)}):  # fmt: skip
        with pytest.raises(UsageError):
            PlanOptions(**wrong)


@pytest.mark.parametrize("command", [plan, advise])
def test_a_commands_defaults(command) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    read = parser.parse_args(["in.json", "--out", "folder"])
    (given,) = read.inputs if "inputs" in read else [read.input]
    assert (str(given), str(read.out), read.json, read.max_input_bytes) == (
        "in.json",
        "folder",
        False,
        MAX_INPUT_BYTES,
    )


def test_check_words_have_the_exit_codes_of_the_judgements() -> None:
    assert check.WORDS == {0: "valid", 10: "stale", 11: "not worth it", 12: "harmful or in conflict"}
    parser = argparse.ArgumentParser()
    add_input_options(parser)
    assert parser.parse_args(["--max-input-bytes", "1GiB"]).max_input_bytes == 2**30


def test_progress_is_silent_in_the_first_second(capsys: pytest.CaptureFixture[str]) -> None:
    said = Progress()
    said("reading")
    assert capsys.readouterr().err == ""
    said._started -= 5
    said("planning")
    assert "planning" in capsys.readouterr().err
