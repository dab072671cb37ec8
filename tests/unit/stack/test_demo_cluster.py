from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kafka_rebalance.facts import FactCode
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import GroupType
from rebalance_advisor.dumps import read_input
from stack.demo.cluster import write_demo_cluster
from stack.demo.planted_groups import PLANTED_RATES, SHARE_GROUP
from tests.sample import sample

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return write_demo_cluster(tmp_path_factory.mktemp("demo") / "demo")


@pytest.fixture(scope="module")
def snapshot(demo):
    return read_input(demo)


def digest(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return [(path.relative_to(folder).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()) for path in files]


def test_the_same_seed_writes_the_same_bytes_whatever_python_hashes(demo, tmp_path):
    folder = tmp_path / "again"
    subprocess.run(
        [sys.executable, "-m", "stack.demo.cluster", str(folder)],
        check=True, cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": "1"}, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    assert digest(folder) == digest(demo)
    assert digest(write_demo_cluster(tmp_path / "other", seed=7)) != digest(demo)


def test_wrong_usage_ends_with_2(tmp_path):
    done = subprocess.run([sys.executable, "-m", "stack.demo.cluster"], check=False, cwd=ROOT, capture_output=True)
    assert done.returncode == 2
    assert b"usage" in done.stderr


def test_it_has_the_size_that_was_asked_for(snapshot):
    assert len(snapshot.brokers) == 12
    assert len({broker.rack for broker in snapshot.brokers}) == 3
    assert 140 <= len(snapshot.topics) <= 170
    assert 2800 <= len(snapshot.partitions) <= 3400
    assert len(snapshot.groups) == 49
    assert {group.protocol for group in snapshot.groups} >= {"range", "roundrobin", "sticky", "uniform"}


def test_it_is_read_whole_and_its_rates_are_measured(snapshot):
    """A share group commits nothing: the read rates of its three partitions are the only unknown ones."""
    assert [gap.subject for gap in snapshot.coverage] == [SHARE_GROUP]
    for kind in (LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S, LoadKind.IN_MESSAGES_PER_S):
        column = snapshot.loads.column(kind)
        unknown = 3 if kind is LoadKind.OUT_BYTES_PER_S else 0
        assert np.isnan(column.values).sum() == unknown
        assert column.window_s == 3600
        assert column.source in (LoadSource.LOG_DIR_GROWTH, LoadSource.OFFSETS_TIMES_MESSAGE_SIZE)


def test_groups_of_every_protocol_are_read_as_they_were_printed(snapshot):
    groups = {group.id: group for group in snapshot.groups}
    assert (groups["courier-dispatch"].type, groups["badge-sync"].type) == (GroupType.SHARE, GroupType.CONSUMER)
    assert [member.generation for member in groups["courier-dispatch"].members] == [9] * 5
    assert {commit.lag for commit in groups["courier-dispatch"].committed} == {2 * 3600 * 4}  # two hours of 4 a second
    migrating = groups["search-indexer"]
    assert [member.is_classic for member in migrating.members] == [False] * 4 + [True] * 2
    assert {member.is_classic for member in groups["badge-sync"].members} == {None}


def test_planted_rates_are_measured_to_the_message(snapshot):
    messages = snapshot.load(LoadKind.IN_MESSAGES_PER_S)
    for topic, rates in PLANTED_RATES.items():
        rows = [snapshot.row_of[topic, number] for number in range(len(rates))]
        assert messages[rows].tolist() == list(rates)


def test_few_partitions_carry_most(snapshot):
    sizes = np.sort(snapshot.load(LoadKind.LOG_BYTES))[::-1]
    tenth = len(sizes) // 10
    assert sizes[:tenth].sum() > 0.5 * sizes.sum()
    assert sizes[len(sizes) // 2 :].sum() < 0.05 * sizes.sum()


def test_the_time_of_the_later_reading_can_be_given(tmp_path):
    folder = write_demo_cluster(tmp_path, captured_at="2027-01-31T12:00:00+01:00")
    assert (folder / "later" / "captured_at").read_text() == "2027-01-31T12:00:00+01:00\n"
    assert (folder / "earlier" / "captured_at").read_text() == "2027-01-31T11:00:00+01:00\n"


@pytest.mark.parametrize("seed", sample([1, 2, 3], (1,)))
def test_any_seed_gives_a_cluster_that_can_be_read(tmp_path, seed):
    snapshot = read_input(write_demo_cluster(tmp_path, seed=seed))
    assert len(snapshot.groups) == 49
    assert [gap.subject for gap in snapshot.coverage] == [SHARE_GROUP]


def test_without_the_dumps_of_start_offsets_rates_are_unknown_and_said_never_zero(demo, snapshot, tmp_path):
    folder = tmp_path / "demo"
    shutil.copytree(demo, folder, ignore=shutil.ignore_patterns("*earliest*"))
    read = read_input(folder)
    rates, true_rates = (reading.load(LoadKind.IN_BYTES_PER_S) for reading in (read, snapshot))
    known = ~np.isnan(rates)
    assert 0 < known.sum() < len(rates)
    assert (rates[known] > 0).all()
    assert (rates[known] <= true_rates[known] * 1.001).all()
    gap = next(gap for gap in read.coverage if gap.lacks(FactCode.LACKS_RATES))
    assert gap.reason.args["without_rate"] == (~known).sum()
    assert any(gap.lacks(FactCode.LACKS_START_OFFSETS) for gap in read.coverage)
