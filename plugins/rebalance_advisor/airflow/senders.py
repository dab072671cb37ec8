from __future__ import annotations

import re
from html import escape
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from kafka_assignors.visible_text import excerpt
from rebalance_advisor.notify import Message
from rebalance_advisor.outgoing_http import OutgoingRequestError, ask, checked_address

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
        address = checked_address(client.url, has_secret=True)
        body = excerpt(answer.body.decode("utf-8", "replace"))
        raise OutgoingRequestError(address, f"refuses the message ({answer.status}, {body})", "check the webhook's URL")


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
    shortened = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return {"type": "plain_text", "text": shortened, "emoji": False}
