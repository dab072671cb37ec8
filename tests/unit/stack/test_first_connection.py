from __future__ import annotations

import socket
from typing import Any

import pytest

from rebalance_advisor.cli.main import main as shell
from stack.airflow.client import failure_text
from stack.demo import pipeline


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def refuse(*_: Any, **__: Any) -> None:
    raise AssertionError("a machine was made before the connection was tried")


def test_a_wrong_address_ends_a_demo_with_the_words_of_snapshot(
    closed_port: int, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pipeline, "Machine", refuse)
    server = f"127.0.0.1:{closed_port}"
    assert pipeline.main(["--bootstrap", server]) == 1
    output = capsys.readouterr()
    assert shell(["snapshot", "--bootstrap", server, "--out", str(tmp_path / "cluster.json")]) == 1
    assert output.err == capsys.readouterr().err
    assert (output.out, output.err.count("\n")) == ("", 1)
    assert f"{server}: the port is closed" in output.err


def test_wrong_client_properties_end_it_too(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pipeline, "Machine", refuse)
    config = tmp_path / "client.properties"
    config.write_text("security.protocol=SASL\n")
    assert pipeline.main(["--bootstrap", "127.0.0.1:1", "--command-config", str(config)]) == 1
    assert capsys.readouterr().err.startswith("error: ")


def error(event: str, *raised: dict[str, Any]) -> dict[str, Any]:
    return {"level": "error", "event": event, "error_detail": list(raised)}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "no reason in its log"),
        (["a text"], "no reason in its log"),
        ([{"level": "info", "event": "started"}], "no reason in its log"),
        ([error("spark-submit\nfailed")], "spark-submit failed"),
        ([error("Task failed", {"exc_type": "KeyError", "exc_value": "", "frames": [{"lineno": 1}]})], "KeyError"),
        (
            [
                error("Task failed", {"exc_type": "A", "exc_value": "broker 99\nis not there", "frames": [{}]},
                      {"exc_type": "B", "exc_value": "its cause"}),
                error("afterwards"),
            ],
            "broker 99 is not there",
        ),
    ],
)  # fmt: skip
def test_a_failed_task_is_said_by_its_exception_without_frames(lines: list[Any], message: str) -> None:
    assert failure_text(lines) == message
