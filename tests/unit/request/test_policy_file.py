import json
from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.policy import BrokenRule, PlanPolicy, WeeklyWindow
from kafka_rebalance.snapshot.codec import snapshot_to_document
from rebalance_advisor.cli.main import main
from rebalance_advisor.cli.policy import EXIT_AGAINST_POLICY, KEYS, exit_code_with, read_policy
from tests.unit.plans.hand_plans import SNAPSHOT

WHOLE = """
max_hours = 6
max_wave_hours = 1.5
max_move_bytes = "2TB"
max_moves = 500
max_leader_changes = 1000
max_throttle = "100MB"
max_gap = "20%"
never_moved = ["payments\\\\..*"]
never_filled = [7]
windows = ["Mon-Fri 22:00-05:00"]
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "policy.toml"
    file.write_text(text)
    return file


def test_every_key_is_read(tmp_path: Path) -> None:
    assert read_policy(written(tmp_path, WHOLE)) == PlanPolicy(
        6.0, 1.5, 2 * 10**12, 500, 1000, 10**8, 0.2, ("payments\\..*",), (7,),
        (WeeklyWindow.from_text("Mon-Fri 22:00-05:00"),),
    )  # fmt: skip


def test_the_manual_tells_every_key() -> None:
    page = (Path(__file__).parents[3] / "docs" / "carry-out-a-plan.md").read_text()
    assert [key for key in KEYS if f"| `{key}` |" not in page] == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "sets no limit"),
        ("max_hour = 1", "did you mean max_hours"),
        ("max_hours = -1", "max_hours"),
        (f"max_hours = {10**400}", "max_hours"),
        ("max_hours = true", "max_hours"),
        ("max_hours = nan", "max_hours"),
        ("max_moves = 1.5", "max_moves"),
        ("max_gap = 'wide'", "max_gap"),
        ("never_moved = 'a'", "is no list"),
        ("never_moved = ['(']", "never_moved"),
        ("never_filled = ['x']", "never_filled"),
        ("windows = ['night']", "is no window"),
        ("windows = [22]", "is no text"),
        ("max_hours", "is no TOML"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        read_policy(written(tmp_path, text))
    assert "policy.toml" in str(caught.value)


def test_verify_and_check_end_with_13_where_only_the_policy_is_against_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster, plan = tmp_path / "cluster.json", tmp_path / "plan"
    cluster.write_text(json.dumps(snapshot_to_document(SNAPSHOT)))
    assert main(["plan", str(cluster), "--out", str(plan), "--balance-within", "20%", "--no-frontier"]) == 0
    strict, loose = tmp_path / "strict.toml", tmp_path / "loose.toml"
    strict.write_text('max_move_bytes = "1GB"')
    loose.write_text('max_move_bytes = "5GB"')
    for command in ("verify", "check"):
        capsys.readouterr()
        arguments = [command, str(plan), str(cluster)]
        code = main(arguments)
        assert main([*arguments, "--policy", str(loose)]) == code
        assert "policy: kept" in capsys.readouterr().out
        assert main([*arguments, "--policy", str(strict)]) == (13 if code == 0 else code)
        assert "policy: max_move_bytes: 3.7 GiB" in capsys.readouterr().out
        main([*arguments, "--policy", str(strict), "--json"])
        assert [rule["rule"] for rule in json.loads(capsys.readouterr().out)["policy"]] == ["max_move_bytes"]


def test_what_is_worse_than_the_policy_keeps_its_code() -> None:
    assert [exit_code_with(code, []) for code in (0, 10, 12)] == [0, 10, 12]
    assert exit_code_with(0, None) == 0
    broken = [BrokenRule("max_moves", "")]
    assert [exit_code_with(code, broken) for code in (0, 10, 12)] == [EXIT_AGAINST_POLICY, 10, 12]
