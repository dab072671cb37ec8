from __future__ import annotations

import json

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.verify.files import check_shell_blocks
from rebalance_advisor.publish.plan_files import render_commands
from tests.sample import for_each
from tests.unit.plans.hand_plans import SNAPSHOT
from tests.unit.verify.hand_claims import faults_of

PLAN = make_plan(SNAPSHOT, PlanOptions(within=0.2, with_frontier=False))
DOCUMENT = json.loads(json.dumps(to_document(PLAN)))
TEXT = render_commands(PLAN)


def test_the_commands_as_they_are_written_are_right() -> None:
    assert faults_of(check_shell_blocks, DOCUMENT, TEXT.encode()) == []


@for_each("old, new", [
        ("--throttle ", "--throttle 1"), ("waves/01.json", "waves/02.json"), ("--execute", "--verify"),
        ("```sh\n", "```sh\nrm -rf data\n"), ("BOOTSTRAP=broker:9092\n", ""), ("CONFIG=  ", "OTHER=  "),
        ("BOOTSTRAP=broker:9092\n", "BOOTSTRAP=broker:9092; rm -rf data\n"),
        ("BOOTSTRAP=broker:9092\n", "BOOTSTRAP=$(reboot)\n"), ("BOOTSTRAP=broker:9092\n", "BOOTSTRAP=`reboot`\n"),
        ("CONFIG=  ", 'CONFIG="x$(reboot)"  '), ("CONFIG=  ", "CONFIG=a b  "),
        ("CONFIG=  ", 'CONFIG="$A"  '), ("CONFIG=  ", 'CONFIG="A$"  '),
        ("--execute --throttle", "--execute ' --throttle"),
        ("\n    --election-type preferred", "\n    --election-type unclean"),
        ("rollback/01.json --verify", "rollback/01.json"), ("# Rollback", "# Rollback\n\n    rm -rf data"),
        ("--cancel", "--execute"), ("waves/01.json --cancel", "rollback/01.json --cancel"),
        ("--list", "--list --additional"), ("--entity-name $TOPIC", "--entity-name orders"),
        ("# Throttles\n", "# Throttles\n\n    rm -rf data\n"), ("```sh\nBOOT", "~~~sh\necho\n~~~\n```sh\nBOOT"),
    ])  # fmt: skip
def test_what_would_mislead_is_a_fault(old: str, new: str) -> None:
    assert old in TEXT
    assert faults_of(check_shell_blocks, DOCUMENT, TEXT.replace(old, new, 1).encode()) == ["commands"]


def test_bytes_that_are_no_text_are_a_fault() -> None:
    assert faults_of(check_shell_blocks, DOCUMENT, b"\xff") == ["commands"]


@for_each("old, new", [
        ("The commands are Kafka's own", "These are commands of Kafka's own"), ("## Wave", "## Part"),
        ("# run it again", "   # wait, then run it again"), (" \\\n    --reassignment", " --reassignment"),
        ("CONFIG=  ", 'CONFIG="--command-config client.properties"  '), ("CONFIG=  ", 'CONFIG=""  '),
        ("```sh", "```bash"), ("Copies 1 replica ", "One replica is copied "),
    ])  # fmt: skip
def test_words_and_settings_are_free(old: str, new: str) -> None:
    assert old in TEXT
    assert faults_of(check_shell_blocks, DOCUMENT, TEXT.replace(old, new, 1).encode()) == []


def test_where_nothing_moves_there_is_no_command() -> None:
    idle = DOCUMENT | {"moves": [], "waves": [], "rollback": None, "verdict": "nothing_to_do"}
    for text, codes in (("all is well\n", []), ("all is well\n\n    ls\n", ["commands"])):
        assert faults_of(check_shell_blocks, idle, text.encode()) == codes
