"""The demo cluster looks like a real one, is the same for the same seed, and is read without a gap."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kafka_rebalance.snapshot.load import LoadKind, LoadSource
from rebalance_advisor.dumps import read_input
from stack.demo.cluster import write_demo_cluster
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
    assert 140 <= len(snapshot.topics) <= 160
    assert 2800 <= len(snapshot.partitions) <= 3300
    assert len(snapshot.groups) == 40
    assert {group.protocol for group in snapshot.groups} >= {"range", "roundrobin", "sticky", "uniform"}


def test_it_is_read_without_a_gap_and_its_rates_are_measured(snapshot):
    assert snapshot.coverage == ()
    for kind in (LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S, LoadKind.IN_MESSAGES_PER_S):
        column = snapshot.loads.column(kind)
        assert column.known_share == 1
        assert column.window_s == 3600
        assert column.source in (LoadSource.LOG_DIR_GROWTH, LoadSource.OFFSETS_TIMES_MESSAGE_SIZE)


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
    assert len(snapshot.groups) == 40
    assert snapshot.coverage == ()


def test_without_the_dumps_of_start_offsets_rates_are_unknown_and_said_never_zero(demo, snapshot, tmp_path):
    folder = tmp_path / "demo"
    shutil.copytree(demo, folder, ignore=shutil.ignore_patterns("*earliest*"))
    read = read_input(folder)
    rates, true_rates = (reading.load(LoadKind.IN_BYTES_PER_S) for reading in (read, snapshot))
    known = ~np.isnan(rates)
    assert 0 < known.sum() < len(rates)
    assert (rates[known] > 0).all()
    assert (rates[known] <= true_rates[known] * 1.001).all()
    gap = next(gap for gap in read.coverage if gap.what == "rates")
    assert f"{(~known).sum():,} have no rate" in gap.reason
    assert "start offsets" in {gap.what for gap in read.coverage}
