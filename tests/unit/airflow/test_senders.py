"""Slack by Airflow's connection, against servers of ours: the webhook's path is a password."""

from __future__ import annotations

import json
import logging

import pytest

from rebalance_advisor.notify.messages import Message
from rebalance_advisor.outgoing_http import OutgoingRequestError
from tests.unit.test_outgoing_http import SECRET, dripping, web_server

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]


def send(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from rebalance_advisor.airflow.notify.senders import send_slack

    known = {"conn_type": "slackwebhook", "host": host, "password": f"T/B/{SECRET}", "extra": {"timeout": 1}}
    monkeypatch.setenv("AIRFLOW_CONN_SLACK_TEST", json.dumps(known))
    send_slack("slack_test", Message("news", "r", "a <b>", ("line",)))


def test_a_message_is_posted_and_a_refusal_is_said_without_the_webhook(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with web_server() as slack:
        send(slack.url, monkeypatch)
        assert slack.seen[0].startswith(f"POST /T/B/{SECRET} HTTP/1.1\n")
        assert json.loads(slack.seen[0].splitlines()[-1]) == {"text": "*a &lt;b&gt;*\nline"}
        slack.status, slack.body = 404, b"no_team"
        with pytest.raises(OutgoingRequestError, match=r"refuses the message \(404, 'no_team'\)") as refusal:
            send(slack.url, monkeypatch)
    assert SECRET not in f"{refusal.value} {caplog.text}"


def test_a_message_follows_no_redirect_and_a_silent_slack_is_abandoned(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with web_server() as slack, web_server() as other:
        for slack.status in (301, 302, 303, 307, 308):
            slack.headers = {"Location": other.url.replace("127.0.0.1", "localhost")}
            with pytest.raises(OutgoingRequestError, match="redirects to the host 'localhost'"):
                send(slack.url, monkeypatch)
    assert (len(slack.seen), other.seen) == (5, [])
    with dripping(b"", b"") as url, pytest.raises(OutgoingRequestError, match="no whole answer within 1 s"):
        send(url, monkeypatch)
    assert SECRET not in caplog.text
