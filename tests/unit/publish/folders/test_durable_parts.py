from __future__ import annotations

import os
from pathlib import Path

import pytest

from kafka_rebalance.options.plan_options import PlanOptions
from kafka_rebalance.plans.pipeline import make_plan
from rebalance_advisor.cli import interrupt, shell
from rebalance_advisor.publish.folders import (
    MARKER,
    Marker,
    naming,
    remove_left_over,
    remove_ours,
    work_folder,
    write_all,
    write_file,
)
from rebalance_advisor.publish.plan_files import render_commands
from tests.unit.planner.sample_clusters import GB, brokers, cluster, row
from tests.unit.plans.hand_plans import SNAPSHOT


def test_an_error_names_the_file_that_it_is_about(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="wanted") as caught, naming(tmp_path / "wanted"):
        raise OSError(28, "No space left on device")
    assert caught.value.filename == str(tmp_path / "wanted")


def test_a_file_is_written_whole_and_never_over_another(tmp_path: Path) -> None:
    write_file(tmp_path / "a", b"x" * 100_000)
    assert (tmp_path / "a").read_bytes() == b"x" * 100_000
    with pytest.raises(FileExistsError):
        write_file(tmp_path / "a", b"y")
    reader, writer = os.pipe()
    write_all(writer, b"abc")
    os.close(writer)
    assert os.read(reader, 10) == b"abc"
    os.close(reader)


def test_a_work_folder_is_gone_afterwards_with_what_its_marker_names(tmp_path: Path) -> None:
    with work_folder(tmp_path, ".w-", Marker(("a.txt",))) as folder:
        assert (folder / MARKER).exists()
        (folder / "a.txt").write_text("x")
        remove_left_over(tmp_path, ".w-")
        assert folder.exists()  # its run is under way
    assert list(tmp_path.iterdir()) == []


def test_a_strangers_file_keeps_the_folder(tmp_path: Path) -> None:
    with work_folder(tmp_path, ".w-", Marker(("a.txt",))) as folder:
        (folder / "mine.txt").write_text("x")
    assert (folder / "mine.txt").exists()
    with pytest.raises(OSError, match=r"mine|empty"):
        remove_ours(folder)


def test_commands_name_every_wave_and_its_way_back() -> None:
    plan = make_plan(SNAPSHOT, PlanOptions(within=0.2, with_frontier=False))
    text = render_commands(plan)
    assert text.count("--execute --throttle") == len(plan.waves) + len(plan.rollback.waves if plan.rollback else ())
    assert "waves/01.json" in text
    assert "rollback/01.json" in text
    quiet = make_plan(cluster([row("t", p, (p,), GB) for p in range(3)], brokers(3)), PlanOptions())
    assert "--execute" not in render_commands(quiet)


def test_ctrl_c_has_the_exit_code_of_a_shell() -> None:
    assert interrupt.EXIT_INTERRUPTED == 128 + 2
    assert callable(shell.main)
