"""Custom classes: ``module:Class``, ``FILE.py:Class``, or an entry point."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from importlib.metadata import entry_points
from pathlib import Path

from kafka_assignors.visible_text import excerpt
from kafka_rebalance.errors import UsageError

_PLACE = re.compile(r"(?P<module>.+):(?P<attribute>[A-Za-z_]\w*(\.[A-Za-z_]\w*)*)")
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
FILE_SUFFIX = ".py"
MOST_PLACE_CHARS = 1000


class Kind(StrEnum):
    ASSIGNOR = "kafka_rebalance.assignors"
    PARTITIONER = "kafka_rebalance.partitioners"


@dataclass(frozen=True, slots=True)
class Target:
    """``reference``: the user's text; ``label``: until the class's own name is known."""

    kind: Kind
    reference: str
    label: str

    @property
    def module(self) -> str:
        return self.reference.rpartition(":")[0]

    @property
    def attribute(self) -> str:
        return self.reference.rpartition(":")[2]

    @property
    def is_file(self) -> bool:
        return self.module.endswith(FILE_SUFFIX)


def read_target(text: str, kind: Kind) -> Target:
    match = _PLACE.fullmatch(text)
    is_reference = match is not None and len(text) <= MOST_PLACE_CHARS
    if (
        match is None
        or not is_reference
        or not (match["module"].endswith(FILE_SUFFIX) or _MODULE.fullmatch(match["module"]))
    ):
        raise UsageError.at(excerpt(text), "names no class", "write module:Class or FILE.py:Class")
    return Target(kind, text, text)


def installed_targets(kind: Kind) -> tuple[Target, ...]:
    points = sorted(entry_points(group=kind.value), key=lambda point: (point.name, point.value))
    return tuple(Target(kind, f"{point.module}:{point.attr}", point.name) for point in points)


def targets_of(references: Iterable[str], kind: Kind) -> tuple[Target, ...]:
    return (*installed_targets(kind), *(read_target(reference, kind) for reference in references))


def targets_here(references: Iterable[str], kind: Kind) -> tuple[Target, ...]:
    targets = targets_of(references, kind)
    for target in targets:
        if target.is_file and not Path(target.module).is_file():
            raise UsageError.at(excerpt(target.reference), f"there is no file {excerpt(target.module)}")
    return targets
