from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.errors import UsageError
from kafka_rebalance.snapshot.history import LONGEST_WINDOW_S
from kafka_rebalance.snapshot.model import ClusterSnapshot
from kafka_rebalance.snapshot.times import parse_time
from rebalance_advisor.dumps.any_input import read_input
from rebalance_advisor.input_bytes import MAX_INPUT_BYTES, ByteBudget, read_text
from rebalance_advisor.request.run_request import RUN_OPTIONS, RunRequest

if TYPE_CHECKING:
    from kafka_rebalance.snapshot.history import HourlyLoads, MeasuredReading
    from kafka_rebalance.snapshot.model import ClusterSnapshot

_ADVICE = "give --history DIR, a folder of earlier snapshots, or let ADVISOR_POSTGRES_DSN name the store"
_WINDOW_OPTIONS = tuple(option for option in RUN_OPTIONS if option.name in ("load", "window"))


def add_history_folder(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--history", type=Path, metavar="DIR",
        help="snapshots of the hours before INPUT, for --load (else the store of ADVISOR_POSTGRES_DSN)")  # fmt: skip


def add_window_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the window of history that the plan was made with")
    for option in _WINDOW_OPTIONS:
        group.add_argument(option.flag, metavar=option.metavar, help=option.help)
    add_history_folder(group)


def window_request(arguments: argparse.Namespace) -> RunRequest:
    request = RunRequest.from_mapping({option.name: getattr(arguments, option.name) for option in _WINDOW_OPTIONS})
    require_history(request, arguments.history)
    return request


def require_history(request: RunRequest, folder: Path | None) -> None:
    if request.load is None:
        if folder is not None:
            raise UsageError.at("--history", "is given, and no load is asked of it", "add --load mean, p95 or peak")
        return
    if folder is None:
        _store_dsn(request.load)


def with_window(
    snapshot: ClusterSnapshot,
    request: RunRequest,
    folder: Path | None,
    *,
    max_bytes: int,
    say: Callable[[str], None],
) -> tuple[ClusterSnapshot, HourlyLoads | None]:
    """Return INPUT with the requested loads, and their hours."""
    if request.load is None or request.window_hours is None:
        return snapshot, None
    from kafka_rebalance.snapshot.figures import LoadStatistic
    from kafka_rebalance.snapshot.history import over_window, readings_of

    hours, statistic = request.window_hours, LoadStatistic(request.load)
    if folder is None:
        say("reading history")
        return over_window(snapshot, _stored(snapshot, hours, request.load), statistic, hours)

    series = snapshots_of_window(folder, snapshot, hours, max_bytes=max_bytes, say=say)
    return over_window(snapshot, readings_of(series), statistic, hours)


def _stored(snapshot: ClusterSnapshot, hours: int, load: str) -> Iterator[MeasuredReading]:
    from kafka_assignors.errors import InvalidInputError
    from kafka_rebalance.snapshot.history import measured_reading
    from rebalance_advisor import store

    if snapshot.captured_at is None:
        raise InvalidInputError.at("history", "INPUT has no time", "plan on a snapshot that has one (captured_at)")
    own = measured_reading(snapshot)
    with store.connect(_store_dsn(load)) as connection:
        kept = store.load_readings(connection, snapshot.cluster, snapshot.captured_at, hours)
        yield from chain(kept, [] if own is None else [own])


def _store_dsn(load: str) -> str:
    """From the environment: command lines are visible to other users."""
    try:
        from rebalance_advisor import store
    except ModuleNotFoundError as error:  # the base install has no driver
        raise UsageError.at(f"--load {load}", "needs history, and there is no driver for a store", _ADVICE) from error
    try:
        return store.dsn_from_environment()
    except store.StoreError as error:
        raise UsageError.at(f"--load {load}", "needs the hours before INPUT", _ADVICE) from error


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
    """``hours`` before ``newest``, one earlier for rates, and ``newest``.

    Of others only the time is read. Raises InvalidInputError.
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
    in_window = [(moment, file) for moment, file in timed if since <= moment < until]
    for number, (moment, file) in enumerate(in_window, start=1):
        say(f"reading history, {number} of {len(in_window)}")
        snapshot = read_input(file, newest.cluster, max_bytes=max_bytes)
        if snapshot.captured_at != moment:
            raise InvalidInputError.at(
                str(file), "tells two times", "keep snapshots of `rebalance-advisor snapshot` here"
            )
        _require_same_cluster(snapshot, newest, file)
        yield snapshot
    yield newest


def time_of(file: Path, max_bytes: int = MAX_INPUT_BYTES) -> datetime:
    match = _TIME.search(read_text(file, ByteBudget(max_bytes)))
    if match is None:
        hint = "a folder of history holds snapshots of `rebalance-advisor snapshot` and no other .json"
        raise InvalidInputError.at(str(file), "is no snapshot with a time", hint)
    return parse_time(match[1], f"{file}, captured_at")


def _require_same_cluster(snapshot: ClusterSnapshot, newest: ClusterSnapshot, file: Path) -> None:
    """Compare Kafka's ids if both exist, else names."""
    ids = (snapshot.cluster_id, newest.cluster_id)
    mine, expected = (snapshot.cluster, newest.cluster) if None in ids else ids
    if mine != expected:
        raise InvalidInputError.at(str(file), f"is of cluster {mine}, not {expected}", "keep one folder a cluster")
