from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from html import escape
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow.sdk import task

from kafka_assignors.errors import AdvisorError
from kafka_assignors.visible_text import excerpt
from rebalance_advisor.airflow.clusters import NotifySettings, clusters_file, read_clusters
from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.running import fail_without_retry
from rebalance_advisor.airflow.task_log import task_log
from rebalance_advisor.notify import Message
from rebalance_advisor.outgoing_http import OutgoingRequestError, ask, checked_address

if TYPE_CHECKING:
    from rebalance_advisor.notify import Message
    from rebalance_advisor.store import Connection

_PATH_PARTS = re.compile(r"[\w-]{8,}")  # error messages may quote only parts


_HEADER_LIMIT, _SECTION_LIMIT = 150, 3_000  # Slack's characters
_OPEN = "Open the advisory"


def send_mail(connection_id: str, address: str, message: Message, link: str | None = None) -> None:
    from airflow.providers.smtp.hooks.smtp import SmtpHook

    lines = "".join(f"<li>{escape(line)}</li>\n" for line in message.lines)
    body = f"<p><b>{escape(message.subject)}</b></p>\n<ul>\n{lines}</ul>\n"
    body += f'<p><a href="{escape(link)}">{_OPEN}</a></p>\n' if link else ""
    with SmtpHook(smtp_conn_id=connection_id) as hook:
        hook.send_email_smtp(to=address, subject=f"[Kafka advisor] {message.subject}", html_content=body)


def send_slack(connection_id: str, message: Message, link: str | None = None) -> None:
    """Plain text without links and mentions.

    Raises OutgoingRequestError. Airflow's client follows redirects and logs the address, whose path is the password;
    here it is masked.
    """
    from airflow.providers.common.compat.sdk import mask_secret
    from airflow.providers.slack.hooks.slack_webhook import SlackWebhookHook

    client = SlackWebhookHook(slack_webhook_conn_id=connection_id).client
    mask_secret([part for part in _PATH_PARTS.findall(urlsplit(client.url).path) if part != "services"])
    answer = ask(
        client.url, document=_slack_document(message, link), has_secret=True, seconds=client.timeout, proxy=client.proxy
    )
    if answer.status != HTTPStatus.OK:
        place = checked_address(client.url, has_secret=True)
        said = excerpt(answer.body.decode("utf-8", "replace"))
        raise OutgoingRequestError(place, f"refuses the message ({answer.status}, {said})", "check the webhook's URL")


def _slack_document(message: Message, link: str | None) -> dict[str, Any]:
    lines = "\n".join(f"• {line}" for line in message.lines)
    blocks = [
        {"type": "header", "text": _plain(message.subject, _HEADER_LIMIT)},
        {"type": "section", "text": _plain(lines, _SECTION_LIMIT)},
    ]
    if link:
        text = {"type": "mrkdwn", "text": f"<{link}|{_OPEN}>", "verbatim": True}
        blocks.append({"type": "section", "text": text})
    escaped = message.subject.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return {"text": escaped, "blocks": blocks}


def _plain(text: str, limit: int) -> dict[str, Any]:
    shown = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return {"type": "plain_text", "text": shown, "emoji": False}


_log = task_log(__name__)


class UntoldError(AdvisorError):
    """Some recipients could not be reached."""


Send = Callable[["Message", str | None], None]  # and the address of the cluster's page


@task
@fail_without_retry
def send_messages() -> int:
    """Raise failures only after all other recipients got their messages."""
    from airflow.providers.common.compat.sdk import redact

    from rebalance_advisor import store

    sent, failures = 0, []
    with store.connect(store_dsn()) as connection:
        for name, entry in read_clusters(clusters_file()).entries.items():
            for recipient, team, send in _recipients(entry.settings.notify):
                try:
                    sent += _tell(connection, name, (recipient, team, send), entry.settings.notify.late_after_hours)
                except Exception as error:  # noqa: BLE001 (errors of other libraries)
                    # Stored, so redacted: a webhook's address is a password.
                    failures.append(f"{name}, {recipient}: {redact(str(error))}")
    if failures:
        raise UntoldError(f"{len(failures)} recipients could not be told: {'; '.join(failures)}")
    return sent


def _recipients(settings: NotifySettings) -> Iterator[tuple[str, str | None, Send]]:
    from rebalance_advisor.airflow.notify_task import send_mail, send_slack

    def by_mail(address: str) -> Send:
        return lambda message, link: send_mail(settings.smtp, address, message, link)

    def by_slack(connection_id: str) -> Send:
        return lambda message, link: send_slack(connection_id, message, link)

    for address in settings.mail:
        yield address, None, by_mail(address)
    for team, addresses in settings.teams.items():
        for address in addresses:
            yield f"{team}: {address}", team, by_mail(address)
    if settings.slack is not None:
        yield f"slack: {settings.slack}", None, by_slack(settings.slack)


def _tell(
    connection: Connection, cluster: str, recipient: tuple[str, str | None, Send], late_after_hours: float
) -> int:
    from rebalance_advisor.airflow.page import page_link
    from rebalance_advisor.notify import messages_for
    from rebalance_advisor.store.notifications import load_news, load_state, load_told, record_told

    who, team, send = recipient
    state = load_state(connection, cluster)
    if state is None:
        return 0
    messages = messages_for(
        state, load_news(connection, cluster), load_told(connection, cluster, who),
        team=team, late_after_hours=late_after_hours, now=datetime.now(UTC),
    )  # fmt: skip
    for message in messages:
        send(message, page_link(cluster))
        record_told(connection, cluster, who, message.kind, message.subject_id)
        _log.info("%s: %s told %s", cluster, who, message.subject)
    return len(messages)
