"""One message out, by an Airflow connection of type smtp or slackwebhook."""

from __future__ import annotations

import logging
import re
from html import escape
from urllib.parse import urlsplit

from rebalance_advisor.notify.messages import Message

_PATH_PARTS = re.compile(r"[\w-]{8,}")  # a part, not the path: an error message may quote what is around it


def send_mail(connection_id: str, address: str, message: Message) -> None:
    """Plain lines in a mail of HTML, which is what the provider sends; the connection says from whom."""
    from airflow.providers.smtp.hooks.smtp import SmtpHook

    body = escape("\n".join((message.subject, "", *message.lines)))
    with SmtpHook(smtp_conn_id=connection_id) as hook:
        hook.send_email_smtp(
            to=address, subject=f"[Kafka advisor] {message.subject}", html_content=f"<pre>{body}</pre>"
        )


def send_slack(connection_id: str, message: Message) -> None:
    """As text; what Slack reads as links and mentions is written out.

    The webhook's path is its password: the client gets a logger that drops its requests, and the path is masked.
    """
    from airflow.providers.common.compat.sdk import mask_secret
    from airflow.providers.slack.hooks.slack_webhook import SlackWebhookHook

    quiet = logging.getLogger(f"{__name__}.slack")
    quiet.setLevel(logging.WARNING)
    hook = SlackWebhookHook(slack_webhook_conn_id=connection_id, logger=quiet)
    mask_secret([part for part in _PATH_PARTS.findall(urlsplit(hook.client.url).path) if part != "services"])
    text = "\n".join((f"*{message.subject}*", *message.lines))
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    hook.send_text(escaped)
