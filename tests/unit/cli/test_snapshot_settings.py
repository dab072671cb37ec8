from pathlib import Path

import pytest

from rebalance_advisor.cli.main import main

FILE = """security.protocol=PLAINTEXT
security.protocol=plaintext
acks=all
ssl.truststore.location=/ca.jks
schema.registry.url=https://user:hidden-secret@registry.example.org
linger.ms=5
"""


def said(tmp_path: Path, capsys: pytest.CaptureFixture[str], *more: str) -> list[str]:
    file = tmp_path / "client.properties"
    file.write_text(FILE)
    arguments = [
        "snapshot",
        "--bootstrap",
        "127.0.0.1:1",
        "--command-config",
        str(file),
        "--out",
        str(tmp_path / "s.json"),
    ]
    assert main([*arguments, *more]) == 1  # no listener there
    output = capsys.readouterr()
    assert output.out == ""
    assert "hidden-secret" not in output.err
    return [line.removeprefix(f"{file}: ").removeprefix(f"{tmp_path}/") for line in output.err.splitlines()]


def test_what_is_idle_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    *lines, error = said(tmp_path, capsys)
    file = tmp_path / "client.properties"
    assert lines == [
        f"security.protocol of {file}:1 is overridden by {file}:2",
        "'schema.registry.url' is no property of Kafka's clients",
        "ssl.truststore.location has no effect with security.protocol=PLAINTEXT",
    ]
    assert error.startswith("error: 127.0.0.1:1: the port is closed")


def test_what_changes_nothing_is_listed_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "without effect on reading: acks, linger.ms" in said(tmp_path, capsys, "--verbose")
