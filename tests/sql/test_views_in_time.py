"""Every view of the contract, read whole by the reader over 12 clusters × 90 days of hourly readings: the server's CPU.

Once with every reading of small clusters, once with 2,000 partitions each, thinned. ``make test-views`` prints the
table that is in docs/sql-and-grafana.md, and under it the views that take a second or more.
"""

from __future__ import annotations

import pytest

from rebalance_advisor import store
from tests.sql.server_seconds import cpu_seconds

pytestmark = [pytest.mark.stack, pytest.mark.matrix]
# Rows of every reading are asked for a cluster and a day, as a board would: all of them are up to a million rows.
NARROW = "WHERE cluster = 'cluster-07' AND captured_at > now() - interval '1 day'"
WIDE = frozenset(("broker", "broker_level", "consumer_group", "load", "load_history", "log_dir", "partition", "topic"))


@pytest.mark.parametrize("name", ["twelve_clusters", "twelve_thinned_clusters"])
def test_every_view_is_read_and_its_milliseconds_are_printed(name: str, request: pytest.FixtureRequest) -> None:
    slow, lines = [], []
    with store.connect(request.getfixturevalue(name)) as connection:
        names = connection.execute("SELECT viewname FROM pg_views WHERE schemaname = 'advisor' ORDER BY 1").fetchall()
        connection.execute("SET max_parallel_workers_per_gather = 0")
        connection.execute("SET ROLE advisor_reader")
        for (view,) in names:
            query = f"SELECT * FROM advisor.{view} {NARROW if view in WIDE else ''}"
            seconds, rows = min(timed(connection, query) for _ in range(2))
            lines.append(f"| `{view}` | {rows:,} | {1000 * seconds:.0f} |")
            if seconds >= 1:
                slow.append(view)
        size = connection.execute("SELECT pg_size_pretty(pg_database_size(current_database()))").fetchone()
    print(f"\n{name}, {size[0]}\n\n| view | rows | ms |\n|---|---|---|\n" + "\n".join(lines))
    print(f"a second or more: {', '.join(slow) or 'none'}")
    assert lines


def timed(connection: store.Connection, query: str) -> tuple[float, int]:
    """CPU seconds of the server, and rows."""
    begin = cpu_seconds(connection)
    rows = len(connection.execute(query).fetchall())
    return cpu_seconds(connection) - begin, rows
