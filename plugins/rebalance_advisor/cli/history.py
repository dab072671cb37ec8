"""A window of history for a command that reads an INPUT: from a folder of snapshots, or from the store."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_rebalance.errors import UsageError
from rebalance_advisor.request.run_request import RUN_OPTIONS, RunRequest

if TYPE_CHECKING:
    from kafka_rebalance.snapshot.history import HourlyLoads, MeasuredReading
    from kafka_rebalance.snapshot.model import ClusterSnapshot

_ADVICE = "give --history DIR, a folder of earlier snapshots, or let ADVISOR_POSTGRES_DSN name the store"
_WINDOW_OPTIONS = tuple(option for option in RUN_OPTIONS if option.name in ("load", "window"))


def add_history_folder(group: argparse._ArgumentGroup) -> None:
    """``--history``, beside ``--load`` and ``--window``."""
    group.add_argument("--history", type=Path, metavar="DIR",
        help="snapshots of the hours before INPUT, for --load (else the store of ADVISOR_POSTGRES_DSN)")  # fmt: skip


def add_window_options(parser: argparse.ArgumentParser) -> None:
    """``--load``, ``--window`` and ``--history``, for commands that judge a plan which was made with them."""
    group = parser.add_argument_group("the window of history that the plan was made with")
    for option in _WINDOW_OPTIONS:
        group.add_argument(option.flag, metavar=option.metavar, help=option.help)
    add_history_folder(group)


def window_request(arguments: argparse.Namespace) -> RunRequest:
    """What ``add_window_options`` was given, checked."""
    request = RunRequest.from_mapping({option.name: getattr(arguments, option.name) for option in _WINDOW_OPTIONS})
    require_history(request, arguments.history)
    return request


def require_history(request: RunRequest, folder: Path | None) -> None:
    """Before anything is read: a load of a window needs hours from somewhere. Raises UsageError where none are."""
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
    """INPUT with the loads that were asked for, and the hours that they are made of; as it is where none were.

    Raises InvalidInputError where the history cannot be read, or saw no hour.
    """
    if request.load is None or request.window_hours is None:
        return snapshot, None
    from kafka_rebalance.snapshot.history import over_window, readings_of
    from kafka_rebalance.snapshot.load_kind import LoadStatistic

    hours, statistic = request.window_hours, LoadStatistic(request.load)
    if folder is None:
        say("reading history")
        return over_window(snapshot, _stored(snapshot, hours, request.load), statistic, hours)
    from rebalance_advisor.dumps.history_folder import snapshots_of_window

    series = snapshots_of_window(folder, snapshot, hours, max_bytes=max_bytes, say=say)
    return over_window(snapshot, readings_of(series), statistic, hours)


def _stored(snapshot: ClusterSnapshot, hours: int, load: str) -> Iterator[MeasuredReading]:
    """What the store kept of this cluster, and what INPUT says itself."""
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
    """The store's address; from the environment alone, for a command line is for everybody to see."""
    try:
        from rebalance_advisor import store
    except ModuleNotFoundError as error:  # the base install has no database driver
        raise UsageError.at(f"--load {load}", "needs history, and there is no driver for a store", _ADVICE) from error
    try:
        return store.dsn_from_environment()
    except store.StoreError as error:
        raise UsageError.at(f"--load {load}", "needs the hours before INPUT", _ADVICE) from error
