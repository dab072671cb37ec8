"""Kill, full disk or Ctrl-C before, during or after one file operation of a process.

Counted: every function of ``os`` that changes a file system, syncs or closes, and the exchange of folders. The
process is forked from one with a finished plan, so a moment costs milliseconds.
"""

from __future__ import annotations

import errno
import os
import pickle
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

COUNTED = (
    "mkdir", "open", "write", "fsync", "close", "rename", "replace", "unlink", "remove", "rmdir", "symlink", "link",
    "chmod", "chown", "truncate", "ftruncate", "utime", "sendfile", "copy_file_range", "pwrite", "writev",
)  # fmt: skip


class Strike(Enum):
    """Event at the moment."""

    KILL = "SIGKILL before"
    KILL_WITHIN = "SIGKILL in the middle of a write"
    FULL = "ENOSPC"
    INTERRUPT = "Ctrl-C before"
    INTERRUPT_AFTER = "Ctrl-C after"


@dataclass
class Striker:
    """Counts operations, and strikes at the ``moment``-th, from 1; at none for 0."""

    moment: int = 0
    strike: Strike = Strike.KILL
    seen: list[str] = field(default_factory=list)

    def interpose(self) -> None:
        """In this process, for the rest of its life."""
        for name in COUNTED:
            setattr(os, name, self.counted(name, getattr(os, name)))

    def counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        """``real``, counted under ``name``."""

        def operation(*arguments: Any, **options: Any) -> Any:
            self.seen.append(name)
            if len(self.seen) != self.moment:
                return real(*arguments, **options)
            return self._struck(name, real, arguments, options)

        return operation

    def _struck(self, name: str, real: Callable[..., Any], arguments: Any, options: Any) -> Any:
        if name == "write" and self.strike in (Strike.KILL_WITHIN, Strike.FULL):
            real(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
        if self.strike in (Strike.KILL, Strike.KILL_WITHIN):
            os.kill(os.getpid(), signal.SIGKILL)
        if self.strike is Strike.FULL:
            if name == "close":
                real(*arguments, **options)  # closed all the same, as Linux does
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        result = real(*arguments, **options) if self.strike is Strike.INTERRUPT_AFTER else None
        if result is None or self.strike is Strike.INTERRUPT_AFTER:
            raise KeyboardInterrupt
        return result


@dataclass(frozen=True)
class Ending:
    """How a struck process ended: killed, or the error that it ended with, or neither; and what it counted."""

    is_killed: bool
    error: BaseException | None
    seen: tuple[str, ...]


def end_of(work: Callable[[Striker], None], striker: Striker) -> Ending:
    """Fork, interpose, work."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _work_and_tell(work, striker, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        text = stream.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return Ending(True, None, ())
    assert os.WEXITSTATUS(status) == 0
    error, seen = pickle.loads(text)
    return Ending(False, error, seen)


def _work_and_tell(work: Callable[[Striker], None], striker: Striker, writing: int) -> None:
    real_write, error = os.write, None
    try:
        striker.interpose()
        work(striker)
    except (Exception, KeyboardInterrupt) as raised:  # noqa: BLE001 - whatever it is, it is told
        error = raised.with_traceback(None)
    striker.moment = 0
    real_write(writing, pickle.dumps((error, tuple(striker.seen))))
    os._exit(0)


def content_of(folder: Path) -> dict[str, bytes]:
    """Every file under a folder by its path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".rebalance-advisor"
    }
