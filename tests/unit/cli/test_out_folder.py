from pathlib import Path

import pytest

from rebalance_advisor.cli.main import main


@pytest.mark.parametrize("command", ["plan", "advise"])
def test_a_folder_of_somebody_else_is_wrong_usage_before_the_input_is_looked_at(tmp_path: Path, command, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    assert main([command, str(tmp_path / "no-such-input.json"), "--out", str(tmp_path / "mine")]) == 2
    output = capsys.readouterr().err
    assert output.startswith(f"error: {tmp_path / 'mine'}: holds 'notes.txt' and no readable .rebalance-advisor")
    assert output.splitlines()[1:] == [f"see: rebalance-advisor {command} --help"]
    assert (tmp_path / "mine" / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("command", ["plan", "advise"])
def test_a_folder_that_can_be_written_is_not_made_for_an_input_that_cannot_be_read(tmp_path: Path, command, capsys):
    assert main([command, str(tmp_path / "no-such-input.json"), "--out", str(tmp_path / "a" / "plan")]) == 1
    assert "no-such-input.json" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
