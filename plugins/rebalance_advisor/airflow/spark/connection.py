"""Where a Spark job runs: an Airflow connection read into what spark-submit takes, in the Spark provider's own words.

``host`` is the whole master (``local[*]``, ``spark://master``, ``k8s://https://api``, ``yarn``) with ``port`` after it,
or, as in a connection's URI, its type is the scheme: ``spark://master:7077``. In the extra: ``deploy-mode``, ``queue``,
``namespace``, ``executor-python`` (where the workers' Python lies, if it is not the one that they find themselves) and
``conf``, Spark's own settings by name. They reach spark-submit in a file: on a command line every user of the machine
sees them, a secret among them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import NamedTemporaryFile
from typing import Any

from kafka_rebalance.errors import UsageError

_CLUSTER, _CLIENT = "cluster", "client"
_EXTRA_ARGUMENTS = {"queue": "--queue", "deploy-mode": "--deploy-mode"}
_NAMESPACE = "spark.kubernetes.namespace"
_FROM_KUBERNETES = "spark.kubernetes.driver.secretKeyRef."
# Spark's page has no login and listens on all interfaces.
_NO_PAGE = {"spark.ui.enabled": "false"}
_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
# As java.util.Properties reads it.
_ESCAPES = str.maketrans(
    {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f"} | {mark: f"\\{mark}" for mark in " :=#!"}
)


@dataclass(frozen=True, slots=True)
class SparkConnection:
    """``arguments`` of spark-submit before the application, without Spark's own ``settings``."""

    master: str
    arguments: tuple[str, ...]
    settings: Mapping[str, str]

    @contextmanager
    def all_arguments(self) -> Iterator[tuple[str, ...]]:
        """The arguments, with the settings in a file that its owner alone can read and that goes at the end."""
        with NamedTemporaryFile("w", encoding="utf-8", suffix=".properties") as file:
            for name, value in self.settings.items():
                file.write(f"{name.translate(_ESCAPES)}={value.translate(_ESCAPES)}\n")
            file.flush()
            yield *self.arguments, "--properties-file", file.name, "--load-spark-defaults"


def spark_connection(connection_id: str, secret_variable: str) -> SparkConnection:
    """The connection. ``secret_variable`` is what the driver needs in its environment and nobody else may see.

    Raises UsageError for a place of it that is wrong, and where a driver on a cluster would get the secret in no way
    that hides it.
    """
    from airflow.sdk import BaseHook

    from rebalance_advisor.airflow.connections import mask_secrets

    known = BaseHook.get_connection(connection_id)
    extra, place = known.extra_dejson, f"connection {connection_id}"
    mask_secrets(extra)
    master = _master(known, place)
    is_local = master.partition("[")[0] in ("local", "local-cluster")
    settings = _NO_PAGE | (_LOOPBACK if is_local else {}) | _settings(extra, place)
    arguments = ["--master", master]
    for name, option in _EXTRA_ARGUMENTS.items():
        value = _text(extra, name, place)
        arguments += [] if value is None else [option, value]
    mode = _text(extra, "deploy-mode", place) or _CLIENT
    if mode not in (_CLIENT, _CLUSTER):
        raise UsageError.at(f"{place}, extra, deploy-mode", f"{mode!r}", f"it is {_CLIENT} or {_CLUSTER}")
    if mode == _CLUSTER and _FROM_KUBERNETES + secret_variable not in settings:
        hint = f"use {_CLIENT}, or on Kubernetes name a secret in conf: {_FROM_KUBERNETES}{secret_variable} = NAME:KEY"
        raise UsageError.at(f"{place}, extra, deploy-mode", f"a driver elsewhere has no {secret_variable}", hint)
    return SparkConnection(master, tuple(arguments), settings)


def _master(known: Any, place: str) -> str:
    host = known.host or ""
    if not host and known.conn_type in (None, "", "spark", "generic"):
        raise UsageError.at(f"{place}, host", "names no master", "give local[*], spark://HOST, k8s://URL or yarn")
    is_whole = "://" in host or (not known.port and known.conn_type in ("spark", "generic"))
    master = host if is_whole else f"{known.conn_type}://{host}" if host else str(known.conn_type)
    return f"{master}:{known.port}" if known.port else master


def _settings(extra: Mapping[str, Any], place: str) -> dict[str, str]:
    conf = extra.get("conf", {})
    if not isinstance(conf, Mapping):
        raise UsageError.at(f"{place}, extra, conf", f"{conf!r}", "it is an object: setting to value")
    settings = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in conf.items()}
    namespace, python = _text(extra, "namespace", place), _text(extra, "executor-python", place)
    settings |= {} if namespace is None else {_NAMESPACE: namespace}
    if python is None:
        return settings
    # Spark would start the driver with the workers' Python, too.
    return settings | {"spark.pyspark.python": python, "spark.pyspark.driver.python": sys.executable}


def _text(extra: Mapping[str, Any], name: str, place: str) -> str | None:
    value = extra.get(name)
    if value is None or (isinstance(value, str) and value):
        return value
    raise UsageError.at(f"{place}, extra, {name}", f"{value!r}", "it is a text that is not empty")
