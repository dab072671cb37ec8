"""``python -m rebalance_advisor.store``: migrates the database that the environment names, and says what it did."""

import pytest

from rebalance_advisor import store
from rebalance_advisor.store.__main__ import main
from rebalance_advisor.store.schema.migrate import read_migrations

pytestmark = pytest.mark.stack


def test_it_tells_the_migrations_of_this_time_and_then_that_there_are_none(empty_dsn, monkeypatch, capsys) -> None:
    monkeypatch.setenv("ADVISOR_POSTGRES_DSN", empty_dsn)
    names = ", ".join(migration.name for migration in read_migrations())
    assert main() == 0
    assert capsys.readouterr().out == f"store: {names}; views and rights are up to date\n"
    assert main() == 0
    assert capsys.readouterr().out == "store: nothing to migrate; views and rights are up to date\n"
    with store.connect(empty_dsn) as connection:
        assert connection.execute("SELECT count(*) FROM advisor.snapshot").fetchone() == (0,)


@pytest.mark.parametrize(
    ("dsn", "message"),
    [
        ("", "no database is named; set ADVISOR_POSTGRES_DSN or AIRFLOW_CONN_ADVISOR_POSTGRES"),
        ("mysql://h/db", "mysql:// is no PostgreSQL address"),
        ("postgresql://127.0.0.1:1/db?connect_timeout=2", "cannot connect to the advisor's database"),
    ],
)
def test_what_cannot_be_is_one_line_on_stderr(dsn, message, monkeypatch, capsys) -> None:
    monkeypatch.setenv("ADVISOR_POSTGRES_DSN", dsn)
    monkeypatch.delenv("AIRFLOW_CONN_ADVISOR_POSTGRES", raising=False)
    assert main() == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith(message)
    assert output.err.count("\n") == 1
