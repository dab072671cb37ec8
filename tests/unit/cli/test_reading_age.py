import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kafka_rebalance.snapshot.codec import snapshot_to_document
from rebalance_advisor.cli.arguments import age_text, with_reading_age
from rebalance_advisor.cli.main import main
from tests.unit.planner.sample_clusters import brokers, cluster, row


@pytest.mark.parametrize(
    ("age", "text"),
    [
        (timedelta(), "snapshot 0 s old"),
        (timedelta(seconds=119), "snapshot 119 s old"),
        (timedelta(minutes=2), "snapshot 2 min old"),
        (timedelta(hours=2), "snapshot 2 h old"),
        (timedelta(hours=2, seconds=1), "OLD SNAPSHOT: 2 h old"),
        (timedelta(hours=47), "OLD SNAPSHOT: 47 h old"),
        (timedelta(days=21, hours=5), "OLD SNAPSHOT: 21 days old"),
    ],
)
def test_ages_in_words(age: timedelta, text: str) -> None:
    assert age_text(age) == text


def test_only_the_first_line_changes_and_nothing_without_a_time() -> None:
    now = datetime(2026, 11, 22, tzinfo=UTC)
    assert with_reading_age(["a", "b"], now - timedelta(minutes=5), now) == ["a; snapshot 5 min old", "b"]
    assert with_reading_age(["a", "b"], None, now) == ["a", "b"]


@pytest.mark.parametrize("command", ["plan", "advise"])
def test_a_reading_from_the_future_is_refused_before_anything_is_written(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = snapshot_to_document(cluster([row("t", partition, [0, 1]) for partition in range(12)], brokers(4)))
    document["captured_at"] = (datetime.now(UTC) + timedelta(days=400, minutes=1)).isoformat()
    (tmp_path / "cluster.json").write_text(json.dumps(document))
    assert main([command, str(tmp_path / "cluster.json"), "--out", str(tmp_path / "out"), "--no-frontier"]) == 1
    said = capsys.readouterr().err
    assert "is 400 days after this machine's" in said
    assert "set the wrong one of the two clocks right, and read the cluster again" in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["plan", "advise"])
def test_an_old_reading_is_called_old_and_the_files_are_the_same_tomorrow(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = snapshot_to_document(cluster([row("t", partition, [0, 1]) for partition in range(12)], brokers(4)))
    document["captured_at"] = (datetime.now(UTC) - timedelta(days=21)).isoformat()
    (tmp_path / "cluster.json").write_text(json.dumps(document))
    arguments = [command, str(tmp_path / "cluster.json"), "--out", str(tmp_path / "out"), "--no-frontier"]
    assert main(arguments) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("Verdict: ")
    assert first.endswith("; OLD SNAPSHOT: 21 days old")
    for file in (tmp_path / "out").rglob("*"):
        assert not file.is_file() or "21 days old" not in file.read_text()
    assert main([*arguments, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["reading_age_s"] == pytest.approx(21 * 86_400, abs=600)
    assert answer["not_covered"] == ""
