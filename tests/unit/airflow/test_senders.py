from __future__ import annotations

import asyncio
import gc
import json
import logging
import smtplib
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

from rebalance_advisor.notify import Message
from rebalance_advisor.outgoing_http import OutgoingRequestError
from stack.kafka.security import Certificates, make_certificates
from tests.unit.test_outgoing_http import SECRET, dripping, web_server

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("senders") / "keys")


def send(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from rebalance_advisor.airflow.senders import send_slack

    known = {"conn_type": "slackwebhook", "host": host, "password": f"T/B/{SECRET}", "extra": {"timeout": 1}}
    monkeypatch.setenv("AIRFLOW_CONN_SLACK_TEST", json.dumps(known))
    send_slack("slack_test", Message("news", "r", "a <b>", ("line", "<!here>")), "https://airflow/advisor/clusters/a")


def test_a_message_is_posted_and_a_refusal_is_said_without_the_webhook(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with web_server() as slack:
        send(slack.url, monkeypatch)
        assert slack.seen[0].startswith(f"POST /T/B/{SECRET} HTTP/1.1\n")
        sent = json.loads(slack.seen[0].splitlines()[-1])
        assert sent["text"] == "a &lt;b&gt;"
        assert [(block["type"], block["text"]["type"], block["text"]["text"]) for block in sent["blocks"]] == [
            ("header", "plain_text", "a <b>"), ("section", "plain_text", "• line\n• <!here>"),
            ("section", "mrkdwn", "<https://airflow/advisor/clusters/a|Open the advisory>"),
        ]  # fmt: skip
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


def test_the_certificate_of_slack_is_verified_by_the_systems_authorities(
    monkeypatch: pytest.MonkeyPatch, certificates: Certificates
) -> None:
    """``SSL_CERT_FILE`` replaces them."""
    with web_server(certificates.broker) as slack:
        for authority in (None, certificates.other_authority):
            if authority is not None:
                monkeypatch.setenv("SSL_CERT_FILE", str(authority))
            with pytest.raises(OutgoingRequestError, match="its certificate is not trusted"):
                send(slack.url, monkeypatch)
        assert slack.seen == []
        monkeypatch.setenv("SSL_CERT_FILE", str(certificates.authority))
        send(slack.url, monkeypatch)
        with pytest.raises(OutgoingRequestError, match="its certificate is not trusted"):
            send(slack.url.replace("127.0.0.1", "localhost"), monkeypatch)
    assert len(slack.seen) == 1


def mail(monkeypatch: pytest.MonkeyPatch, port: int, **extra: object) -> None:
    """Mail by Airflow's provider, which makes the connection from its own settings."""
    from rebalance_advisor.airflow.senders import send_mail

    given = {"from_email": "advisor@example.org", "timeout": 1, "retry_limit": 1, **extra}
    known = {"conn_type": "smtp", "host": "127.0.0.1", "port": port, "login": "me", "password": SECRET, "extra": given}
    monkeypatch.setenv("AIRFLOW_CONN_SMTP_TEST", json.dumps(known))
    send_mail("smtp_test", "platform@example.org", Message("news", "r", "a", ("line",)))


@pytest.mark.parametrize(
    ("head", "drop", "failure"),
    [
        (b"", b"", "Unable to connect to smtp server"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", b"x", "2.0-OpenSSH_9.2"),
        (b"220 " + b"x" * 10_000, b"x", "Line too long"),
    ],
    ids=["silent", "no SMTP", "a line without an end"],
)
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # smtplib leaves its socket
def test_a_mail_server_that_is_silent_or_speaks_nonsense_is_abandoned(
    monkeypatch: pytest.MonkeyPatch, head: bytes, drop: bytes, failure: str
) -> None:
    from airflow.providers.common.compat.sdk import AirflowException

    with dripping(head, drop) as url:
        with pytest.raises((AirflowException, smtplib.SMTPException), match=failure) as refusal:
            mail(monkeypatch, int(url.rpartition(":")[2]), disable_ssl=True)
        assert SECRET not in str(refusal.value)
        del refusal
        gc.collect()


class MailServer:
    """Takes mail and logins, and counts them; speaks TLS after STARTTLS where it has a certificate."""

    def __init__(self) -> None:
        self.port = self.mails = 0
        self.passwords: list[bytes] = []

    def log_in(self, *given: object) -> AuthResult:
        assert isinstance(given[-1], LoginPassword)
        self.passwords.append(given[-1].password)
        return AuthResult(success=True)

    async def handle_DATA(self, *_: object) -> str:
        self.mails += 1
        return "250 OK"


@contextmanager
def mail_server(certificate: Path | None) -> Iterator[MailServer]:
    """On a port of its own, until the end of the block."""
    server, context, loop = MailServer(), None, asyncio.new_event_loop()
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)

    def protocol() -> SMTP:
        return SMTP(server, loop=loop, tls_context=context, authenticator=server.log_in, auth_require_tls=False)

    listening = loop.run_until_complete(loop.create_server(protocol, "127.0.0.1", 0))
    server.port = listening.sockets[0].getsockname()[1]
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        listening.close()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0.05))
        loop.close()


@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")
def test_the_login_of_the_mail_server_waits_for_verified_tls(
    monkeypatch: pytest.MonkeyPatch, certificates: Certificates
) -> None:
    """The provider's default: TLS at once, or STARTTLS with ``disable_ssl``, with the system's authorities."""
    with web_server(certificates.broker) as tls_at_once, pytest.raises(ssl.SSLCertVerificationError):
        mail(monkeypatch, int(tls_at_once.url.rpartition(":")[2]), timeout=30)
    unverified = ((None, smtplib.SMTPNotSupportedError), (certificates.broker, ssl.SSLCertVerificationError))
    for certificate, refusal in unverified:
        with mail_server(certificate) as server, pytest.raises(refusal):
            mail(monkeypatch, server.port, disable_ssl=True, timeout=30)
        assert (server.passwords, server.mails) == ([], 0)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates.authority))
    with mail_server(certificates.broker) as server:
        mail(monkeypatch, server.port, disable_ssl=True, timeout=30)
    assert (server.passwords, server.mails) == ([SECRET.encode()], 1)
    gc.collect()
