"""The form of a run by hand, and what it becomes: one field for each wish, checked by Airflow before the run starts."""

from __future__ import annotations

from typing import Any

from airflow.sdk import Param

_BUDGET: dict[str, Any] = {"type": ["null", "integer"], "minimum": 0}


def advise_form() -> dict[str, Param]:
    """The fields of ``advise``; an empty one means: no such wish."""
    names: dict[str, Any] = {
        "type": ["null", "array"],
        "items": {"type": "string", "minLength": 1},
        "uniqueItems": True,
    }
    return {
        "cluster": _cluster(),
        "snapshot": Param(
            "latest", type="string", enum=["latest", "fresh"], title="Snapshot",
            description="The newest one that is stored, or a fresh reading.",
        ),
        "balance_within": Param(
            None, type=["null", "number"], exclusiveMinimum=0, exclusiveMaximum=1, title="Tolerance",
            description="A band around each broker's fair share, 0.1 = 10 %. Empty: as wide as pays.",
        ),
        "max_move_bytes": Param(None, **_BUDGET, title="At most so many bytes copied"),
        "max_moves": Param(None, **_BUDGET, title="At most so many replicas moved"),
        "max_leader_changes": Param(None, **_BUDGET, title="At most so many leaders changed"),
        "throttle": Param(
            None, type=["null", "integer"], exclusiveMinimum=0, title="Throttle",
            description="Bytes per second and broker while copying.",
        ),
        "remove_broker": Param(
            None, type=["null", "array"], items={"type": "integer", "minimum": 0}, title="Brokers to remove",
            description="Their ids; everything leaves them.",
        ),
        "add_broker": Param(
            None, **(names | {"items": {"type": "string", "pattern": "^[0-9]+(:.+)?$"}}), title="Brokers to add",
            description="ID:RACK of each, as 7:rack-b.",
        ),
        "include_topic": Param(None, **names, title="Topics in", description="Regular expressions; empty: all."),
        "exclude_topic": Param(None, **names, title="Topics out", description="Regular expressions."),
        "seed": Param(0, type="integer", minimum=0, title="Seed", description="The same seed, the same plan."),
    }  # fmt: skip


def collect_form() -> dict[str, Param]:
    """The fields of ``collect_snapshot``."""
    return {"cluster": _cluster()}


def prune_form() -> dict[str, Param]:
    """The fields of ``prune_history``."""
    days: dict[str, Any] = {"type": "integer", "minimum": 1}
    return {
        "keep_snapshots_days": Param(90, **days, title="Days to keep readings"),
        "keep_runs_days": Param(400, **days, title="Days to keep advisories"),
    }


def _cluster() -> Param:
    return Param(
        None, type=["null", "string"], minLength=1, title="Cluster",
        description="One cluster of clusters.toml; empty: all of them.",
    )  # fmt: skip
