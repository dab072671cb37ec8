"""A folder of snapshots of one cluster, as ``rebalance-advisor snapshot`` writes them every hour, in order of time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.snapshot.history import LONGEST_WINDOW_S
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.times import parse_time
from rebalance_advisor.dumps.any_input import read_input
from rebalance_advisor.input_bytes import MAX_INPUT_BYTES, ByteBudget, read_text

_ENDINGS = (".json", ".json.gz")
_TIME = re.compile(r'"captured_at"\s*:\s*"([^"]{1,40})"')


def snapshots_of_window(
    folder: Path,
    newest: ClusterSnapshot,
    hours: int,
    *,
    max_bytes: int = MAX_INPUT_BYTES,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[ClusterSnapshot]:
    """The folder's snapshots of the ``hours`` before ``newest``, and of what is needed to measure the first of them;
    ``newest`` itself comes last. One at a time is read; older and later ones are only looked at for their time.

    Raises InvalidInputError for a file that is no snapshot with a time, or one of another cluster.
    """
    if not folder.is_dir():
        problem = "is no folder" if folder.exists() else "does not exist"
        raise InvalidInputError.at(str(folder), problem, "give the folder in which snapshots are kept")
    until = newest.captured_at
    if until is None:
        raise InvalidInputError.at("history", "INPUT has no time", "plan on a snapshot that has one (captured_at)")
    since = until - timedelta(hours=hours, seconds=LONGEST_WINDOW_S)
    files = [file for file in sorted(folder.iterdir()) if file.name.endswith(_ENDINGS) and file.is_file()]
    timed = sorted((time_of(file, max_bytes), file) for file in files)
    wanted = [(moment, file) for moment, file in timed if since <= moment < until]
    for number, (moment, file) in enumerate(wanted, start=1):
        say(f"reading history, {number} of {len(wanted)}")
        snapshot = read_input(file, newest.cluster, max_bytes=max_bytes)
        if snapshot.captured_at != moment:
            raise InvalidInputError.at(
                str(file), "tells two times", "keep snapshots of `rebalance-advisor snapshot` here"
            )
        _require_same_cluster(snapshot, newest, file)
        yield snapshot
    yield newest


def time_of(file: Path, max_bytes: int = MAX_INPUT_BYTES) -> datetime:
    """When a snapshot was taken, without reading the rest of it. Raises InvalidInputError where it does not tell."""
    match = _TIME.search(read_text(file, ByteBudget(max_bytes)))
    if match is None:
        hint = "a folder of history holds snapshots of `rebalance-advisor snapshot` and no other .json"
        raise InvalidInputError.at(str(file), "is no snapshot with a time", hint)
    return parse_time(match[1], f"{file}, captured_at")


def _require_same_cluster(snapshot: ClusterSnapshot, newest: ClusterSnapshot, file: Path) -> None:
    """By Kafka's own id where both tell it, else by name."""
    told = (snapshot.cluster_id, newest.cluster_id)
    mine, wanted = (snapshot.cluster, newest.cluster) if None in told else told
    if mine != wanted:
        raise InvalidInputError.at(str(file), f"is of cluster {mine}, not {wanted}", "keep one folder a cluster")
