"""The DAG's task ``publish`` on a real Postgres, struck at its file operations: a published run's files are whole."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from kafka_rebalance.advisory.advise import AdviceRequest, advise
from kafka_rebalance.options.plan_options import PlanOptions
from rebalance_advisor import store
from rebalance_advisor.airflow.publishing import FolderTarget, publish_folder, publish_run
from rebalance_advisor.publish.advisory_files import advisory_files
from rebalance_advisor.run_advice import save_advice
from tests.unit.planner.sample_clusters import brokers, cluster, row
from tests.unit.publish.file_moments import Strike, Striker, content_of, end_of

pytestmark = pytest.mark.stack

STEP = 9


@pytest.fixture
def snapshot(connection):
    made = cluster([row("t", partition, [0, 1]) for partition in range(12)], brokers(4))
    snapshot_id = store.save_snapshot(connection, made)
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    return store.load_snapshot(connection, snapshot_id)


def start(connection, snapshot, advice, run_id: str) -> None:
    snapshot_id = advice.plan.snapshot_id
    store.start_run(connection, run_id=run_id, cluster="test", snapshot_id=snapshot_id, parameters={}, seed=0)
    save_advice(connection, run_id, advice)


def publish(dsn: str, run_id: str, folder: Path, _striker: Striker) -> None:
    publish_run(dsn, run_id=run_id, cluster="test", target=FolderTarget(folder, run_id))


@pytest.mark.parametrize("strike", [Strike.KILL, Strike.KILL_WITHIN, Strike.FULL])
def test_where_readers_see_a_run_its_files_are_whole(connection, dsn, snapshot, tmp_path: Path, strike) -> None:
    wide, narrow = (PlanOptions(within=band, moves_per_broker=4, with_frontier=False) for band in (0.6, 0.1))
    earlier, advice = (advise(snapshot, AdviceRequest(options)) for options in (wide, narrow))
    for run_id in ("first", "new"):  # from the second on, all findings persist
        start(connection, snapshot, advice, run_id)
        publish(dsn, run_id, tmp_path / run_id, Striker())
    start(connection, snapshot, advice, "count")
    earlier_files = advisory_files(earlier.document(), earlier.plan)
    FolderTarget(tmp_path / "count", "count").write(earlier_files, earlier.plan.plan_id)
    old, new = content_of(tmp_path / "count"), content_of(tmp_path / "new")
    operations = end_of(partial(publish, dsn, "count", tmp_path / "count"), Striker()).seen
    assert len(operations) > 50
    for moment in range(1, len(operations) + 1, STEP):
        if strike is Strike.KILL_WITHIN and operations[moment - 1] != "write":
            continue
        run_id = f"run-{moment}"
        folder = tmp_path / run_id
        start(connection, snapshot, advice, run_id)
        FolderTarget(folder, run_id).write(earlier_files, earlier.plan.plan_id)
        end_of(partial(publish, dsn, run_id, folder), Striker(moment, strike))
        is_published = store.load_run(connection, run_id).status == "published"
        assert content_of(folder) in ([new] if is_published else [old, new])
        publish(dsn, run_id, folder, Striker())
        assert store.load_run(connection, run_id).status == "published"
        assert content_of(folder) == new
        # An old advisory that could not be removed is told of and is no reason to fail; such a run is not tried again.
        assert is_published or not list(tmp_path.glob(f".{run_id}*"))


def test_names_lead_to_no_other_place(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("ADVISOR_PUBLISH_DIR", str(tmp_path))
    for name in ("..", ".", "../../etc", ".hidden", "a/b"):
        folder = publish_folder(name, name)
        assert folder.parent.parent == tmp_path
        assert not folder.name.startswith(".")
        assert not folder.parent.name.startswith(".")
