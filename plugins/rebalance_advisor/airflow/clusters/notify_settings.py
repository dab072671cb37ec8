"""``[clusters.NAME.notify]``: who gets a cluster's messages, and by which Airflow connections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, TypeAlias

from pydantic import AfterValidator
from pydantic.dataclasses import dataclass

from kafka_rebalance.options.option import Checked
from kafka_rebalance.options.values import CHECKED, FilledText, Hours, Several
from kafka_rebalance.visible_text import excerpt

DEFAULT_SMTP = "smtp_default"
LATE_AFTER_HOURS = 26.0


def _address(text: str) -> str:
    # A line break would add headers to a mail.
    if text.count("@") != 1 or not text.isprintable() or " " in text:
        raise ValueError(f"{excerpt(text)} is no address")
    return text


_Addresses: TypeAlias = Annotated[tuple[Annotated[FilledText, AfterValidator(_address)], ...], Several()]


@dataclass(frozen=True, config=CHECKED)
class NotifySettings(Checked):
    """A cluster without addresses sends no messages.

    mail              gets every finding, failed and late advisories
    teams             team (of ``owners``) -> who gets its findings alone
    slack             an Airflow connection of type slackwebhook, which gets what ``mail`` does
    smtp              the Airflow connection of type smtp
    late_after_hours  age of the newest advisory from which on it is late
    """

    mail: _Addresses = ()
    teams: Mapping[str, _Addresses] = field(default_factory=dict, hash=False)
    slack: FilledText | None = None
    smtp: FilledText = DEFAULT_SMTP
    late_after_hours: Hours = LATE_AFTER_HOURS
