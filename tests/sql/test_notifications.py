"""From the store to a real SMTP server and a webhook's server: owners concerned, once, in words that escape nothing."""

from __future__ import annotations

import email
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from email import policy
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Message as MessageHandler

from kafka_assignors.errors import InvalidInputError
from kafka_rebalance.findings.finding import Severity
from rebalance_advisor import store
from rebalance_advisor.airflow.clusters import NotifySettings, read_dag_settings
from rebalance_advisor.notify import Message
from rebalance_advisor.store.failures import TaskFailure, record_failure
from rebalance_advisor.store.notifications import load_sent
from stack.waiting import PATIENCE_S, wait_for
from tests.sql.sample_clusters import finding, plain_snapshot, small_plan

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]
PLATFORM, PAYMENTS = "platform@example.org", "payments@example.org"
SEND_AT_DEBUG = """
import logging
import airflow.settings
airflow.settings.initialize()
logging.getLogger().addHandler(logging.StreamHandler())
logging.getLogger().setLevel(logging.DEBUG)
logging.debug("every logger")
from rebalance_advisor.airflow.senders import send_slack
from rebalance_advisor.notify import Message
for name in "AB":
    send_slack(name, Message("news", "r-1", "prod: all well", ("- one",)))
"""
HOSTILE = "<b>&*pay*\r\nBcc: evil@example.org"


class Letters(MessageHandler):
    """Every mail that the server took."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[tuple[str, str, str]] = []

    def prepare_message(self, session, envelope):  # type: ignore[no-untyped-def]
        result = email.message_from_bytes(envelope.original_content or envelope.content, policy=policy.default)
        body = result.get_body()
        assert body is not None
        self.taken.append((",".join(envelope.rcpt_tos), str(result["Subject"]), body.get_content()))
        return result

    def handle_message(self, message) -> None:  # type: ignore[no-untyped-def]
        """Nothing more is done with it."""


@pytest.fixture
def letters(monkeypatch) -> Iterator[list[tuple[str, str, str]]]:
    handler = Letters()

    def started() -> Controller | None:
        """None where another program took the port before the server did."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        controller = Controller(handler, hostname="127.0.0.1", port=port, ready_timeout=PATIENCE_S)
        try:
            controller.start()
        except OSError:
            return None
        return controller

    controller = wait_for("a mail server", started)
    assert controller is not None
    port = controller.port
    extra = {"from_email": "advisor@example.org", "disable_ssl": True, "disable_tls": True}
    known = {"conn_type": "smtp", "host": "127.0.0.1", "port": port, "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_SMTP_DEFAULT", json.dumps(known))
    yield handler.taken
    controller.stop()


@pytest.fixture
def said(monkeypatch) -> Iterator[list[str]]:
    """What a webhook was sent."""
    texts: list[str] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts.append("\n".join(block["text"]["text"] for block in sent["blocks"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class calls it so)
            pass

    server = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    known = {"conn_type": "slackwebhook", "host": f"http://127.0.0.1:{server.server_port}", "password": "T/B/x"}
    monkeypatch.setenv("AIRFLOW_CONN_SLACK_KAFKA", json.dumps(known))
    yield texts
    server.shutdown()
    server.server_close()


@pytest.fixture
def listed(tmp_path, dsn, monkeypatch) -> None:
    lines = [
        "[clusters.prod]", 'connection = "kafka_prod"', "[clusters.prod.notify]", f'mail = ["{PLATFORM}"]',
        'slack = "slack_kafka"', "[clusters.prod.notify.teams]", f'payments = ["{PAYMENTS}"]',
    ]  # fmt: skip
    (tmp_path / "clusters.toml").write_text("\n".join(lines))
    monkeypatch.setenv("ADVISOR_CLUSTERS_FILE", str(tmp_path / "clusters.toml"))
    monkeypatch.setenv("AIRFLOW_CONN_ADVISOR_POSTGRES", dsn)


def advise(connection, run_id: str, result) -> None:
    snapshot_id = store.save_snapshot(connection, plain_snapshot())
    store.mark_snapshot(connection, snapshot_id, is_blocked=False)
    store.start_run(connection, run_id=run_id, cluster="prod", snapshot_id=snapshot_id)
    store.save_findings(connection, run_id, result)
    store.save_plan(connection, run_id, small_plan(snapshot_id))
    store.publish_run(connection, run_id)


def send() -> int:
    from rebalance_advisor.airflow.notify_task import send_messages

    return int(send_messages.function())


@pytest.mark.usefixtures("listed")
def test_owners_hear_of_what_is_new_once_and_of_what_is_worse_again(connection, letters, said) -> None:
    ours = replace(finding(), code="single_broker_rack", subject="2", team="payments")
    advise(connection, "r-1.prod", [finding(), ours])
    assert send() == 3
    by_address = {address: (subject, body) for address, subject, body in letters}
    assert by_address.keys() == {PLATFORM, PAYMENTS}
    assert by_address[PLATFORM][0] == "[Kafka advisor] prod: rebalance, 2 new or worse findings"
    assert "<li>high: broker 2: " in by_address[PAYMENTS][1]
    assert by_address[PAYMENTS][1].count("high: ") == 1
    assert len(said) == 1
    assert send() == 0  # a retry, and the next hour
    advise(connection, "r-2.prod", [finding(), ours])
    assert send() == 0  # nothing is new
    advise(connection, "r-3.prod", [finding(severity=Severity.CRITICAL), ours])
    assert send() == 2
    assert "<li>critical (was high): Broker 1 holds 500 B" in letters[-1][2]
    assert [item.kind for item in load_sent(connection, "prod", PAYMENTS)] == []
    assert [item.subject_id for item in load_sent(connection, "prod", PLATFORM)] == ["r-1.prod", "r-3.prod"]


@pytest.mark.usefixtures("listed", "said")
def test_a_failed_run_is_told_with_its_last_words(connection, letters) -> None:
    advise(connection, "r-1.prod", [])
    assert send() == 3  # the first words of a quiet cluster
    assert {subject for _, subject, _ in letters} == {"[Kafka advisor] prod: rebalance, nothing new this week"}
    (snapshot_id,) = connection.execute("SELECT snapshot_id FROM store.snapshot").fetchone()
    store.start_run(connection, run_id="r-2.prod", cluster="prod", snapshot_id=snapshot_id)
    record_failure(connection, TaskFailure("prod", "advise_prod", "replay_and_plan", "r-2", "no executor is left"))
    assert send() == 2
    assert letters[-1][0] == PLATFORM
    assert "no executor is left" in letters[-1][2]
    assert send() == 0


@pytest.mark.usefixtures("listed")
def test_foreign_names_are_text_in_mail_and_chat(connection, letters, said) -> None:
    advise(connection, "r-1.prod", [finding(subject=HOSTILE)])
    send()
    (letter,) = [item for item in letters if item[0] == PLATFORM]
    assert "&lt;b&gt;&amp;*pay*\\r\\nBcc: evil" in letter[2]
    assert "<b>&*pay*\\r\\nBcc: evil" in said[0]  # of a block of plain text
    assert "<b>&" not in letter[2]


def test_a_mail_says_from_whom_and_is_one_letter_to_one_address(letters) -> None:
    from rebalance_advisor.airflow.senders import send_mail

    message = Message("news", "r-1", "prod: ünï <b>", ("one", "two & three"))
    send_mail("smtp_default", PLATFORM, message, "https://airflow/advisor/clusters/prod?a&b")
    ((address, subject, body),) = letters
    assert (address, subject) == (PLATFORM, "[Kafka advisor] prod: ünï <b>")
    assert "prod: ünï &lt;b&gt;" in body
    assert "<li>one</li>\n<li>two &amp; three</li>" in body.replace("\r\n", "\n")
    assert '<a href="https://airflow/advisor/clusters/prod?a&amp;b">' in body


@pytest.mark.usefixtures("listed", "letters")
def test_who_cannot_be_reached_fails_the_task_and_keeps_nobody_else_from_hearing(connection, monkeypatch) -> None:
    from rebalance_advisor.airflow.notify_task import NotificationError

    known = {"conn_type": "slackwebhook", "host": "http://127.0.0.1:1", "password": "T/B/x"}
    monkeypatch.setenv("AIRFLOW_CONN_SLACK_KAFKA", json.dumps(known))
    advise(connection, "r-1.prod", [finding()])
    with pytest.raises(NotificationError, match="1 recipients could not be told: prod, slack: slack_kafka"):
        send()
    assert len(load_sent(connection, "prod", PLATFORM)) == 1
    assert load_sent(connection, "prod", "slack: slack_kafka") == ()


def test_no_line_of_a_log_holds_the_token_of_a_webhook(said) -> None:
    """In a process whose loggers all write at DEBUG; the password is the token, or the whole address."""
    known = json.loads(os.environ["AIRFLOW_CONN_SLACK_KAFKA"])
    token, server = "T0AAAA/B0BBBB/cccSECRETccc", known["host"]
    addresses = {"A": {"host": server, "password": token}, "B": {"password": f"{server}/services/{token}"}}
    connections = {
        f"AIRFLOW_CONN_{name}": json.dumps({"conn_type": "slackwebhook"} | item) for name, item in addresses.items()
    }
    run = subprocess.run(
        [sys.executable, "-c", SEND_AT_DEBUG],
        env=os.environ | connections | {"AIRFLOW__LOGGING__LOGGING_LEVEL": "DEBUG"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert len(said) == 2
    assert "every logger" in run.stderr
    assert [line for line in (run.stdout + run.stderr).splitlines() if "SECRET" in line] == []


@pytest.mark.usefixtures("listed", "letters")
def test_a_failure_is_told_without_the_token_of_the_webhook(connection, monkeypatch) -> None:
    from rebalance_advisor.airflow.notify_task import NotificationError

    known = {"conn_type": "slackwebhook", "password": "http://127.0.0.1:1/services/T0/B0/cccSECRETccc\x7f"}
    monkeypatch.setenv("AIRFLOW_CONN_SLACK_KAFKA", json.dumps(known))
    advise(connection, "r-1.prod", [finding()])
    with pytest.raises(NotificationError, match="is no address of HTTP") as untold:
        send()
    assert "SECRET" not in str(untold.value)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], "is no object"), ({"mails": []}, "did you mean mail"), ({"mail": "a@b"}, "'a@b' is no list"),
        ({"mail": ["nobody"]}, "is no address"), ({"mail": ["a@b\r\nBcc: c@d"]}, "is no address"),
        ({"teams": {"x": ["a b@c"]}}, "teams: 'a b@c' is no address"), ({"slack": ""}, "slack: '' is no text"),
        ({"late_after_hours": 0}, "no number of hours"), ({"late_after_hours": True}, "no number of hours"),
    ],
)  # fmt: skip
def test_a_wrong_table_is_refused_with_its_key(table, message) -> None:
    with pytest.raises(InvalidInputError, match=f"^here notify: .*{message}"):
        read_dag_settings({"notify": table}, "here", "a")
    assert read_dag_settings({"notify": {}}, "here", "a").notify == NotifySettings()
