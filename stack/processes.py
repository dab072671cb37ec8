"""Long-running programs of the stack, each in its own session, found again by later commands.

A program is known by process id and start time, so a reused id is never signalled. Stopping it ends its whole
session.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_LOOK_AGAIN_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Program:
    name: str
    record: Path
    log: Path

    def start(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start it in the background unless it runs; first end what a killed one left behind."""
        if self.is_running:
            return
        _sweep(self)
        self.record.parent.mkdir(parents=True, exist_ok=True)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                command, env=dict(environment), cwd=self.log.parent, stdout=log, stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        _children[process.pid] = process
        self.record.write_text(json.dumps({"pid": process.pid, "born": _born(process.pid)}), encoding="utf-8")

    @property
    def pid(self) -> int | None:
        pid, born = self._remembered()
        if pid in _children:
            _children[pid].poll()  # no other code waits for it
        return pid if pid is not None and born is not None and _born(pid) == born else None

    @property
    def session(self) -> int | None:
        """Its session, unless the id was reused; it may outlive the program."""
        pid, born = self._remembered()
        return pid if pid is not None and _born(pid) in (None, born) else None

    @property
    def is_running(self) -> bool:
        return self.pid is not None

    def _remembered(self) -> tuple[int | None, str | None]:
        try:
            record = json.loads(self.record.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None, None
        return int(record["pid"]), record["born"]

    def log_tail(self, lines: int = 15) -> str:
        try:
            return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
        except OSError:
            return "(no log)"


def stop(programs: Iterable[Program], patience_seconds: float) -> None:
    """SIGTERM to all, wait, SIGKILL to the rest, then to what remains in their sessions."""
    recorded = [program for program in programs if program.record.exists()]
    for program in recorded:
        if program.pid is not None:
            _signal(program.pid, signal.SIGTERM)
    deadline = time.monotonic() + patience_seconds
    while any(program.is_running for program in recorded) and time.monotonic() < deadline:
        time.sleep(_LOOK_AGAIN_SECONDS)
    for program in recorded:
        if program.pid is not None:
            _signal(program.pid, signal.SIGKILL)
        _sweep(program)
        program.record.unlink(missing_ok=True)


def _sweep(program: Program) -> None:
    if program.session is not None:
        for pid in session_members(program.session):
            _signal(pid, signal.SIGKILL)


def session_members(session: int) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "pid=,sess="], capture_output=True, text=True, check=False).stdout
    if Path("/proc/self/stat").exists():
        listed = "\n".join(f"{pid} {fields[3]}" for pid, fields in _linux_processes())
    rows = (line.split() for line in listed.splitlines())
    return [int(pid) for pid, its in rows if int(its or 0) == session and int(pid) != session]


_children: dict[int, subprocess.Popen[bytes]] = {}


def _signal(pid: int, how: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, how)


def _born(pid: int) -> str | None:
    """Start time of a process in the system's unit; ``None`` for an ended one or a zombie."""
    with contextlib.suppress(OSError):
        fields = _stat_fields(Path(f"/proc/{pid}/stat"))
        return None if fields[0] == "Z" else fields[19]
    if Path("/proc/self/stat").exists():
        return None
    listed = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return listed.stdout.strip() or None


def _linux_processes() -> Iterable[tuple[int, list[str]]]:
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            yield int(file.parent.name), _stat_fields(file)


def _stat_fields(file: Path) -> list[str]:
    """Fields of /proc/PID/stat after the command's name: state, parent, group, session, …, start time (20th)."""
    return file.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
