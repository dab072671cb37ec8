"""Options that contradict each other or the cluster end with exit code 2 and one line that names them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_rebalance.snapshot.codec import snapshot_to_document
from rebalance_advisor.cli.main import main
from tests.sample import for_each
from tests.unit.planner.sample_clusters import brokers, cluster, row

WRONG = {
    "--preferred-election --remove-broker 1": ("--preferred-election", "--remove-broker"),
    "--leaders-only --remove-broker 1": ("--leaders-only", "--remove-broker"),
    "--leaders-only --replication-factor 2": ("--leaders-only", "--replication-factor"),
    "--leaders-only --target disk=1.1": ("--leaders-only", "--target"),
    "--remove-broker 99": ("--remove-broker 99", "broker 99 is not in the cluster", "its brokers: 0, 1, 2"),
    "--demote-broker 99": ("--demote-broker 99", "not in the cluster"),
    "--exclude-broker 99": ("--exclude-broker 99", "not in the cluster"),
    "--remove-brokers 1": ("--remove-brokers", "did you mean --remove-broker?"),
    "--remove 1": ("--remove",),
    "--moves-per-broker 0": ("--moves-per-broker", "a whole number, 1 to"),
    "--expires-after-hours 0": ("--expires-after-hours", "give 1 to 878,400"),
    "--dead-band -1": ("--dead-band", "no share"),
    "--add-broker 1:rack-zz": ("--add-broker 1:rack-zz", "on rack rack-1"),
    "--add-broker 7:a --add-broker 7:b": ("--add-broker 7", "given twice"),
    "--target disk=1.1 --target disk=1.2": ("--target disk", "given twice"),
    "--cap disk=0": ("--cap", "above 0"),
    "--cap tape=5": ("--cap", "RESOURCE is one of disk, in, out"),
    "--cap replicas=2.5": ("--cap", "no whole number"),
    "--cap cpu=lots": ("--cap", "a number above 0"),
    "--cap disk": ("--cap", "RESOURCE=AMOUNT"),
    "--cap leaders=3 --cap leaders=4": ("--cap leaders", "given twice"),
    "--leaders-only --cap potential_out=5MB/s": ("--leaders-only", "--cap"),
    "--preferred-election --cap leaders=4": ("--preferred-election", "--cap"),
    "--target disk=0": ("--target", "0 × the mean"),
    "--target disk=1e308": ("--target", "1e+308"),
    "--target disk=1.2..1.1": ("--target", "low 1.2 is above high 1.1"),
    "--target disk=0.9..nan": ("--target", "no allowed range"),
    f"--max-move-bytes {'9' * 400}": ("--max-move-bytes", "999"),
    "--max-move-bytes 99999999999P": ("--max-move-bytes", "at most 9,223"),
    f"--max-moves {10**30}": ("--max-moves", "no whole number"),
    f"--remove-broker {2**31}": ("--remove-broker", "no broker id"),
    "--replication-factor 32768": ("--replication-factor", "32768"),
    "--replication-factor 0": ("--replication-factor", "0"),
    "--balance-within 1e308": ("--balance-within", "no share"),
    "--exclude-topic a{99999999999999999999}": ("--exclude-topic", "no regular expression"),
}


@pytest.fixture(scope="module")
def snapshot_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("input") / "snapshot.json"
    snapshot = cluster([row("t", p, [p % 3, (p + 1) % 3]) for p in range(6)], brokers(3, racks=3))
    file.write_text(json.dumps(snapshot_to_document(snapshot)))
    return file


@for_each("command", ["plan", "advise"])
@pytest.mark.parametrize("arguments", WRONG)
def test_wrong_usage_is_exit_code_2_and_nothing_is_written(
    command: str, arguments: str, snapshot_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    try:
        code = main([command, str(snapshot_file), "--out", str(out), *arguments.split()])
    except SystemExit as end:
        code = int(end.code or 0)
    output = capsys.readouterr().err
    assert code == 2
    assert all(word in output for word in WRONG[arguments])
    assert "Traceback" not in output
    assert not out.exists()


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon", ""])
def test_a_deadline_is_a_number_of_seconds_above_zero(
    seconds: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Refused before any request to a broker."""
    out = tmp_path / "snapshot.json"
    with pytest.raises(SystemExit) as end:
        main(["snapshot", "--bootstrap", "localhost:1", "--out", str(out), "--deadline", seconds])
    assert end.value.code == 2
    assert f"--deadline: {seconds!r} is not a number of seconds above 0" in capsys.readouterr().err
    assert not out.exists()
