"""``CLUSTER/latest``: the link to the newest published advisory of a cluster, replaced in one step.

It is set after readers see the run, so that it never points to what they do not; a kill between leaves it at the
advisory before, which is whole. One process at a time does it for a cluster.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

LATEST = "latest"
_BESIDE = f".{LATEST}-"


def point_latest(folder: Path) -> bool:
    """Let ``latest`` beside ``folder`` point to it. False where something that is no link has the name: it stays."""
    link = folder.parent / LATEST
    if folder.name == LATEST or (link.exists() and not link.is_symlink()):
        return False
    _remove_left_over(folder.parent)
    beside = folder.parent / f"{_BESIDE}{os.urandom(4).hex()}"
    try:
        beside.symlink_to(folder.name)
        beside.replace(link)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
    return True


def is_latest(folder: Path) -> bool:
    """What ``latest`` points to, by that name or by a full path."""
    link = folder.parent / LATEST
    return link.is_symlink() and Path(os.path.realpath(link)) == Path(os.path.realpath(folder))


def _remove_left_over(parent: Path) -> None:
    """Links of a process that was killed before it gave its own the name."""
    for path in parent.glob(f"{_BESIDE}*"):
        if path.is_symlink():
            path.unlink(missing_ok=True)
