from __future__ import annotations

from pathlib import Path

from rebalance_advisor.cli.log_dirs import is_log_dir_plan, log_dir_lines
from tests.unit.verify.log_dirs.test_dir_rules import PLAN


def test_the_file_and_a_folder_with_it_alone(tmp_path: Path) -> None:
    assert is_log_dir_plan(tmp_path / "log_dirs.json")
    assert not is_log_dir_plan(tmp_path / "plan.json")
    assert not is_log_dir_plan(tmp_path)
    (tmp_path / "log_dirs.json").write_text("{}")
    assert is_log_dir_plan(tmp_path)
    (tmp_path / "plan.json").write_text("{}")
    assert not is_log_dir_plan(tmp_path)


def test_each_disk_before_and_after() -> None:
    lines = log_dir_lines(PLAN)
    assert lines[0].startswith("rebalance: ")
    assert lines[1:] == ["  broker 1 /d0: 60 bytes → 0", "  broker 1 /d1: 5.0% used → 34.8%"]
