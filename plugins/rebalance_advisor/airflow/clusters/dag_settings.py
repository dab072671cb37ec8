"""What a cluster's table in ``clusters.toml`` says of its DAGs: when they run, whose they are, who may use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields, replace
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, Strict
from pydantic.dataclasses import dataclass

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.option import Checked
from kafka_rebalance.options.values import CHECKED, FilledText, OneOf, Several, Value
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.airflow.clusters.notify_settings import NotifySettings
from rebalance_advisor.airflow.clusters.own_moment import own_moment

OFF = "off"
COLLECT_SCHEDULE, ADVISE_SCHEDULE = "H * * * *", "H 5 * * *"
MOST_RETRIES = 20
LONGEST_TAG = 100  # Airflow's own limit
# Airflow's words for what a role may do with a DAG (auth managers that know permissions of single DAGs heed them).
ACTIONS = ("can_read", "can_edit", "can_delete")


def _schedule(text: str) -> str:
    """Five fields of cron, a word like @daily, or "off"."""
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


def _notify(value: Any) -> Any:
    if isinstance(value, NotifySettings):
        return value
    if not isinstance(value, Mapping):
        raise ValueError(f"{excerpt(value)} is no object")  # noqa: TRY004 (pydantic takes no TypeError)
    try:
        return NotifySettings(**value)
    except InvalidInputError as error:
        raise ValueError(str(error)) from error


_Schedule: TypeAlias = Annotated[FilledText, AfterValidator(_schedule)]
_Tag: TypeAlias = Annotated[
    FilledText, Field(max_length=LONGEST_TAG), Value("is no tag", f"give 1 to {LONGEST_TAG} characters")
]
_Actions: TypeAlias = Annotated[tuple[Annotated[str, OneOf(ACTIONS)], ...], Several()]


@dataclass(frozen=True, config=CHECKED)
class DagSettings(Checked):
    """The settings of one cluster's DAGs.

    schedule          of advice: cron in UTC, with ``H`` for a moment of the cluster's own, or "off": by hand alone
    collect_schedule  of readings
    permissions       role -> what it may do with them; None: as Airflow has it for all DAGs
    notify            who gets messages about it
    """

    schedule: _Schedule = ADVISE_SCHEDULE
    collect_schedule: _Schedule = COLLECT_SCHEDULE
    owner: FilledText = "kafka-platform"
    tags: Annotated[tuple[_Tag, ...], Several()] = ()
    retries: Annotated[
        int, Strict(), Field(ge=0, le=MOST_RETRIES), Value("is no number of retries", f"give 0 to {MOST_RETRIES}")
    ] = 2
    permissions: Annotated[Mapping[FilledText, _Actions], Field(min_length=1)] | None = None
    notify: Annotated[NotifySettings, BeforeValidator(_notify)] = field(default_factory=NotifySettings)


KEYS = tuple(setting.name for setting in fields(DagSettings))


def read_dag_settings(table: Mapping[str, Any], place: str, cluster: str) -> DagSettings:
    """From the keys of a cluster's table that are settings, ``H`` of its schedules being moments of the cluster's own.

    Raises InvalidInputError with the key that is wrong.
    """
    try:
        settings = DagSettings(**{key: table[key] for key in KEYS if key in table})
    except InvalidInputError as error:
        raise InvalidInputError(f"{place} {error}") from error
    return replace(
        settings,
        schedule=own_moment(settings.schedule, f"advise {cluster}"),
        collect_schedule=own_moment(settings.collect_schedule, f"collect {cluster}"),
    )
