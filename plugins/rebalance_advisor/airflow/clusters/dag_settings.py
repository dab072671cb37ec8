"""What a cluster's table in ``clusters.toml`` says of its DAGs: when they run, whose they are, who may use them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.airflow.clusters.notify_settings import NotifySettings, read_notify
from rebalance_advisor.airflow.clusters.own_moment import own_moment

OFF = "off"
COLLECT_SCHEDULE, ADVISE_SCHEDULE = "H * * * *", "H 5 * * *"
MOST_RETRIES = 20
LONGEST_TAG = 100  # Airflow's own limit
# Airflow's words for what a role may do with a DAG (auth managers that know permissions of single DAGs heed them).
ACTIONS = ("can_read", "can_edit", "can_delete")


@dataclass(frozen=True, slots=True)
class DagSettings:
    """The settings of one cluster's DAGs.

    schedule          of advice: cron in UTC, with ``H`` for a moment of the cluster's own, or "off": by hand alone
    collect_schedule  of readings
    permissions       role -> what it may do with them; None: as Airflow has it for all DAGs
    notify            who is told of it
    """

    schedule: str = ADVISE_SCHEDULE
    collect_schedule: str = COLLECT_SCHEDULE
    owner: str = "kafka-platform"
    tags: tuple[str, ...] = ()
    retries: int = 2
    permissions: Mapping[str, tuple[str, ...]] | None = field(default=None)
    notify: NotifySettings = field(default_factory=NotifySettings)


def read_dag_settings(table: Mapping[str, Any], place: str, cluster: str) -> DagSettings:
    """From the keys of a cluster's table that are settings, ``H`` of its schedules being moments of the cluster's own.

    Raises InvalidInputError with the key that is wrong.
    """
    given = {}
    for key, read in READERS.items():
        if key in table:
            try:
                given[key] = read(table[key])
            except ValueError as error:
                raise InvalidInputError.at(f"{place} {key}", str(error)) from error
    settings = DagSettings(**given)
    return replace(
        settings,
        schedule=own_moment(settings.schedule, f"advise {cluster}"),
        collect_schedule=own_moment(settings.collect_schedule, f"collect {cluster}"),
    )


def _schedule(value: Any) -> str:
    """Five fields of cron, a word like @daily, or "off"."""
    text = _text(value)
    if text == OFF:
        return text
    from croniter import croniter

    try:
        croniter(own_moment(text, "")).get_next()  # the 30th of February is a date that never comes
    except (ValueError, KeyError, AttributeError) as error:
        raise _no_schedule(text) from error
    if len(text.split()) not in (1, 5):  # six are seconds to some and years to others
        raise _no_schedule(text)
    return text


def _no_schedule(text: str) -> ValueError:
    return ValueError(f'{excerpt(text)} is no schedule: give cron in UTC, as "0 5 * * *" or "H 5 * * *", or "off"')


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{excerpt(value)} is no text")
    return value


def _tags(value: Any) -> tuple[str, ...]:
    tags = _texts(value)
    if long := [tag for tag in tags if len(tag) > LONGEST_TAG]:
        raise ValueError(f"{excerpt(long[0])} is longer than {LONGEST_TAG} characters")
    return tags


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise ValueError(f"{excerpt(value)} is no list of texts")  # noqa: TRY004 (wrong input, not wrong code)
    return tuple(_text(part) for part in value)


def _retries(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MOST_RETRIES:
        raise ValueError(f"{excerpt(value)} is no number from 0 to {MOST_RETRIES}")
    return value


def _permissions(value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict) or not value:
        raise ValueError(f'{excerpt(value)} is no table of roles: write role = ["can_read", "can_edit"]')
    permissions = {_text(role): _texts(actions) for role, actions in value.items()}
    strange = [action for actions in permissions.values() for action in actions if action not in ACTIONS]
    if strange:
        raise ValueError(f"{excerpt(strange[0])} is none of {', '.join(ACTIONS)}")
    return permissions


READERS: Mapping[str, Callable[[Any], Any]] = {
    "schedule": _schedule,
    "collect_schedule": _schedule,
    "owner": _text,
    "tags": _tags,
    "retries": _retries,
    "permissions": _permissions,
    "notify": read_notify,
}
