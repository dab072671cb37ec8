"""Statistics for PostgreSQL's planner after rows were copied: no query depends on when autovacuum last came by.

Rows that the planner has never seen count as one row: at 100,000 partitions a rule of the input gate then ran for
minutes in nested loops, and loading took 89 s in place of 3.
"""

from __future__ import annotations

from collections.abc import Mapping

from rebalance_advisor.store.schema.connection import Connection, named

# Fewer rows are joined at once whatever the planner takes them for; small clusters are not charged for an ANALYZE.
FEWEST_ROWS = 1_000


def analyze_copied(connection: Connection, rows_of: Mapping[str, int], moment: object) -> None:
    """Analyse the tables into which at least ``FEWEST_ROWS`` were copied, in the transaction that copied them.

    ``rows_of``: table → rows copied; ``moment``: the time that they carry, which names the week of a table that grows.
    Inside the transaction, so that whoever sees the rows has their statistics, too.
    """
    tables = sorted(table for table, rows in rows_of.items() if rows >= FEWEST_ROWS)
    if tables:
        connection.execute(named("analyze_tables"), {"names": tables, "moment": moment})
