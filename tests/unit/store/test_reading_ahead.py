from __future__ import annotations

import threading

import pytest

from kafka_rebalance.scoring import snapshot_scores
from kafka_rebalance.scoring.snapshot_scores import score_cluster
from kafka_rebalance.snapshot import codec
from rebalance_advisor.store import snapshot_save as module
from rebalance_advisor.store.rows.snapshot_rows import TABLES
from rebalance_advisor.store.snapshot_save import reading_ahead
from stack.waiting import PATIENCE_S, wait_for
from tests.sql.sample_clusters import plain_snapshot


def test_it_has_every_tables_columns_the_id_the_scores_and_the_history() -> None:
    snapshot = plain_snapshot()
    with reading_ahead(snapshot) as ahead:
        assert list(ahead.columns) == [*TABLES, "committed_offset", "group_lag"]
        results = {table: made.result() for table, made in ahead.columns.items()}
        assert ahead.snapshot_id.result() == codec.snapshot_id(snapshot)
        assert ahead.scores.result() == score_cluster(snapshot)
        history = ahead.history.result()
    assert history is not None
    assert (history.until, history.windows["in_bytes_per_s"]) == (snapshot.captured_at, 3600.0)
    assert [str(cell) for cell in results["group_lag"]["lag_messages"]] == ["30"]
    assert [str(cell) for cell in results["committed_offset"]["topic"]] == ["orders"]


def test_another_thread_makes_it_and_is_gone_with_the_block(monkeypatch) -> None:
    makers: list[threading.Thread] = []
    monkeypatch.setattr(snapshot_scores, "score_cluster", lambda _: makers.append(threading.current_thread()))
    with reading_ahead(plain_snapshot()) as ahead:
        ahead.scores.result()
    (maker,) = makers
    assert maker is not threading.current_thread()
    assert not maker.is_alive()


def test_what_fails_is_raised_where_it_is_asked_for(monkeypatch) -> None:
    def fail(_: object) -> str:
        raise ValueError("no id")

    monkeypatch.setattr(module, "snapshot_id", fail)
    with reading_ahead(plain_snapshot()) as ahead:
        assert ahead.scores.result() is not None
        with pytest.raises(ValueError, match="no id"):
            ahead.snapshot_id.result()


def test_what_has_not_begun_by_the_end_of_the_block_is_given_up(monkeypatch) -> None:
    """The first table is under way when the block ends; nothing after it is made."""
    is_under_way, begun = threading.Event(), []

    def first_table(_: object) -> dict[str, list[str]]:
        is_under_way.set()
        wait_for("the block to end", lambda: begun and begun[0].history.cancelled())
        return {}

    monkeypatch.setattr(module, "TABLES", {"broker": first_table})
    with reading_ahead(plain_snapshot()) as ahead:
        begun.append(ahead)
        assert is_under_way.wait(PATIENCE_S)
    assert ahead.columns["broker"].done()
    assert not ahead.columns["broker"].cancelled()
    assert all(made.cancelled() for made in (ahead.snapshot_id, ahead.scores, ahead.history))
