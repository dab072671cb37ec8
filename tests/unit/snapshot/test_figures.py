from __future__ import annotations

import subprocess
import sys

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.snapshot import figures
from kafka_rebalance.snapshot.figures import LoadKind, LoadSource
from kafka_rebalance.snapshot.model import ClusterSnapshot
from tests.unit.planner.sample_clusters import brokers, cluster, row


def measured(kind: LoadKind, value: float) -> ClusterSnapshot:
    return cluster([row("t", 0, (0, 1))], brokers(2), rates={kind: [value]})


def test_sizes_rates_and_percents_end_where_their_kind_does() -> None:
    assert LoadKind.LOG_BYTES.largest == figures.LARGEST_BYTES
    assert LoadKind.CPU_PERCENT.largest == figures.LARGEST_CPU_PERCENT
    rates = (LoadKind.IN_BYTES_PER_S, LoadKind.OUT_BYTES_PER_S, LoadKind.IN_MESSAGES_PER_S)
    assert {kind.largest for kind in rates} == {figures.LARGEST_RATE}


@pytest.mark.parametrize("kind", [kind for kind in LoadKind if kind is not LoadKind.LOG_BYTES])
def test_a_figure_above_the_largest_is_refused_by_name(kind: LoadKind) -> None:
    assert measured(kind, kind.largest).loads.values(kind, 1).tolist() == [kind.largest]
    with pytest.raises(InvalidInputError, match=kind.value):
        measured(kind, kind.largest * 1.01)


def test_sources_stand_best_first() -> None:
    first, *_, last = LoadSource
    assert (first, last) == (LoadSource.LOG_DIRS, LoadSource.UNKNOWN)


@pytest.mark.parametrize("module", ["kafka_rebalance.snapshot.figures", "kafka_rebalance.options.values"])
def test_the_names_load_without_numpy(module: str) -> None:
    code = f"import sys, {module}; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
