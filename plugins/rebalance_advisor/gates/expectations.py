"""Great Expectations, and the only code that knows it: rules as expectations on one batch in Postgres."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

Row = Mapping[str, Any]
_NO_ADDRESS = "postgresql+psycopg://advisor@localhost/advisor"


@dataclass(frozen=True, slots=True)
class Unexpected:
    """What one rule found: how many rows, the first of them, and (of a quarantine's) every subject."""

    count: int
    rows: tuple[Row, ...]
    subjects: tuple[str, ...]


def unexpected_rows(dsn: str, batch: str, queries: Mapping[str, str]) -> dict[str, Unexpected]:
    """Run each named query once on the database at ``dsn``; ``{batch}`` in it stands for ``batch``, a query itself.

    A query returns one row where its rule is broken (``failed_rows``, ``sample``, ``subjects``), none where it holds.
    Raises RuntimeError where a query cannot be run: a rule that was not asked has not been kept.
    """
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    logging.getLogger("great_expectations").setLevel(logging.WARNING)  # hundreds of lines about itself, none about rows
    import great_expectations as gx
    import psycopg

    from rebalance_advisor.store.schema.connection import libpq_string

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    address = libpq_string(dsn, options="")
    # GX reads a $ in a URL as a variable and refuses sockets: the address goes to the driver as it is.
    source = context.data_sources.add_postgres(
        "advisor", connection_string=_NO_ADDRESS, kwargs={"creator": lambda: psycopg.connect(address)}
    )
    try:
        asset = source.add_query_asset("subject", query=f"SELECT * FROM ({batch}) AS subject")  # noqa: S608
        suite = context.suites.add(gx.ExpectationSuite("gate"))
        for name, query in queries.items():
            # GX puts "(…) AS subselect" in the place of {batch}; the rules give it a name that says what it is.
            named = query.replace("{batch}", "(SELECT * FROM {batch})")
            suite.add_expectation(_rule_expectation()(unexpected_rows_query=named, meta={"rule": name}))
        definition = asset.add_batch_definition("whole")
        validation = gx.ValidationDefinition(name="gate", data=definition, suite=suite)
        result = context.validation_definitions.add(validation).run(result_format="COMPLETE")
    finally:
        source.get_engine().dispose()
    return {outcome.expectation_config.meta["rule"]: _unexpected(outcome) for outcome in result.results}


@cache
def _rule_expectation() -> Any:
    """GX's own expectation runs its query twice, for the rows and for their number; here the rows tell the number."""
    from great_expectations.expectations import UnexpectedRowsExpectation

    class ExpectRuleToHold(UnexpectedRowsExpectation):
        metric_dependencies: ClassVar[tuple[str, ...]] = ("unexpected_rows_query.table",)

        def _validate(self, metrics: dict[str, Any], *_: Any, **__: Any) -> dict[str, Any]:
            rows = metrics["unexpected_rows_query.table"]
            count = int(rows[0]["failed_rows"]) if rows else 0
            return {"success": not rows, "result": {"observed_value": count, "details": {"unexpected_rows": rows}}}

    return ExpectRuleToHold


def _unexpected(result: Any) -> Unexpected:
    if "observed_value" not in result.result:
        raise RuntimeError(
            f"rule {result.expectation_config.meta['rule']} could not be asked: {_first_reason(result.exception_info)}"
        )
    rows = result.result["details"]["unexpected_rows"]
    if not rows:
        return Unexpected(0, (), ())
    found = rows[0]
    return Unexpected(int(found["failed_rows"]), tuple(found["sample"]), tuple(found["subjects"] or ()))


def _first_reason(information: Mapping[str, Any]) -> str:
    """GX nests one report for each metric; the first line of the first message says it all."""
    reports = [report for report in (information, *information.values()) if isinstance(report, Mapping)]
    messages = [str(report["exception_message"]) for report in reports if report.get("exception_message")]
    return messages[0].splitlines()[0] if messages else "no reason was given"
