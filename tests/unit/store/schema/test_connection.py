"""Addresses as SQLAlchemy and Airflow spell them, and where they come from."""

from __future__ import annotations

import pytest

from rebalance_advisor.store.schema import connection
from rebalance_advisor.store.schema.connection import StoreError, connect, dsn_from_environment


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg2", "postgresql+psycopg"])
def test_every_spelling_of_an_address_is_taken(scheme: str) -> None:
    assert connection._plain(f"{scheme}://u:p@h:1/d?sslmode=require") == "postgresql://u:p@h:1/d?sslmode=require"
    assert connection._plain("host=h dbname=d") == "host=h dbname=d"


def test_another_database_is_refused() -> None:
    with pytest.raises(StoreError, match="mysql:// is no PostgreSQL address"):
        connect("mysql://u@h/d")


def test_a_server_that_does_not_answer_is_told_without_the_password() -> None:
    with pytest.raises(StoreError, match="cannot connect to the advisor's database") as error:
        connect("postgresql://u:hidden@127.0.0.1:1/d?connect_timeout=2")
    assert "hidden" not in str(error.value)


def test_the_first_setting_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_ADVISOR_POSTGRES", "postgresql://b")
    monkeypatch.setenv("ADVISOR_POSTGRES_DSN", "postgresql://a")
    assert dsn_from_environment() == "postgresql://a"
    monkeypatch.delenv("ADVISOR_POSTGRES_DSN")
    assert dsn_from_environment() == "postgresql://b"
    monkeypatch.delenv("AIRFLOW_CONN_ADVISOR_POSTGRES")
    with pytest.raises(StoreError, match="set ADVISOR_POSTGRES_DSN or AIRFLOW_CONN_ADVISOR_POSTGRES"):
        dsn_from_environment()
