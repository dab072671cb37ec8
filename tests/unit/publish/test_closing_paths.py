from __future__ import annotations

from pathlib import Path

from rebalance_advisor.publish.digest import closing_paths


def test_what_is_there_is_named(tmp_path: Path) -> None:
    assert closing_paths(tmp_path) == []
    for name in ("report.html", "plan.json", "commands.md"):
        (tmp_path / name).write_text("")
    assert [line.split()[0] for line in closing_paths(tmp_path)] == ["report:", "plan:", "to"]
