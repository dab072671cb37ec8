from __future__ import annotations

import argparse
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.plan_options import PLAN_OPTIONS, PlanOptions
from kafka_rebalance.options.values import nearest
from rebalance_advisor.cli.arguments import add_plan_options, request_of
from rebalance_advisor.request.options_page import options_page
from rebalance_advisor.request.run_request import OPTIONS, RUN_OPTIONS, RunRequest, require_known
from tests.sample import for_each
from tests.unit.request.option_sets import OPTION_SETS


def parsed(arguments: str) -> RunRequest:
    parser = argparse.ArgumentParser()
    add_plan_options(parser)
    return request_of(parser.parse_args(arguments.split()))


def test_the_table_fills_every_field_of_the_options_once() -> None:
    assert sorted(option.field for option in PLAN_OPTIONS) == sorted(field.name for field in fields(PlanOptions))
    assert {option.field for option in RUN_OPTIONS} == {field.name for field in fields(RunRequest)} - {"options"}


def test_the_shell_has_every_option_but_what_its_input_says() -> None:
    parser = argparse.ArgumentParser()
    add_plan_options(parser)
    flags = {flag for action in parser._actions for flag in action.option_strings if flag.startswith("--")}
    assert flags - {"--help", "--previous", "--history"} == {
        option.flag for option in OPTIONS if option.name not in ("cluster", "snapshot", "age_limit")
    }


@for_each("name", OPTION_SETS)
def test_shell_and_form_ask_for_the_same(name: str) -> None:
    arguments, form = OPTION_SETS[name]
    assert parsed(arguments) == RunRequest.from_mapping(form)


def test_the_sets_of_options_leave_no_option_out() -> None:
    given = {key for _, form in OPTION_SETS.values() for key in form}
    assert given == {option.name for option in OPTIONS} - {
        "cluster",
        "snapshot",
        "age_limit",
        "capacity",
        "at",  # most of these sets order a band, which a point of the frontier has already
        "also_balance",  # these sets' input has no rates
        "survive",  # takes capacities, which a shell reads from a file
        "owners",
        "mutes",
        "clients",
        "heavy_keys",
        "scenario",
    }


def test_an_unknown_name_is_told_with_the_nearest_known_one() -> None:
    known = [option.name for option in OPTIONS]
    with pytest.raises(UsageError, match=r"'remove_brokers': is no option; did you mean remove_broker\?"):
        require_known(["seed", "remove_brokers"], known)
    assert nearest("zzz", ["a", "b"]) == "known: a, b"


def test_the_table_loads_without_numpy_for_dag_files_read_it_all_the_time() -> None:
    script = "import sys, rebalance_advisor.request.run_request; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_the_page_of_options_is_made_of_the_table() -> None:
    assert (Path(__file__).parents[3] / "docs" / "options.md").read_text() == options_page()
