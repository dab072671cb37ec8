"""Great Expectations, and the only code that knows it: rules as expectations on one batch in Postgres."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit, urlunsplit

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Unexpected:
    """What one rule's query returned: how many rows, and the first of them."""

    count: int
    rows: tuple[Row, ...]


def unexpected_rows(dsn: str, batch: str, queries: Mapping[str, str], rows_kept: int) -> dict[str, Unexpected]:
    """Run each named query (``{batch}`` in it stands for ``batch``, a query itself) on the database at ``dsn``.

    Raises RuntimeError where a query cannot be run: a rule that was not asked has not been kept.
    """
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations as gx

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    source = context.data_sources.add_postgres("advisor", connection_string=_for_sqlalchemy(dsn))
    try:
        asset = source.add_query_asset("subject", query=f"SELECT * FROM ({batch}) AS subject")  # noqa: S608
        suite = context.suites.add(gx.ExpectationSuite("gate"))
        for name, query in queries.items():
            # GX puts "(…) AS subselect" in the place of {batch}; the rules give it a name that says what it is.
            named = query.replace("{batch}", "(SELECT * FROM {batch})")
            expectation = gx.expectations.UnexpectedRowsExpectation(unexpected_rows_query=named, meta={"rule": name})
            suite.add_expectation(expectation)
        definition = asset.add_batch_definition("whole")
        validation = gx.ValidationDefinition(name="gate", data=definition, suite=suite)
        result = context.validation_definitions.add(validation).run(result_format="COMPLETE")
    finally:
        source.get_engine().dispose()
    return {each.expectation_config.meta["rule"]: _unexpected(each, rows_kept) for each in result.results}


def _unexpected(result: Any, rows_kept: int) -> Unexpected:
    if "observed_value" not in result.result:
        raise RuntimeError(
            f"rule {result.expectation_config.meta['rule']} could not be asked: {_first_reason(result.exception_info)}"
        )
    rows = result.result["details"]["unexpected_rows"]
    return Unexpected(int(result.result["observed_value"]), tuple(dict(row) for row in rows[:rows_kept]))


def _first_reason(information: Mapping[str, Any]) -> str:
    """GX nests one report for each metric; the first line of the first message says it all."""
    reports = [each for each in (information, *information.values()) if isinstance(each, Mapping)]
    messages = [str(each["exception_message"]) for each in reports if each.get("exception_message")]
    return messages[0].splitlines()[0] if messages else "no reason was given"


def _for_sqlalchemy(dsn: str) -> str:
    return urlunsplit(urlsplit(dsn)._replace(scheme="postgresql+psycopg2"))
