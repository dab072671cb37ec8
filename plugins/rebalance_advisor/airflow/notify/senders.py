"""One message out, by an Airflow connection of type smtp or slackwebhook."""

from __future__ import annotations

from html import escape

from rebalance_advisor.notify.messages import Message


def send_mail(connection_id: str, address: str, message: Message) -> None:
    """Plain lines in a mail of HTML, which is what the provider sends; the connection says from whom."""
    from airflow.providers.smtp.hooks.smtp import SmtpHook

    body = escape("\n".join((message.subject, "", *message.lines)))
    with SmtpHook(smtp_conn_id=connection_id) as hook:
        hook.send_email_smtp(
            to=address, subject=f"[Kafka advisor] {message.subject}", html_content=f"<pre>{body}</pre>"
        )


def send_slack(connection_id: str, message: Message) -> None:
    """As text; what Slack reads as links and mentions is written out."""
    from airflow.providers.slack.hooks.slack_webhook import SlackWebhookHook

    text = "\n".join((f"*{message.subject}*", *message.lines))
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    SlackWebhookHook(slack_webhook_conn_id=connection_id).send_text(escaped)
