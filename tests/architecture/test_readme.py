"""The README's snippets run, and its commands and folders are there (its make targets are run by .ci/run)."""

import re
from pathlib import Path

import numpy as np
import pytest

from kafka_rebalance.groups.group_input import group_inputs
from kafka_rebalance.groups.group_replay import replay_group
from kafka_rebalance.partitioners import registry as partitioners
from kafka_rebalance.partitioners.contract import RecordSample, TopicTarget
from kafka_rebalance.partitioners.key_column import KeyColumn
from kafka_rebalance.partitioners.key_scores import partition_load
from kafka_rebalance.snapshot.model import (
    Broker,
    ClusterSnapshot,
    Group,
    Member,
    Partition,
    Topic,
    partition_table,
)
from rebalance_advisor.cli.main import COMMANDS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def test_ones_own_strategy_is_replayed_and_scored_on_a_group() -> None:
    exec(compile(SNIPPETS[0], "README.md", "exec"), {})
    rows = [Partition("t", p, (1,), 1) for p in range(4)]
    members = tuple(
        Member(name, subscription=("t",), user_data=data, assigned=(("t", mine),))
        for name, data, mine in (("a", b'{"weight": 1}', (0, 1, 2, 3)), ("b", b'{"weight": 9}', ()))
    )
    snapshot = ClusterSnapshot(
        "c", (Broker(1),), (Topic("t"),), partition_table(rows, {"t": 0}), (Group("g", members=members),)
    )
    (group_input,) = group_inputs(snapshot)
    replay = replay_group(group_input, strategies=("heaviest-first",))
    score = replay.score("heaviest-first")
    assert score is not None
    assert (score.error, score.idle_members, score.partitions_moved) == (None, 0, 2)


def test_ones_own_partitioner_is_scored_on_a_sample_of_keys() -> None:
    exec(compile(SNIPPETS[1], "README.md", "exec"), {})
    keys = [b"\x00", b"\x01", b"\x04", None]
    sample = RecordSample.of_keys(KeyColumn.of(keys))
    load = partition_load(sample, TopicTarget(4), partitioners.by_name("by-first-byte"))
    assert np.array_equal(load.records, [3, 1, 0, 0])


@pytest.mark.parametrize("command", re.findall(r"^rebalance-advisor (\w+)", README, re.MULTILINE))
def test_a_command_of_the_readme_exists(command: str) -> None:
    assert command in COMMANDS


@pytest.mark.parametrize("folder", re.findall(r"^\| `([\w/]+/)`", README, re.MULTILINE))
def test_a_folder_of_the_readme_exists(folder: str) -> None:
    assert (ROOT / folder).is_dir()


def test_make_targets_of_the_readme_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)", README)) - {"alone"} <= targets
