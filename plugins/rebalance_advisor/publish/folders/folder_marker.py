"""The marker ``.rebalance-advisor``: the one file that makes a folder ours, and with it the right to replace it.

One line of JSON: ``format``, the ``plan_id``, ``files``, the names of all that was written, and ``run_id`` where a run
of the pipeline wrote it. Nothing that it does not name is ever removed, so a note that somebody left in the folder
outlives every run.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from kafka_rebalance.errors import UsageError

MARKER = ".rebalance-advisor"
_FORMAT = 1
# A name, or a name in one folder: a marker that somebody else wrote cannot lead out of its own folder.
_NAME = re.compile(r"(?:[\w-]+/)?[\w-][\w.-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Marker:
    """What a marker says. ``has_versions``: the folder keeps its advisory behind the link ``current``."""

    files: tuple[str, ...]
    plan_id: str | None = None
    has_versions: bool = False
    run_id: str | None = None

    @property
    def folders(self) -> tuple[str, ...]:
        """The folders in which the files lie."""
        return tuple(sorted({name.partition("/")[0] for name in self.files if "/" in name}))

    def line(self) -> bytes:
        """The marker's content."""
        document: dict[str, Any] = {"format": _FORMAT, "plan_id": self.plan_id, "files": sorted(self.files)}
        if self.has_versions:
            document["has_versions"] = True
        if self.run_id is not None:
            document["run_id"] = self.run_id
        return json.dumps(document).encode() + b"\n"


class Standing(Enum):
    """What stands where an advisory is to go."""

    ABSENT = "absent"
    EMPTY = "empty"
    OURS = "ours"
    VERSIONS = "ours, with versions behind a link"


def read_marker(folder: Path) -> Marker | None:
    """``None`` where there is none, or one that is not whole, or not of a format that is known here."""
    try:
        document = json.loads(_content(folder / MARKER))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        return None
    names, plan_id, run_id = document.get("files"), document.get("plan_id"), document.get("run_id")
    if not isinstance(names, list) or not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
        return None
    return Marker(
        files=tuple(names),
        plan_id=plan_id if isinstance(plan_id, str) else None,
        has_versions=document.get("has_versions") is True,
        run_id=run_id if isinstance(run_id, str) else None,
    )


def standing_of(target: Path, shown: Path) -> Standing:
    """What stands at ``target``, a path without links. Raises UsageError, about ``shown``, where it is not ours."""
    try:
        entries = [entry.name for entry in target.iterdir()]
    except FileNotFoundError:
        return Standing.ABSENT
    except NotADirectoryError:
        raise UsageError(f"{shown}: is no folder; give a folder, or a name that does not exist yet") from None
    if not entries:
        return Standing.EMPTY
    marker = read_marker(target)
    # A first run into an empty folder begins with the marker: half a marker alone is what a kill left of it.
    if (marker is None and entries == [MARKER]) or (marker is not None and marker.has_versions):
        return Standing.VERSIONS
    if marker is None:
        raise UsageError(
            f"{shown}: holds {min(entries)!r} and no readable {MARKER}, so it was not written by this advisor; "
            "give a folder that is empty or does not exist yet, or move this one away"
        )
    stranger = _stranger(target, marker)
    if stranger is not None:
        raise UsageError(
            f"{shown}: {stranger!r} was not written by this advisor and would be lost; "
            "move it away, or give another folder"
        )
    return Standing.OURS


def _content(file: Path) -> bytes:
    """A link in the marker's place is none of ours."""
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
        return stream.read()


def _stranger(folder: Path, marker: Marker) -> str | None:
    """The first name in the folder that the marker does not know."""
    for name in _names_in(folder, marker.folders):
        if name != MARKER and name not in marker.files:
            return name
    return None


def _names_in(folder: Path, expected: Iterable[str]) -> list[str]:
    names: list[str] = []
    for entry in os.scandir(folder):
        if entry.name in expected and entry.is_dir(follow_symlinks=False):
            names += [f"{entry.name}/{inner.name}" + "/" * _is_folder(inner) for inner in os.scandir(entry.path)]
        else:
            names.append(entry.name + "/" * _is_folder(entry))
    return sorted(names)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)
