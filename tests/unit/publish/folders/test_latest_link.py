from pathlib import Path

from rebalance_advisor.publish.folders import LATEST, point_latest


def test_a_link_that_a_killed_process_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / ".latest-0badcafe").symlink_to("run")
    (tmp_path / ".latest-notes").write_text("somebody's")
    assert point_latest(tmp_path / "run")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".latest-notes", LATEST, "run"]
