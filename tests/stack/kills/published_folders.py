"""A cluster's published folders as somebody finds them who follows ``latest``: whole, or not."""

from __future__ import annotations

import hashlib
import json
import threading
from dataclasses import dataclass
from pathlib import Path

from kafka_rebalance.plans.plan import plan_id
from rebalance_advisor.publish.folders import LATEST, MARKER, read_marker
from stack.machine import Machine


@dataclass(frozen=True, slots=True)
class PublishedFolder:
    """One advisory on disk; ``faults``: what makes it a half one, in words."""

    run_id: str
    plan_id: str
    digest: str
    faults: tuple[str, ...]


def latest(machine: Machine, cluster: str) -> PublishedFolder | None:
    """What the link leads to; ``None`` before the first advisory."""
    link = machine.published / cluster / LATEST
    return examine(link.resolve()) if link.is_symlink() else None


def examine(folder: Path) -> PublishedFolder:
    """Read it all: the marker, every file that it names and no other, a plan whose hash is right."""
    marker = read_marker(folder)
    if marker is None:
        return PublishedFolder(folder.name, "", "", ("no marker",))
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {MARKER}
    faults = [f"{what}: {sorted(some)}" for what, some in _differences(set(marker.files), names) if some]
    digest = hashlib.sha256()
    for name in sorted(names):
        digest.update(name.encode() + b"\0" + (folder / name).read_bytes())
    if "plan.json" in names:
        plan = json.loads((folder / "plan.json").read_bytes())
        if not plan["plan_id"] == marker.plan_id == plan_id(plan):
            faults.append(f"hash {plan_id(plan)}, plan.json says {plan['plan_id']}, the marker {marker.plan_id}")
    return PublishedFolder(folder.name, marker.plan_id or "", digest.hexdigest()[:12], tuple(faults))


def half_made(machine: Machine, cluster: str) -> list[str]:
    """Once all is over: what lies in the cluster's folder and is no whole advisory."""
    folder, results = machine.published / cluster, []
    for path in sorted(folder.iterdir()) if folder.exists() else ():
        if path.name.startswith("."):
            results.append(f"{path.name} is left over")
        elif path.is_dir() and path.name != LATEST:
            results += [f"{path.name}: {fault}" for fault in examine(path).faults]
    return results


class FolderReader(threading.Thread):
    """Somebody who looks at ``latest`` again and again, and keeps every different answer, in order."""

    def __init__(self, machine: Machine, cluster: str) -> None:
        super().__init__(daemon=True)
        self._machine, self._cluster = machine, cluster
        self.answers: list[PublishedFolder | None] = []
        self.is_over = threading.Event()

    def run(self) -> None:
        """Until it is over, and one last look then."""
        is_last = False
        while not is_last:
            is_last = self.is_over.wait(0.1)
            answer = latest(self._machine, self._cluster)
            if not self.answers or self.answers[-1] != answer:
                self.answers.append(answer)


def _differences(named: set[str], result: set[str]) -> list[tuple[str, set[str]]]:
    return [("lacks", named - result), ("also holds", result - named)]
