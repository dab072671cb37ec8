"""The forms of runs by hand: one field for each option of the table, checked by Airflow before the run starts."""

from __future__ import annotations

from typing import Any

from airflow.sdk import Param

from rebalance_advisor.request.option_table import OPTIONS, RUN_OPTIONS, Option, Section


def advise_form() -> dict[str, Param]:
    """The fields of ``advise``; an empty one is an option that is not given."""
    return {option.name: _field(option) for option in OPTIONS}


def collect_form() -> dict[str, Param]:
    """The fields of ``collect_snapshot``."""
    return {option.name: _field(option) for option in RUN_OPTIONS if option.name == "cluster"}


def prune_form() -> dict[str, Param]:
    """The fields of ``prune_history``."""
    days: dict[str, Any] = {"type": "integer", "minimum": 1}
    return {
        "keep_snapshots_days": Param(90, **days, title="Days to keep readings"),
        "keep_runs_days": Param(400, **days, title="Days to keep advisories"),
    }


def _field(option: Option) -> Param:
    section = {} if option.section is Section.RUN else {"section": option.section.value.capitalize()}
    return Param(
        option.default, title=option.title, description=option.form_words, **section, **option.schema()
    )  # fmt: skip
