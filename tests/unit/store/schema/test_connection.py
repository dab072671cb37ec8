"""Addresses as SQLAlchemy and Airflow spell them, and where they come from."""

from __future__ import annotations

import pytest
from psycopg.conninfo import conninfo_to_dict

from rebalance_advisor.store.schema.connection import StoreError, connect, dsn_from_environment, libpq_string


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg2", "postgresql+psycopg"])
def test_every_spelling_of_an_address_is_taken(scheme: str) -> None:
    known = {"user": "u", "password": "p://", "host": "h", "port": "1", "dbname": "d", "options": "-c a=b -c c=d"}
    url = f"{scheme}://u:p%3A%2F%2F@h:1/d?options=-c%20a%3Db"
    for dsn in (url, "user=u password=p:// host=h port=1 dbname=d options='-c a=b'"):
        assert conninfo_to_dict(libpq_string(dsn, options="-c c=d", dbname="other")) == known


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
    assert conninfo_to_dict(dsn_from_environment()) == {"host": "b", "dbname": "advisor"}
    monkeypatch.delenv("AIRFLOW_CONN_ADVISOR_POSTGRES")
    with pytest.raises(StoreError, match="set ADVISOR_POSTGRES_DSN or AIRFLOW_CONN_ADVISOR_POSTGRES"):
        dsn_from_environment()
