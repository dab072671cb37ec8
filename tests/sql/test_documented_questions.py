"""Every query of docs/sql-and-grafana.md has an answer without a hole, asked by the reader over 90 days."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from psycopg.rows import dict_row

from rebalance_advisor import store
from tests.sql.simulated_cluster import read_and_advise

pytestmark = pytest.mark.stack
PAGE = Path(__file__).resolve().parents[2] / "docs" / "sql-and-grafana.md"
# What nobody can know of a cluster's first reading and first advisory.
UNKNOWN_ON_THE_FIRST_DAY = {
    2: {"growth_bytes_per_day", "reaches_85_percent_at", "reaches_85_percent_at_with_plan"},
    3: {"earlier_captured_at", "bytes_earlier", "bytes_change", "replicas_earlier"},
    5: {"same_ratio"},
    6: {"skew_measured", "measured_at"},
    8: {"rebalances_7d"},
}


def documented() -> dict[str, str]:
    """Heading → query; a second one below the same heading gets a number."""
    results: dict[str, str] = {}
    for part in re.split(r"^### ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        for number, query in enumerate(re.findall(r"```sql\n(.*?)```", part, flags=re.DOTALL)):
            results[part.splitlines()[0] + (f" ({number + 1})" if number else "")] = query
    return results


def test_the_page_has_a_query_for_each_of_the_ten() -> None:
    headings = {int(match[1]) for heading in documented() if (match := re.match(r"(\d+)\. ", heading))}
    assert headings == set(range(1, 11))


def asked(connection, query: str) -> list[dict[str, Any]]:
    """By the reader."""
    with connection.transaction(), connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute("SET LOCAL ROLE advisor_reader")
        return cursor.execute(query).fetchall()


@pytest.mark.parametrize("heading", documented())
def test_a_question_is_answered_in_every_column_and_for_every_cluster(ninety_days: str, heading: str) -> None:
    with store.connect(ninety_days) as connection:
        result = asked(connection, documented()[heading])
    assert {row["cluster"] for row in result} == {"cluster-01", "cluster-02"}
    empty = [name for name in result[0] if all(row[name] is None for row in result)]
    assert empty == []


def test_every_question_is_answered_on_the_first_day_too(connection) -> None:
    """One reading, one advisory, as ``make demo`` leaves it: rows for each of the ten. Only the query about what people
    answered has none: nobody was asked.
    """
    read_and_advise(connection, "first", datetime.now(UTC).replace(microsecond=0))
    answers = {heading: asked(connection, query) for heading, query in documented().items()}
    assert [heading for heading, rows in answers.items() if not rows] == [
        "6. What did plans promise, and what came of it? (2)"
    ]
    for heading, rows in answers.items():
        empty = {name for row in rows for name in row if all(item[name] is None for item in rows)}
        number = re.match(r"(\d+)\. ", heading)
        expected = UNKNOWN_ON_THE_FIRST_DAY.get(int(number[1]), set()) if number and rows else set()
        assert empty - {"failures_7d", "last_failure"} == expected, heading
    text = {number: answers[heading] for heading in answers if (number := heading[:2]) in ("2.", "3.", "6.")}
    assert {row["outlook"] for row in text["2."]} == {"unknown"}
    assert {row["basis"] for row in text["3."]} == {"only_reading"}


def test_every_view_has_rows_there_and_its_twin_of_the_newest_too(ninety_days: str) -> None:
    """Except those that the simulation leaves empty: nothing is refused, members are scored and Streams groups are
    replayed in other tests (``test_published_as_judged.py``).
    """
    without = {
        "check_result", "member_score", "member_score_latest", "quarantine", "quarantine_latest",
        "topic_score", "topic_score_latest", "group_streams_scenario", "group_streams_scenario_latest",
        "streams_member_latest",
    }  # fmt: skip
    with store.connect(ninety_days) as connection:
        names = connection.execute("SELECT viewname FROM pg_views WHERE schemaname = 'advisor'").fetchall()
        rows = {view: connection.execute(f"SELECT EXISTS (SELECT FROM advisor.{view})").fetchone() for (view,) in names}
    assert {view for view, result in rows.items() if result == (False,)} == without
