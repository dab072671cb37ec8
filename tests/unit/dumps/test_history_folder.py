import gzip
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.snapshot.codec import snapshot_to_document
from rebalance_advisor.cli.history import snapshots_of_window, time_of
from tests.unit.planner.sample_clusters import brokers, cluster, row

NEWEST = cluster([row("t", 0, [0, 1])], brokers(2))


def at(hours_ago, **changes):
    return replace(NEWEST, captured_at=NEWEST.captured_at - timedelta(hours=hours_ago), **changes)


def write(folder, name, snapshot, *, packed=False):
    content = json.dumps(snapshot_to_document(snapshot), sort_keys=True).encode()
    (folder / name).write_bytes(gzip.compress(content) if packed else content)


def hours_of(folder, hours=24, newest=NEWEST):
    snapshots = snapshots_of_window(folder, newest, hours)
    return [(newest.captured_at - snapshot.captured_at) / timedelta(hours=1) for snapshot in snapshots]


def test_order_is_by_time_whatever_the_names_and_the_newest_comes_last(tmp_path):
    for name, ago in (("b.json", 2), ("a.json", 1), ("c.json", 0), ("z.json", -1), ("old.json", 49), ("edge.json", 51)):
        write(tmp_path, name, at(ago))
    write(tmp_path, "packed.json.gz", at(24), packed=True)
    (tmp_path / "readme.txt").write_text("snapshots of prod")
    assert hours_of(tmp_path) == [49, 24, 2, 1, 0]  # a day and 26 hours before it, to measure the first one


def test_what_is_of_another_cluster_is_refused_by_file(tmp_path):
    write(tmp_path, "a.json", at(1, cluster_id="other-id"))
    with pytest.raises(InvalidInputError, match=r"a\.json: is of cluster other-id, not test-id; keep one folder"):
        hours_of(tmp_path)
    write(tmp_path, "a.json", at(1, cluster_id=None, cluster="audit"))
    with pytest.raises(InvalidInputError, match="is of cluster audit, not test"):
        hours_of(tmp_path)


def test_what_is_no_snapshot_is_refused_by_file(tmp_path):
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(InvalidInputError, match=r"plan\.json: is no snapshot with a time"):
        hours_of(tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps({"captured_at": "2026-11-20T11:00:00Z"}))
    with pytest.raises(InvalidInputError, match="JSON of an unknown kind"):
        hours_of(tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps({"captured_at": "yesterday"}))
    with pytest.raises(InvalidInputError, match="is no ISO 8601 time"):
        time_of(tmp_path / "plan.json")


def test_a_snapshot_that_tells_two_times_is_refused(tmp_path):
    document = snapshot_to_document(at(1))
    document["brokers"][0]["configs"] = {"captured_at": "2026-11-20T10:00:00Z"}
    (tmp_path / "a.json").write_text(json.dumps(document, sort_keys=True))
    with pytest.raises(InvalidInputError, match="tells two times"):
        hours_of(tmp_path)


def test_a_folder_that_is_none_and_an_input_without_time_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="does not exist"):
        hours_of(tmp_path / "none")
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInputError, match="is no folder"):
        hours_of(tmp_path / "file")
    with pytest.raises(InvalidInputError, match="INPUT has no time"):
        next(snapshots_of_window(tmp_path, replace(NEWEST, captured_at=None), 24))
