"""``[clusters.NAME.notify]``: who is told of a cluster, and by which Airflow connections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kafka_rebalance.options.limits import MOST_HOURS
from kafka_rebalance.visible_text import excerpt

DEFAULT_SMTP = "smtp_default"
LATE_AFTER_HOURS = 26.0
_KEYS = ("mail", "teams", "slack", "smtp", "late_after_hours")


@dataclass(frozen=True, slots=True)
class NotifySettings:
    """Nobody is told of a cluster without addresses.

    mail              hears of every finding, of failed and late advisories
    teams             team (of ``owners``) -> who hears of its findings alone
    slack             an Airflow connection of type slackwebhook, which hears what ``mail`` does
    smtp              the Airflow connection of type smtp
    late_after_hours  age of the newest advisory from which on it is late
    """

    mail: tuple[str, ...] = ()
    teams: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    slack: str | None = None
    smtp: str = DEFAULT_SMTP
    late_after_hours: float = LATE_AFTER_HOURS


def read_notify(value: Any) -> NotifySettings:
    """From the table. Raises ValueError with what is wrong in it."""
    if not isinstance(value, dict):
        raise ValueError(f"{excerpt(value)} is no table")  # noqa: TRY004 (wrong input, not wrong code)
    if unknown := sorted(set(value) - set(_KEYS)):
        raise ValueError(f"{excerpt(unknown[0])} is not known; known: {', '.join(_KEYS)}")
    teams = value.get("teams", {})
    if not isinstance(teams, dict):
        raise ValueError(f"teams: {excerpt(teams)} is no table of teams")  # noqa: TRY004
    hours = value.get("late_after_hours", LATE_AFTER_HOURS)
    if isinstance(hours, bool) or not isinstance(hours, int | float) or not 0 < hours <= MOST_HOURS:
        raise ValueError(f"late_after_hours: {excerpt(hours)} is no number of hours up to {MOST_HOURS:,}")
    slack = value.get("slack")
    return NotifySettings(
        mail=_addresses(value.get("mail", []), "mail"),
        teams={name: _addresses(found, f"teams {excerpt(name)}") for name, found in teams.items()},
        slack=None if slack is None else _connection(slack, "slack"),
        smtp=_connection(value.get("smtp", DEFAULT_SMTP), "smtp"),
        late_after_hours=float(hours),
    )


def _addresses(value: Any, place: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f"{place}: {excerpt(value)} is no list of addresses")  # noqa: TRY004
    for address in value:
        # A line break would add headers of somebody else's choice to a mail.
        if not isinstance(address, str) or address.count("@") != 1 or not address.isprintable() or " " in address:
            raise ValueError(f"{place}: {excerpt(address)} is no address")
    return tuple(value)


def _connection(value: Any, place: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{place}: {excerpt(value)} is no name of a connection")
    return value
