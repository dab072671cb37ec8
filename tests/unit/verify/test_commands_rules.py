"""``commands.md`` of a plan of one move: right as it is written, and each change that would mislead is a fault."""

from __future__ import annotations

import json

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.builder import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.verify.files.commands_file import check_commands
from rebalance_advisor.publish.commands import render_commands
from tests.unit.plans.hand_plans import SNAPSHOT
from tests.unit.verify.hand_claims import faults_of

PLAN = make_plan(SNAPSHOT, PlanOptions(within=0.2, with_frontier=False))
DOCUMENT = json.loads(json.dumps(to_document(PLAN)))
TEXT = render_commands(PLAN, 2)


def test_the_commands_as_they_are_written_are_right() -> None:
    assert faults_of(check_commands, DOCUMENT, TEXT.encode()) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("--throttle ", "--throttle 1"), ("waves/01.json", "waves/02.json"), ("--execute", "--verify"),
        ("## Wave", "## Waves"), (PLAN.plan_id[:12], "000000000000"), ("```sh\n", "```sh\nrm -rf data\n"),
    ],
)  # fmt: skip
def test_what_would_mislead_is_a_fault(old: str, new: str) -> None:
    assert old in TEXT
    assert faults_of(check_commands, DOCUMENT, TEXT.replace(old, new, 1).encode()) == ["commands"]


def test_bytes_that_are_no_text_are_a_fault() -> None:
    assert faults_of(check_commands, DOCUMENT, b"\xff") == ["commands"]
