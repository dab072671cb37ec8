from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kafka_assignors.errors import AssignorError
from kafka_assignors.partitioners import registry as partitioners
from kafka_assignors.registry import by_name, own_names
from kafka_rebalance.errors import UsageError
from kafka_rebalance.facts import refusal_of
from kafka_rebalance.groups.group_replay import GroupReplay
from kafka_rebalance.groups.subscriptions import SubscriptionBasis
from kafka_rebalance.render import render
from kafka_rebalance.scoring.scores import GroupScore
from rebalance_advisor.own_strategies import child
from rebalance_advisor.own_strategies.error_summary import error_summary
from rebalance_advisor.own_strategies.limits import DEFAULTS, LEAST_BYTES, MIB, Limits, limits_of
from rebalance_advisor.own_strategies.registering import described, own_strategies
from rebalance_advisor.own_strategies.targets import Kind, installed_targets, read_target, targets_here, targets_of
from tests.unit.assignors.groups import answer, group

ONE_READS = """
class {name}:
    name = "{told}"
    versions = "{versions}"

    def assign_members(self, members, topics):
        return {{members[{index}].id: [(t.name, p) for t in topics for p in range(t.partitions)]}}


class Keyless:
    name = "keyless"

    def partition_of(self, key, partitions):
        return 0
"""


def module(folder: Path, name: str = "First", strategy_name: str = "first-reads", index: int = 0) -> Path:
    file = folder / f"{name.lower()}_reads.py"
    file.write_text(ONE_READS.format(name=name, told=strategy_name, index=index, versions=f"{name} 1.0"))
    return file


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with an entry point of each kind, and one that names what is not there."""
    module(tmp_path)
    folder = tmp_path / "first_reads-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: first-reads\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(
        "[kafka_rebalance.assignors]\nlost = nowhere:Lost\nfirst-reads = first_reads:First\n"
        "[kafka_rebalance.partitioners]\nkeyless = first_reads:Keyless\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_an_installed_package_is_found_and_asked_without_being_imported_here(installed: Path) -> None:
    given = module(installed, "Last", "last-reads", -1)
    targets = targets_of([f"{given}:Last"], Kind.ASSIGNOR) + installed_targets(Kind.PARTITIONER)
    strategies = described(targets)
    assert [(strategy.name, strategy.versions) for strategy in strategies] == [
        ("first-reads", "First 1.0"), ("lost", ""), ("last-reads", "Last 1.0"), ("keyless", ""),
    ]  # fmt: skip
    request = group({"t": 2}, {"a": ["t"], "b": ["t"]})
    with own_strategies(strategies):
        assert own_names()[-3:] == ("first-reads", "lost", "last-reads")
        for name, reader in (("first-reads", "a"), ("last-reads", "b")):
            assert len(answer(request, by_name(name).assign(request))[reader]) == 2
        with pytest.raises(AssignorError, match="Raised: ModuleNotFoundError: No module named 'nowhere'"):
            by_name("lost").assign(request)
        assert "keyless" in partitioners.names()
    assert not {"first-reads", "lost", "last-reads"} & set(own_names())
    assert "first_reads" not in sys.modules


def test_a_name_that_is_taken_is_told_and_never_asked(tmp_path: Path) -> None:
    files = [module(tmp_path, *names) for names in (("Mine", "mine"), ("Other", "mine"), ("Range", "range"))]
    places = [f"{file}:{name}" for file, name in zip(files, ("Mine", "Other", "Range"), strict=True)]
    strategies = described([read_target(reference, Kind.ASSIGNOR) for reference in [places[0], *places]])
    assert [strategy.name for strategy in strategies] == ["mine", places[1], places[2]]
    with (
        own_strategies(strategies),
        pytest.raises(
            AssignorError, match=r"NameTaken: .*range_reads\.py:Range calls itself range, as another one does"
        ),
    ):
        by_name(places[2]).assign(group({"t": 1}, {"a": ["t"]}))


def test_a_name_shows_as_itself_wherever_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "odd.py"
    file.write_text(ONE_READS.format(name="Odd", told="a\\x00b\\u202e\\ud800", index=0, versions="1\\n"))
    (strategy,) = described([read_target(f"{file}:Odd", Kind.ASSIGNOR)])
    assert (strategy.name, strategy.versions) == (r"a\x00b\u202e\ud800", r"1\n")
    with own_strategies([strategy]):
        assert by_name(strategy.name).assign(group({"t": 1}, {"a": ["t"]})).counts.tolist() == [1]


@pytest.mark.parametrize("text", ["", "a", "a:", ":B", "a b:C", "a.py", "a:b c", "a-b:C", "a..b:C", "x" * 2000 + ":C"])
def test_a_place_without_a_class_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"names no class; write module:Class or FILE\.py:Class"):
        read_target(text, Kind.ASSIGNOR)


def test_a_file_that_is_not_there_is_wrong_usage_before_anything_is_started(tmp_path: Path) -> None:
    reference = f"{tmp_path}/nearest.py:Nearest"
    with pytest.raises(UsageError, match="there is no file"):
        targets_here([reference], Kind.ASSIGNOR)
    (tmp_path / "nearest.py").touch()
    (registered,) = [
        candidate for candidate in targets_here([reference], Kind.ASSIGNOR) if candidate.reference == reference
    ]
    assert (registered.is_file, registered.module, registered.attribute) == (True, f"{tmp_path}/nearest.py", "Nearest")


def test_what_came_of_each_is_told_in_a_line() -> None:
    unread, raised = refusal_of(AssignorError("Unread", "1")), refusal_of(AssignorError("Raised", "x"))
    rows = [
        [("b", unread), ("a", None), ("b", unread), ("range", None)],
        [("b", None)] * 2,
        [("b", None), ("b", raised)],
    ]
    groups = [
        GroupReplay(
            "g", SubscriptionBasis.GIVEN, None,
            tuple(GroupScore("g", name, None, False, 1, 1, error=error) for name, error in scores), (), None,
        )
        for scores in rows
    ]  # fmt: skip
    assert error_summary(groups, ["a", "b", "c"]) == [
        "own strategy a: 1 of 1 groups answered",
        f"own strategy b: 1 of 3 groups answered; the first refusal: {render(unread)}",
        "own strategy c: 0 of 0 groups answered",
    ]


def test_limits_are_the_usual_ones_but_for_what_is_given() -> None:
    assert limits_of(None, None) == DEFAULTS == Limits(30.0, 10.0, 1024 * MIB, 3)
    assert limits_of(2, LEAST_BYTES) == Limits(answer_s=2, memory_bytes=64 * MIB)


def test_the_process_of_a_strategy_imports_neither_numpy_nor_kernels() -> None:
    heavy = f"import sys, {child.__name__}; print(sorted({{'numpy', 'numba', 'scipy'}} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", heavy], capture_output=True, text=True, check=True).stdout == "[]\n"
