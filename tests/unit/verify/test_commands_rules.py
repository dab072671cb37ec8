"""``commands.md`` of a plan of one move: right as it is written, and each change that would mislead is a fault."""

from __future__ import annotations

import json

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from kafka_rebalance.plans.plan import to_document
from kafka_rebalance.verify.files.commands_file import check_commands
from rebalance_advisor.publish.commands import render_commands
from tests.sample import for_each
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


@for_each("old, new", [
        ("1 replicas are copied", "2 replicas are copied"), ("copied (3.7 GiB)", "copied (3.6 GiB)"),
        ("2 leaders change", "1 leaders change"), ("in 2 waves", "in 3 waves"), ("together 1 min", "together 3 min"),
        ("brokers 0, 1, 2 are alive", "brokers 0, 1 are alive"), ("- kept replicas", "kept replicas"),
        ("\n1 partitions, 0 B", "\n2 partitions, 0 B"), ("\n1 partitions, 0 B", "\n1 partitions, 7 B"),
        ("0 B, 0 s;", "0 B, 9 s;"), ("0 B, 0 s;", "0 B, 0 s; free disk needed on a broker at most 1 B;"),
        ("0 s; 1 leaders change", "0 s; 2 leaders change"),
        ("0 s; 1 leaders change, and with them their clients", "0 s"),
        ("at most 3.7 GiB", "at most 3.6 GiB"), ("; free disk needed on a broker at most 3.7 GiB", ""),
        ("1 replicas (3.7", "2 replicas (3.7"), ("replicas (3.7 GiB), 1 min. B", "replicas (3.6 GiB), 1 min. B"),
        ("replicas (3.7 GiB), 1 min. B", "replicas (3.7 GiB), 3 min. B"),
        ("Takes back", "1 of them are not undone.\n\nTakes back"), ("\n## Wave 02", "\n## Wave 2"),
        ("# Rollback\n", "## Rollback\n"), ("CONFIG=  ", "OTHER=  "), ("BOOTSTRAP=broker:9092\n", ""),
        ("BOOTSTRAP=broker:9092\n", "BOOTSTRAP=broker:9092; rm -rf data\n"),
        ("--execute --throttle", "--execute ' --throttle"),
        ("\n    --election-type preferred", "\n    --election-type unclean"),
        ("rollback/01.json --verify", "rollback/01.json"),
        ("# Commands", "Read this first.\n\n# Commands"), ("# Rollback", "# Rollback\n\n    rm -rf data"),
        ("--cancel", "--execute"), ("waves/01.json --cancel", "rollback/01.json --cancel"),
        ("--list", "--list --additional"), ("--entity-name $TOPIC", "--entity-name orders"),
        ("# Throttles\n", "# Throttles\n\n    rm -rf data\n"), ("# Throttles\n", "# More\n"),
        ("# Rollback", "# Rollback\n\n```sh\n# nothing\n"), ("```sh\nBOOT", "~~~sh\necho\n~~~\n```sh\nBOOT"),
    ])  # fmt: skip
def test_figures_and_commands_a_little_off_are_faults(old: str, new: str) -> None:
    assert old in TEXT
    assert faults_of(check_commands, DOCUMENT, TEXT.replace(old, new, 1).encode()) == ["commands"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The commands are Kafka's own", "These are commands of Kafka's own"),
        ("# until it says", "   # wait until it says"), (" \\\n    --reassignment", " --reassignment"),
        ("CONFIG=  ", 'CONFIG="--command-config client.properties"  '), ("kept replicas", "kept&#32;replicas"),
        ("brokers 0, 1, 2", "brokers 0\\, 1\\, 2"), ("0 B, 0 s;", "0 B, 0 s;"), ("```sh", "```bash"),
    ],
)  # fmt: skip
def test_prose_and_settings_may_be_written_otherwise(old: str, new: str) -> None:
    assert old in TEXT
    assert faults_of(check_commands, DOCUMENT, TEXT.replace(old, new, 1).encode()) == []


def test_a_folder_from_before_there_was_a_section_about_throttles_is_right_as_it_was() -> None:
    older = TEXT[: TEXT.index("# Throttles")]
    while "\nTo stop it:" in older:
        first = older.index("\nTo stop it:")
        older = older[:first] + older[older.index("--cancel\n```\n", first) + len("--cancel\n```\n") :]
    assert "cancel" not in older
    assert faults_of(check_commands, DOCUMENT, older.encode()) == []
    assert faults_of(check_commands, DOCUMENT, TEXT[: TEXT.index("# Throttles")].encode()) == ["commands"]


def test_moves_that_are_not_undone_are_told_with_their_number() -> None:
    lost = DOCUMENT | {"rollback": DOCUMENT["rollback"] | {"not_undone": [0, 1]}}
    told = TEXT.replace("Takes back", "2 moves are not undone: broker 0 is gone.\n\nTakes back")
    assert faults_of(check_commands, lost, told.encode()) == []
    assert faults_of(check_commands, lost, TEXT.encode()) == ["commands"]
    assert faults_of(check_commands, lost, told.replace("2 moves", "3 moves").encode()) == ["commands"]


def test_where_nothing_moves_no_command_is_told() -> None:
    idle = DOCUMENT | {"moves": [], "waves": [], "rollback": None, "verdict": "nothing_to_do"}
    head = f"# Plan {DOCUMENT['plan_id']}\n"
    for text, codes in (
        (f"{head}\nnothing_to_do: all is well\n", []), (f"{head}\nall is well\n", ["commands"]),
        (f"{head}\nnothing_to_do\n\n    ls\n", ["commands"]), ("# Plan x\n\nnothing_to_do\n", ["commands"]),
        (f"{head}\nnothing_to_do\n\n## More\n", ["commands"]), ("nothing_to_do", ["commands"]),
    ):  # fmt: skip
        assert faults_of(check_commands, idle, text.encode()) == codes
