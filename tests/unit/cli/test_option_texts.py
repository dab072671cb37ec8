"""Values as people type them, and the small parts of the shell command."""

from __future__ import annotations

import argparse

import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.options.target import Target
from kafka_rebalance.options.value_ranges import MOST_BROKER_ID, MOST_FACTOR, MOST_WHOLE, require_values
from rebalance_advisor.cli import advise, check, plan
from rebalance_advisor.cli.input_arguments import add_input_options
from rebalance_advisor.cli.progress import Progress
from rebalance_advisor.input_bytes import MAX_INPUT_BYTES
from rebalance_advisor.option_texts import (
    amount,
    broker_id,
    cap,
    count,
    factor,
    new_broker,
    once,
    pattern,
    rate,
    share,
    target,
)
from tests.sample import for_each


def test_shares_amounts_and_counts() -> None:
    assert (share("10%"), share("0.1"), share("0")) == (0.1, 0.1, 0.0)
    assert (amount("500GB"), amount("512MiB"), amount("1.5k"), amount("7B")) == (500 * 10**9, 512 * 2**20, 1500, 7)
    assert (rate("1MB/s"), count("0"), broker_id("7"), factor("3")) == (10**6, 0, 7, 3)
    assert target("disk=1.1") == ("disk", Target(None, 1.1))
    assert target("out=0.9..1.2") == ("out", Target(0.9, 1.2))
    assert (new_broker("13:rack-a"), new_broker("13")) == ((13, "rack-a"), (13, None))
    assert pattern("a.*") == "a.*"


def test_amounts_below_a_mebibyte_ask_for_their_unit() -> None:
    """The answer names what the number would be, and what is meant."""
    with pytest.raises(argparse.ArgumentTypeError, match=r"^'50' would be 50 bytes: give its unit, 50MB or 50MiB"):
        rate("50")
    assert (amount("0"), amount(str(2**20)), rate("50B/s"), rate("50kB")) == (0, 2**20, 50, 50_000)
    assert (cap("disk=50B"), cap("out=0.5B"), cap("replicas=5")) == (("disk", 50), ("out", 0.5), ("replicas", 5))


@for_each("read, text", [
        (share, "100%"), (share, "-1%"), (share, "nan"), (share, "x"), (amount, "5 apples"), (amount, "9" * 30),
        (amount, "50"), (rate, "50"), (rate, "50/s"), (rate, str(2**20 - 1)), (amount, "0.9"), (cap, "disk=50"),
        (cap, "out=0.5"),
        (rate, "0"), (count, "-1"), (count, str(MOST_WHOLE + 1)), (broker_id, str(MOST_BROKER_ID + 1)), (factor, "0"),
        (factor, str(MOST_FACTOR + 1)), (target, "tape=1"), (target, "disk="), (target, "disk=2..1"),
        (target, "disk=0"), (new_broker, "x:a"), (new_broker, "1:"), (pattern, "("),
    ])  # fmt: skip
def test_what_is_no_value_is_refused_with_what_to_give(read, text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        read(text)


def test_the_same_name_may_be_given_twice_with_one_value() -> None:
    assert once("--target", [("disk", 1), ("disk", 1), ("in", 2)]) == {"disk": 1, "in": 2}
    with pytest.raises(UsageError, match="--target disk"):
        once("--target", [("disk", 1), ("disk", 2)])


def test_values_that_cannot_be_are_refused_by_name() -> None:
    require_values(PlanOptions())
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
