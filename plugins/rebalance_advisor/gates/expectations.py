"""Run a checkpoint of ``gx/`` on one batch; the only user of Great Expectations."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from rebalance_advisor.gates.rules import PROJECT, Gate

Row = Mapping[str, Any]
# In gx/great_expectations.yml.
CONNECTION_SETTING = "GX_STORE_CONNECTION"
BATCH_PARAMETERS: Mapping[Gate, str] = {Gate.INPUT: "snapshot_id", Gate.RESULTS: "run_id"}


@dataclass(frozen=True, slots=True)
class Unexpected:
    """``rows``: at most 200."""

    count: int
    rows: tuple[Row, ...]


def sqlalchemy_address(dsn: str) -> str:
    """Quoted parameters, so that GX sees no ``$``."""
    from psycopg.conninfo import conninfo_to_dict

    from rebalance_advisor.store.schema.connection import libpq_string

    settings = conninfo_to_dict(libpq_string(dsn, options="-c timezone=UTC", application_name="rebalance-advisor"))
    return f"postgresql+psycopg:///?{urlencode(settings)}"


def unexpected_rows(dsn: str, gate: Gate, batch: str) -> dict[str, Unexpected]:
    """Failing rows of ``batch`` (a snapshot or run id) by rule. Raises RuntimeError for a failed evaluation."""
    logging.getLogger("great_expectations").setLevel(logging.WARNING)  # hundreds of lines about itself
    import great_expectations as gx

    context = gx.get_context(
        mode="file", context_root_dir=PROJECT, runtime_environment={CONNECTION_SETTING: sqlalchemy_address(dsn)}
    )
    checkpoint = context.checkpoints.get(gate.value)
    try:
        result = checkpoint.run(batch_parameters={BATCH_PARAMETERS[gate]: batch})
    finally:
        context.data_sources.get("advisor").get_engine().dispose()
    (validation,) = result.run_results.values()
    return {outcome.expectation_config.meta["code"]: _unexpected(outcome) for outcome in validation.results}


def _unexpected(outcome: Any) -> Unexpected:
    found = outcome.result
    if "details" in found:  # suite's SQL
        return Unexpected(found["observed_value"], tuple(map(_plain, found["details"]["unexpected_rows"])))
    if "unexpected_count" in found:  # GX's column expectation
        return Unexpected(found["unexpected_count"], tuple(map(_plain, found["unexpected_index_list"] or ())))
    rule = outcome.expectation_config.meta["code"]
    raise RuntimeError(f"rule {rule} could not be evaluated: {_first_reason(outcome.exception_info)}")


def _plain(row: Row) -> Row:
    return {
        name: str(value) if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in row.items()
    }


def _first_reason(information: Mapping[str, Any]) -> str:
    reports = [report for report in (information, *information.values()) if isinstance(report, Mapping)]
    messages = [str(report["exception_message"]) for report in reports if report.get("exception_message")]
    return messages[0].splitlines()[0] if messages else "no reason was given"
