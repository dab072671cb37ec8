"""One drawn moment lived through: a run, a kill, whatever starts again, and what readers saw of it all."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stack.machine import Machine
from stack.waiting import wait_for
from tests.stack.kills.advisory_reader import Reader, seen_now
from tests.stack.kills.drawn_moments import DrawnMoment
from tests.stack.kills.followed_run import FollowedRun
from tests.stack.kills.kinds import KINDS
from tests.stack.kills.normal_run import NormalRun
from tests.stack.kills.published_folders import FolderReader, PublishedFolder, half_made, latest
from tests.stack.kills.small_cluster import NAME, write_cluster
from tests.stack.kills.stack_processes import kill
from tests.stack.kills.supervision import PATIENCE_SECONDS

_TRIES = 3
# What has ended before its moment is met earlier in the next run.
_EARLIER = 0.8


@dataclass(frozen=True, slots=True)
class Outcome:
    """A row of the table. ``faults``: what was promised and did not hold; none is as it should be."""

    number: int
    kind: str
    at: str
    readers: str
    tried_again: str
    went_on: str
    seconds: float
    faults: tuple[str, ...]


@dataclass(slots=True)
class Readers:
    """Who looks at the cluster's advisory from before the run until after it: in the store, and on disk."""

    store: Reader
    disk: FolderReader

    @classmethod
    def start(cls, machine: Machine) -> Readers:
        """Both have had a first look when it returns."""
        readers = cls(Reader(machine, NAME), FolderReader(machine, NAME))
        for reader in (readers.store, readers.disk):
            reader.start()
            wait_for("a first look", lambda reader=reader: reader.answers, seconds=PATIENCE_SECONDS)
        return readers

    def stop(self) -> None:
        """They have had their last look."""
        for reader in (self.store, self.disk):
            reader.is_over.set()
            reader.join(PATIENCE_SECONDS)

    def summary(self) -> str:
        """How many different advisories each saw, and for how many looks Postgres was away."""
        away = f", away {len(self.store.refused)} looks" if self.store.refused else ""
        return f"{len(self.store.answers)} in the store{away}, {len(self.disk.answers)} on disk"


def live_through(machine: Machine, moment: DrawnMoment, normal: NormalRun, **settings: object) -> Outcome:
    """Kill, wait, clear once if need be, and judge."""
    fraction = moment.fraction
    for attempt in range(_TRIES):
        began = time.monotonic()
        wait_for("Postgres", lambda: machine.server.is_running, seconds=PATIENCE_SECONDS)
        write_cluster(machine, _TRIES * moment.number + attempt, **settings)
        readers = Readers.start(machine)
        run = FollowedRun.start(machine, f"kill-{moment.number}-{attempt}", moment.number)
        at = _strike(machine, run, moment, fraction, normal)
        state, went_on = run.end(), "by itself"
        if at and state == "failed":
            print(run.log_tail(), flush=True)
            run.clear()
            state, went_on = run.end(), "cleared once"
        seconds = time.monotonic() - began
        readers.stop()
        if at:
            faults = tuple(_faults(machine, run, state, readers))
            return Outcome(
                moment.number, moment.kind, at, readers.summary(), run.tried_again(), went_on, seconds, faults
            )
        fraction *= _EARLIER
    return Outcome(moment.number, moment.kind, "", "", "", "", 0.0, ("the moment was missed three times",))


def _strike(machine: Machine, run: FollowedRun, moment: DrawnMoment, fraction: float, normal: NormalRun) -> str:
    """Kill at the moment; what was under way then. Empty where the run, or the process, had ended before it."""
    kind = KINDS[moment.kind]
    if kind.lives_in_job:
        _found(machine, run, moment)
        time.sleep(fraction * normal.life_s[kind.name])
        pids = kind.find(machine)
    else:
        time.sleep(fraction * normal.run_s)
        pids = _found(machine, run, moment)
    if not pids or run.is_over:
        return ""
    under_way = run.under_way()
    try:
        kill([moment.one_of(pids)])
    except ProcessLookupError:
        return ""
    return under_way


def _found(machine: Machine, run: FollowedRun, moment: DrawnMoment) -> list[int]:
    """Those of the kind, as soon as there are any; none where the run ends first."""
    while not (pids := KINDS[moment.kind].find(machine)) and not run.is_over:
        time.sleep(0.05)
    return pids


def _faults(machine: Machine, run: FollowedRun, state: str, readers: Readers) -> Iterator[str]:
    if state != "success":
        yield f"the run is {state or 'unknown'}"
        return
    new, folder, run_id = seen_now(machine, NAME), latest(machine, NAME), f"{run.run_id}.{NAME}"
    if not new or new[0][0] != run_id:
        yield f"readers see {new}, not run {run_id}"
        return
    yield from _out_of_order("in the store", readers.store.answers, new)
    yield from _out_of_order("on disk", readers.disk.answers, folder)
    yield from _folder_faults(folder, run_id, plan_id=new[0][1])
    yield from half_made(machine, NAME)


def _out_of_order(where: str, answers: Sequence[Any], new: Any) -> Iterator[str]:
    """Seen was the one before, then the new one, and nothing else."""
    if list(answers) != [answers[0], new]:
        yield f"{where} readers saw {answers}"


def _folder_faults(folder: PublishedFolder | None, run_id: str, plan_id: str) -> Iterator[str]:
    if folder is None:
        yield "there is no link latest"
    elif folder.run_id != run_id or folder.plan_id != plan_id or folder.faults:
        yield f"latest leads to {folder}, readers see {run_id} with plan {plan_id}"
