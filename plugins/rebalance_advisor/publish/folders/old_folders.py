"""Published folders that have had their time: removed as they were made, by the names in their markers alone."""

from __future__ import annotations

import contextlib
from datetime import datetime
from pathlib import Path

from rebalance_advisor.publish.folders.folder_marker import MARKER, Marker, read_marker
from rebalance_advisor.publish.folders.latest_link import is_latest
from rebalance_advisor.publish.folders.version_folders import CURRENT, VERSIONS
from rebalance_advisor.publish.folders.work_folder import remove_ours


def remove_older(root: Path, before: datetime) -> list[Path]:
    """Remove ``root/CLUSTER/RUN`` that were written before a time; returns those that are gone.

    What ``latest`` points to stays however old it is; so does a folder that is not ours, or that holds what somebody
    else put there: of that one only our files go.
    """
    gone = []
    for folder in sorted(root.glob("*/*")):
        marker = None if folder.is_symlink() or not folder.is_dir() else read_marker(folder)
        if marker is None or is_latest(folder) or not _is_older(folder, marker, before):
            continue
        with contextlib.suppress(OSError):
            _remove(folder, marker)
        if not folder.exists():
            gone.append(folder)
    return gone


def _is_older(folder: Path, marker: Marker, before: datetime) -> bool:
    """By when its newest part was written: behind a link that is the version, not the folder's own marker."""
    written = [folder / MARKER, *(folder.glob(f"{VERSIONS}/*/{MARKER}") if marker.has_versions else ())]
    return max((file.stat().st_mtime for file in written), default=0.0) < float(before.timestamp())


def _remove(folder: Path, marker: Marker) -> None:
    if marker.has_versions:
        (folder / CURRENT).unlink(missing_ok=True)
        for version in (folder / VERSIONS).iterdir():
            remove_ours(version)
        (folder / VERSIONS).rmdir()
    remove_ours(folder)
