from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from airflow.sdk import task

from kafka_assignors.errors import AdvisorError
from rebalance_advisor.airflow.clusters import NotifySettings, clusters_file, read_clusters
from rebalance_advisor.airflow.connections import store_dsn
from rebalance_advisor.airflow.running import fail_without_retry
from rebalance_advisor.airflow.task_log import task_log

if TYPE_CHECKING:
    from rebalance_advisor.notify import Message
    from rebalance_advisor.store import Connection

_log = task_log(__name__)


class NotificationError(AdvisorError):
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
                    sent += _notify(connection, name, (recipient, team, send), entry.settings.notify.late_after_hours)
                except Exception as error:  # noqa: BLE001 (errors of other libraries)
                    # Stored, so redacted: a webhook's address is a password.
                    failures.append(f"{name}, {recipient}: {redact(str(error))}")
    if failures:
        raise NotificationError(f"{len(failures)} recipients could not be told: {'; '.join(failures)}")
    return sent


def _recipients(settings: NotifySettings) -> Iterator[tuple[str, str | None, Send]]:
    from rebalance_advisor.airflow.senders import send_mail, send_slack

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


def _notify(
    connection: Connection, cluster: str, recipient: tuple[str, str | None, Send], late_after_hours: float
) -> int:
    from rebalance_advisor.airflow.page import page_link
    from rebalance_advisor.notify import messages_for
    from rebalance_advisor.store.notifications import load_news, load_sent, load_state, record_sent

    who, team, send = recipient
    state = load_state(connection, cluster)
    if state is None:
        return 0
    messages = messages_for(
        state, load_news(connection, cluster), load_sent(connection, cluster, who),
        team=team, late_after_hours=late_after_hours, now=datetime.now(UTC),
    )  # fmt: skip
    for message in messages:
        send(message, page_link(cluster))
        record_sent(connection, cluster, who, message.kind, message.subject_id)
        _log.info("%s: %s told %s", cluster, who, message.subject)
    return len(messages)
