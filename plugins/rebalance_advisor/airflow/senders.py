"""One message out, by an Airflow connection of type smtp or slackwebhook."""

from __future__ import annotations

import re
from html import escape
from http import HTTPStatus
from urllib.parse import urlsplit

from kafka_assignors.visible_text import excerpt
from rebalance_advisor.notify import Message
from rebalance_advisor.outgoing_http import OutgoingRequestError, ask, checked_address

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
    """As text; what Slack reads as links and mentions is written out. Raises OutgoingRequestError.

    The provider reads the connection and does not send: its client follows redirects, and logs the address, whose path
    is the password. The path is masked, because a refusal of the server may quote it.
    """
    from airflow.providers.common.compat.sdk import mask_secret
    from airflow.providers.slack.hooks.slack_webhook import SlackWebhookHook

    client = SlackWebhookHook(slack_webhook_conn_id=connection_id).client
    mask_secret([part for part in _PATH_PARTS.findall(urlsplit(client.url).path) if part != "services"])
    text = "\n".join((f"*{message.subject}*", *message.lines))
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    answer = ask(client.url, document={"text": escaped}, has_secret=True, seconds=client.timeout, proxy=client.proxy)
    if answer.status != HTTPStatus.OK:
        place = checked_address(client.url, has_secret=True)
        said = excerpt(answer.body.decode("utf-8", "replace"))
        raise OutgoingRequestError(place, f"refuses the message ({answer.status}, {said})", "check the webhook's URL")
