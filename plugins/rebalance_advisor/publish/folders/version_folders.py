"""An advisory behind a link, for folders that cannot be exchanged: ``DIR/current`` -> ``DIR/versions/NAME``.

A new version is made whole, then the link is replaced by renaming another one over it: a reader who goes through
``DIR/current`` finds the old advisory or the new one. The version before goes once nothing points to it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

from rebalance_advisor.publish.folders.durable_files import (
    naming,
    sync_folder,
    write_all,
    write_files,
)
from rebalance_advisor.publish.folders.folder_marker import MARKER, Marker, read_marker
from rebalance_advisor.publish.folders.work_folder import remove_left_over, work_folder

CURRENT, VERSIONS = "current", "versions"
_NEXT = ".current-"
_PLAN_ID_SHOWN = 12


def replace_version(target: Path, files: Mapping[str, bytes], marker: Marker, shown: Path) -> None:
    """Put a version of ``files``, with its marker, behind ``target/current``; ``target`` is made if need be."""
    versions = target / VERSIONS
    with naming(shown):
        target.mkdir(exist_ok=True)
        _mark(target)
        versions.mkdir(exist_ok=True)
        _remove_unwanted(target)
        with work_folder(versions, f"{(marker.plan_id or '')[:_PLAN_ID_SHOWN]}-", marker, _is_current) as version:
            write_files(version, files, shown)
            sync_folder(versions)
            link = target / f"{_NEXT}{version.name}"
            link.symlink_to(f"{VERSIONS}/{version.name}")
            link.replace(target / CURRENT)
            sync_folder(target)
    _remove_unwanted(target)


def advisory_folder(folder: Path) -> Path:
    """Where the files of an advisory lie: the folder itself, or what its link ``current`` points to now.

    The link is followed once, so that files read one after the other are of one advisory.
    """
    current = folder / CURRENT
    marker = read_marker(folder)
    return Path(os.path.realpath(current)) if marker and marker.has_versions and current.is_symlink() else folder


def plan_path(text: str) -> Path:
    """A plan as it is given on the command line: its file or its folder, with the advisory behind a link or without."""
    path = Path(text)
    folder = advisory_folder(path if path.is_dir() else path.parent)
    return folder if path.is_dir() else folder / path.name if folder != path.parent else path


def _mark(target: Path) -> None:
    """The folder is ours from its first file on."""
    marker = read_marker(target)
    if marker is None or not marker.has_versions:
        descriptor = os.open(target / MARKER, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o666)
        try:
            write_all(descriptor, Marker((), has_versions=True).line())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _is_current(version: Path) -> bool:
    try:
        return (version.parents[1] / CURRENT).readlink() == Path(VERSIONS, version.name)
    except OSError:
        return False


def _remove_unwanted(target: Path) -> None:
    """Versions that nothing points to and nobody is making, and links that were to point to them."""
    remove_left_over(target / VERSIONS, "", _is_current)
    with contextlib.suppress(OSError):
        for link in target.glob(f"{_NEXT}*"):
            if not (target / VERSIONS / link.name.removeprefix(_NEXT)).exists():
                link.unlink()
