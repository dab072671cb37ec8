"""Airflow's connections → what libpq gets, tried on a real server: by TCP, by a socket, with every odd character."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pytest
from psycopg import pq, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from kafka_assignors.errors import AdvisorError
from rebalance_advisor import store
from rebalance_advisor.store.schema.airflow_connection import AIRFLOW_EXTRAS, string_of_variable
from stack import machine
from stack.postgres import server as postgres
from stack.postgres.server import THROW_AWAY, EmbeddedPostgres

pytestmark = [pytest.mark.stack, pytest.mark.usefixtures("airflow_home")]
ODD = "'\"\\ %@/:?#&=+$;,{}[]<>~|`!ab\té漢ß🦜"
VARIABLE = "AIRFLOW_CONN_ADVISOR_POSTGRES"
SEEDS = range(12)


@pytest.fixture(scope="module")
def odd_server() -> Iterator[SimpleNamespace]:
    """A server of its own on every kind of address that this machine has; ``hosts`` and ``port`` name them."""
    folder = Path("/tmp") / f"advisor-test-{uuid.uuid4().hex[:12]}"
    sockets = folder / "Sockets' %41@:"
    sockets.mkdir(parents=True)
    folder.chmod(0o755)
    sockets.chmod(0o777)
    settings = {"listen_addresses": "127.0.0.1,::1", "unix_socket_directories": str(sockets)}
    server = EmbeddedPostgres(folder, THROW_AWAY | settings)
    server.start()
    admin = server.dsn("postgres")
    port = conninfo_to_dict(admin)["port"]
    hosts = [host for host in ("127.0.0.1", "::1", str(sockets)) if _listens(make_conninfo(admin, host=host))]
    assert {"127.0.0.1", str(sockets)} <= set(hosts)
    yield SimpleNamespace(admin=admin, hosts=hosts, port=port)
    server.remove()


def _listens(conninfo: str) -> bool:
    try:
        psycopg.connect(conninfo).close()
    except psycopg.OperationalError:
        return False
    return True


def _odd(rng: random.Random) -> str:
    return "".join(rng.choices(ODD, k=rng.randint(1, 9)))


def _make(admin: str, role: str, password: str, database: str) -> None:
    names = {"role": sql.Identifier(role), "password": sql.Literal(password), "database": sql.Identifier(database)}
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE ROLE {role} LOGIN PASSWORD {password}").format(**names))
        connection.execute(sql.SQL("CREATE DATABASE {database} TEMPLATE template0 STRATEGY file_copy").format(**names))


def _who(dsn: str) -> tuple[str, ...]:
    with store.connect(dsn) as connection:
        asked = (
            "SELECT current_user, current_database(), current_setting('statement_timeout'), current_setting('TimeZone')"
        )
        return tuple(connection.execute(asked).fetchone() or ())


def _forms(fields: dict[str, object]) -> Iterator[str]:
    """JSON with the extra as object and as text, and the URL that Airflow itself writes."""
    from airflow.sdk import Connection

    yield json.dumps(fields)
    as_text = fields | {"extra": json.dumps(fields["extra"])}
    yield json.dumps(as_text)
    yield Connection(conn_id="x", **as_text).get_uri()


def test_every_address_login_and_name_comes_to_the_server_as_it_is(odd_server, monkeypatch) -> None:
    from rebalance_advisor.airflow.connections import store_dsn

    keepalives = {"tcp_user_timeout": 10_000, "keepalives": True, "keepalives_idle": 7, "channel_binding": "prefer"}
    for seed in SEEDS:
        rng = random.Random(seed)
        role, password, database = f"{_odd(rng)}{seed}{_odd(rng)}", _odd(rng), f"{_odd(rng)}{seed}{_odd(rng)}"
        _make(odd_server.admin, role, password, database)
        extra = {**keepalives, "options": "-c statement_timeout=77s", "cursor": "dictcursor", "iam": False}
        for host in odd_server.hosts:
            fields = {
                "conn_type": "postgres", "host": host, "port": int(odd_server.port), "login": role,
                "password": password, "schema": database, "extra": extra,
            }  # fmt: skip
            for form in _forms(fields):
                monkeypatch.setenv(VARIABLE, form)
                by_hand, by_airflow = string_of_variable(VARIABLE, form), store_dsn()
                assert conninfo_to_dict(by_hand) == conninfo_to_dict(by_airflow), (seed, host)
                assert _who(by_hand) == (role, database, "77s", "UTC"), (seed, host)
                known = conninfo_to_dict(by_hand)
                assert {name: known[name] for name in keepalives} == {
                    "tcp_user_timeout": "10000", "keepalives": "1", "keepalives_idle": "7", "channel_binding": "prefer",
                }  # fmt: skip


def test_what_a_connection_leaves_out_is_libpqs_to_find(odd_server, monkeypatch) -> None:
    _make(odd_server.admin, "libpqs own", "pass@word", "advisor_2")
    monkeypatch.setenv("PGUSER", "libpqs own")
    monkeypatch.setenv("PGHOST", odd_server.hosts[-1])
    monkeypatch.setenv("PGPORT", str(odd_server.port))
    for form in ('{"conn_type": "postgres", "password": "pass@word"}', "postgres://:pass%40word@"):
        result = string_of_variable(VARIABLE, form)
        assert conninfo_to_dict(result) == {"password": "pass@word", "dbname": "advisor"}
        assert _who(make_conninfo(result, dbname="advisor_2"))[:2] == ("libpqs own", "advisor_2")
    assert conninfo_to_dict(string_of_variable(VARIABLE, '{"conn_type": "postgres", "extra": {"service": "x"}}')) == {
        "service": "x"
    }


def test_every_setting_of_libpq_passes_and_every_other_one_is_named() -> None:
    from airflow.providers.postgres.hooks.postgres import PostgresHook

    for option in pq.Conninfo.get_defaults():
        name = option.keyword.decode()
        result = string_of_variable(VARIABLE, json.dumps({"conn_type": "postgres", "extra": {name: "7"}}))
        assert conninfo_to_dict(result)[name] == "7"
    assert set(PostgresHook.ignored_extra_options) <= AIRFLOW_EXTRAS
    wrong = {
        '{"conn_type": "postgres", "extra": {"sslmod": "SECRET"}}': "'sslmod' is no setting of PostgreSQL's client",
        '{"conn_type": "postgres", "extra": {"sslmode": ["SECRET"]}}': "sslmode is no text or number",
        '{"conn_type": "postgres", "password": "SECRET\\u0000x"}': "password is no text or number, or holds a NUL",
        '{"conn_type": "postgres", "extra": ["SECRET"]}': "extra: is no JSON object",
        '{"conn_type": "postgres", "password": "SECRET"': "is neither JSON nor a PostgreSQL URL",
        "postgresql://u:SECRET@h:port/d": "is neither JSON nor a PostgreSQL URL",
        "mysql://u:SECRET@h/d": "is neither JSON nor a PostgreSQL URL",
        "host=h password=SECRET": "is neither JSON nor a PostgreSQL URL",
        "postgresql://u:SECRET@[::1/d": "is neither JSON nor a PostgreSQL URL",
    }
    for value, text in wrong.items():
        with pytest.raises(AdvisorError, match=VARIABLE) as refused:
            string_of_variable(VARIABLE, value)
        assert text in str(refused.value)
        assert "SECRET" not in str(refused.value)


def test_whoever_is_given_an_address_takes_a_url_and_a_libpq_string(odd_server, monkeypatch) -> None:
    """The gates' SQLAlchemy, the page's, and our own stack's with Airflow's URL of psycopg2."""
    import sqlalchemy
    from sqlalchemy import column, select, table

    from rebalance_advisor.gates.run import sqlalchemy_address
    from rebalance_advisor.page.reader import Reader

    monkeypatch.delenv(postgres.AIRFLOW_SETTING, raising=False)
    role, password, database = "a $HOME '\\@/:", "p $ADVISOR ${x} '\\@/:%", "d $y '\\@/:"
    _make(odd_server.admin, role, password, database)
    for host in odd_server.hosts:
        known = {"user": role, "password": password, "dbname": database, "host": host, "port": odd_server.port}
        given = make_conninfo("", **known)
        reader = Reader(given)
        names = table("pg_database", column("datname"))
        result = reader.first(select(names).where(names.c.datname == database))
        reader.close()
        assert result == {"datname": database}
        monkeypatch.setenv(postgres.SETTING, given)
        assert _who(postgres.dsn()) == _who(given)
        assert conninfo_to_dict(postgres.dsn("airflow"))["dbname"] == "airflow"
        engine = sqlalchemy.create_engine(machine._sqlalchemy(given))
        with engine.connect() as connection:
            assert connection.scalar(sqlalchemy.text("SELECT current_database()")) == database
        engine.dispose()
        assert _who(string_of_variable(VARIABLE, machine._connection(given)))[:2] == (role, database)
        gates_engine = sqlalchemy.create_engine(sqlalchemy_address(given))
        with gates_engine.connect() as connection:
            assert connection.scalar(sqlalchemy.text("SELECT current_database()")) == database
        gates_engine.dispose()
        assert "$" not in sqlalchemy_address(given)


def test_an_address_that_cannot_be_read_is_told_without_its_password() -> None:
    for dsn in ("host=h password=SECRET x", "postgresql://u:SECRET%zz@h/d", "postgresql://u:x@h/d?SECRET=1"):
        with pytest.raises(store.StoreError, match="address cannot be read; write") as refused:
            store.connect(dsn)
        assert "SECRET" not in str(refused.value)
        assert refused.value.__cause__ is None
    with pytest.raises(store.StoreError, match="cannot connect"):
        store.connect("host=127.0.0.1 port=1 password='a://b' connect_timeout=2")
