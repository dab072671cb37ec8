"""SIGKILL, ENOSPC and Ctrl-C at every file operation of ``plan``, ``advise`` and ``publish``; prints the table.

``python -m tests.unit.publish.kill_table [--step N] [--moments]``: every N-th moment; one line for each moment. After
each: a reader finds the old advisory or the new one, byte for byte, and the next run succeeds and leaves nothing
else. Exit code 1 otherwise.
"""

from __future__ import annotations

import argparse
import errno
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from kafka_rebalance.advisory.advise import Advice, AdviceRequest, advise
from kafka_rebalance.advisory.advisory import advisory_document
from kafka_rebalance.options.plan_options import PlanOptions
from rebalance_advisor.publish import advisory_files, plan_files
from rebalance_advisor.publish.folders import advisory_folder, check_folder, exchange_folders, replace_folder
from tests.unit.planner.sample_clusters import brokers, cluster, row
from tests.unit.publish.file_moments import Ending, Strike, Striker, content_of, end_of

Writer = Callable[[Path, Advice], object]


def cannot_exchange(_one: Path, _other: Path) -> None:
    """Answer of file systems without exchange."""
    raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))


def write_plan(folder: Path, advice: Advice) -> object:
    """As in the command ``plan``: check ``--out``, then write everything."""
    return plan_files.write_plan_folder(folder, {}, advice.plan)


def write_advisory(folder: Path, advice: Advice) -> object:
    """As in the command ``advise`` and the DAG's task ``publish``."""
    return advisory_files.write_advisory(folder, {}, advice.plan)


@dataclass(frozen=True)
class Case:
    """One command over one state of its folder."""

    command: str
    write: Writer
    write_old: Writer | None  # None: no old advisory
    layout: str
    name: str = "plan"
    is_checked: bool = True

    @property
    def exchange(self) -> Callable[[Path, Path], None]:
        return exchange_folders if self.layout == "exchange" else cannot_exchange

    @property
    def title(self) -> str:
        return f"{self.command} over {'an advisory' if self.write_old else 'nothing'}, {self.layout}"


CASES = [
    Case(command, write, old, layout, name, is_checked)
    for layout in ("exchange", "link")
    for command, write, old, name, is_checked in (
        ("plan", write_plan, write_plan, "plan", True),
        ("plan", write_plan, write_advisory, "plan", True),
        ("plan", write_plan, None, "plan", True),
        ("advise", write_advisory, write_advisory, "advisory", True),
        ("advise", write_advisory, write_plan, "advisory", True),
        ("publish", write_advisory, write_advisory, "published/cluster/run", False),
        ("publish", write_advisory, None, "published/cluster/run", False),
    )
]


@dataclass(frozen=True)
class Outcome:
    """Result of one moment."""

    operation: str
    ended: str
    stands: str  # old, new, or what is wrong
    left_beside: int

    @property
    def is_right(self) -> bool:
        return self.stands in ("old", "new")


@dataclass(frozen=True)
class Bench:
    """A place to write, an old and a new advisory."""

    root: Path
    old: Advice
    new: Advice

    def outcomes(self, case: Case, strike: Strike, step: int) -> Iterator[Outcome]:
        """One for each moment."""
        before, after = self._stage(case, self.old), self._content(case, self.new)
        standing = self._content(case, self.old) if case.write_old else {}
        operations = self._run(case, before, Striker()).seen
        for moment in range(1 + (len(operations) + int(strike.value[0] == "C")) % step, len(operations) + 1, step):
            if strike is Strike.KILL_WITHIN and operations[moment - 1] != "write":
                continue
            ending = self._run(case, before, Striker(moment, strike))
            result = self._found(case)
            stands = "new" if result == after else "old" if result == standing else "a mixture"
            beside = self._count_beside(case)
            ended = "killed" if ending.is_killed else type(ending.error).__name__ if ending.error else "done"
            outcome = Outcome(operations[moment - 1], ended, stands, beside)
            yield outcome if stands == "a mixture" else self._again(case, after, outcome, ending.error, strike)

    def _again(
        self, case: Case, after: dict[str, bytes], outcome: Outcome, error: BaseException | None, strike: Strike
    ) -> Outcome:
        """The error names a file of the folder; the next run succeeds and leaves nothing else."""
        folder = self.root / case.name
        if isinstance(error, OSError) and strike is Strike.FULL:
            named = str(error.filename or "")
            if ".new-" in named or not named.startswith(str(folder)):
                return replace(outcome, stands=f"an error that names {named!r}")
        self._write(case, self.new, Striker())
        if self._found(case) != after:
            return replace(outcome, stands="the next run wrote something else")
        if self._count_beside(case):
            return replace(outcome, stands="the next run left something beside")
        return outcome

    def _found(self, case: Case) -> dict[str, bytes]:
        """A reader's result; nothing behind a missing link."""
        folder = self.root / case.name
        version_folder = advisory_folder(folder)
        return {} if version_folder == folder and (folder / "versions").exists() else content_of(version_folder)

    def _run(self, case: Case, before: Path, striker: Striker) -> Ending:
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.copytree(before, self.root, symlinks=True)
        return end_of(partial(self._write, case, self.new), striker)

    def _write(self, case: Case, advice: Advice, striker: Striker, write: Writer | None = None) -> None:
        folder = self.root / case.name
        exchange = striker.counted("exchange", case.exchange)
        for module in (plan_files, advisory_files):
            module.replace_folder = partial(replace_folder, exchange=exchange)
        if case.is_checked:
            check_folder(folder, exchange=exchange)
        (write or case.write)(folder, advice)

    def _stage(self, case: Case, advice: Advice) -> Path:
        """The place before each run, kept beside it."""
        before = self.root.with_name("before")
        for path in (before, self.root):
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir()
        if case.write_old:
            self._write(case, advice, Striker(), case.write_old)
            shutil.rmtree(before)
            shutil.copytree(self.root, before, symlinks=True)
        return before

    def _content(self, case: Case, advice: Advice) -> dict[str, bytes]:
        write = case.write if advice is self.new else case.write_old
        if write is write_plan:
            return plan_files.plan_folder_files({}, advice.plan)
        return advisory_files.advisory_files({}, advice.plan)

    def _count_beside(self, case: Case) -> int:
        """Folders and links outside complete advisories."""
        folder = self.root / case.name
        beside = [path for path in folder.parent.glob("*") if path != folder] if folder.parent.exists() else []
        beside += [path for path in folder.parent.glob(".*") if path not in beside] if folder.parent.exists() else []
        versions = list((folder / "versions").glob("*"))
        links = list(folder.glob(".current-*"))
        return len(beside) + max(0, len(versions) - 1) + len(links)


def make_bench(root: Path) -> Bench:
    """Two advisories of one cluster that differ in every file."""
    rows = [row("t", partition, [0, 1] if partition % 3 else [1, 0]) for partition in range(24)]
    wide, narrow = (PlanOptions(within=band, moves_per_broker=4, with_frontier=False) for band in (0.6, 0.1))
    snapshot = cluster(rows, brokers(4))
    advices = advise(snapshot, AdviceRequest(wide)), advise(snapshot, AdviceRequest(narrow))
    assert 0 < len(advices[0].plan.waves) != len(advices[1].plan.waves)
    # Rendering comes before the first file and takes ten times as long as all of them: once for each is enough.
    plans = {
        advice.plan.plan_id: plan_files.plan_folder_files(
            advisory_document(advice.snapshot, advice.plan, (), ()), advice.plan
        )
        for advice in advices
    }
    advisories = {
        advice.plan.plan_id: advisory_files.advisory_files(advice.document(), advice.plan) for advice in advices
    }
    plan_files.plan_folder_files = lambda _document, plan: plans[plan.plan_id]
    advisory_files.advisory_files = lambda _document, plan: advisories[plan.plan_id]
    return Bench(root / "place", *advices)


def main() -> int:
    """Print the table; 1 where a moment left a mixture, or for too few moments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step", type=int, default=1, help="every N-th moment")
    parser.add_argument("--moments", action="store_true", help="one line for each moment")
    parser.add_argument("--least", type=int, default=1, help="exit code 1 for fewer moments in all")
    arguments = parser.parse_args()
    memory = Path("/dev/shm")  # a sync costs nothing there; moments are the same
    wrong = total = 0
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as root:
        bench = make_bench(Path(root))
        print("| command, folder, layout | strike | moments | old stands | new stands | mixture | litter, gone after |")
        print("|---|---|---|---|---|---|---|")
        for case in CASES:
            for strike in Strike:
                outcomes = list(bench.outcomes(case, strike, arguments.step))
                counts = Counter(outcome.stands if outcome.is_right else "wrong" for outcome in outcomes)
                litter = sum(outcome.left_beside > 0 for outcome in outcomes)
                print(
                    f"| {case.title} | {strike.value} | {len(outcomes)} | {counts['old']} | {counts['new']} "
                    f"| {counts['wrong']} | {litter} |"
                )
                for number, outcome in enumerate(outcomes, start=1):
                    if arguments.moments or not outcome.is_right:
                        print(f"    {number} {outcome.operation}: {outcome.ended}, {outcome.stands}")
                wrong, total = wrong + counts["wrong"], total + len(outcomes)
    print(f"{total} moments, {wrong} wrong")
    return 1 if wrong or total < arguments.least else 0


if __name__ == "__main__":
    sys.exit(main())
