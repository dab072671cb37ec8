"""The fields of a run of ``apply_NAME``, which only somebody starts by hand."""

from __future__ import annotations

from typing import Any

from airflow.sdk import Param

ADVISORY = "advisory"
ANSWER_WITHIN, CARRIED_OUT_WITHIN, TOOK_SECONDS = "answer_within_minutes", "carried_out_within_hours", "took_seconds"
_MOST_MINUTES, _MOST_HOURS = 43_200, 720  # thirty days
_MOST_SECONDS = 61 * 86_400  # as long as the run itself may take
_LONGEST_RUN = 400  # characters: an id of Airflow's, at most 250, and a cluster's name


def apply_form() -> dict[str, Param]:
    """Asked before the run starts; an empty advisory is the newest one."""
    waits: dict[str, Any] = {"type": "number", "exclusiveMinimum": 0}
    return {
        ADVISORY: Param(
            None,
            type=["null", "string"],
            maxLength=_LONGEST_RUN,
            title="Advisory",
            description="Its run; empty: the newest published one",
        ),
        ANSWER_WITHIN: Param(1440, **waits, maximum=_MOST_MINUTES, title="Minutes to wait for approval"),
        CARRIED_OUT_WITHIN: Param(
            168,
            **waits,
            maximum=_MOST_HOURS,
            title="Hours to wait until it is carried out",
            description="Afterwards the cluster is read all the same",
        ),
    }


def seconds_field() -> dict[str, Param]:
    """What may be told with the answer to the second question."""
    title = "Seconds the waves took, if you measured them"
    return {TOOK_SECONDS: Param(None, type=["null", "number"], minimum=0, maximum=_MOST_SECONDS, title=title)}
