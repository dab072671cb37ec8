"""Client properties under their Java or librdkafka names → ``ConnectionSettings``.

The same table serves a Java client properties file (``--command-config``) and the extra of Airflow's ``kafka``
connection, which holds librdkafka's names. What Kafka's own tools accept is accepted, or refused by its true reason:

- a name of Kafka's clients that changes nothing about reading is listed in ``without_effect``;
- one that is right and idle beside the others (a CA with ``security.protocol=PLAINTEXT``), or that belongs to another
  program (``schema.registry.url``), is told in ``unused``;
- a name like a security property's that no client knows is refused: it may have been meant to protect something.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.kafka.connection.properties.ciphers import openssl_ciphers
from rebalance_advisor.kafka.connection.properties.given_properties import GivenProperties
from rebalance_advisor.kafka.connection.properties.login_properties import PLAIN_LOGINS, with_login
from rebalance_advisor.kafka.connection.properties.pem import unfolded
from rebalance_advisor.kafka.connection.properties.property_names import (
    ASSERTIONS,
    CONNECTING,
    FIELDS,
    JAVA_CODE,
    LOGINS,
    STORES,
    TOKENS,
    WITHOUT_EFFECT,
    is_known,
)
from rebalance_advisor.kafka.connection.properties.store_properties import store_fields
from rebalance_advisor.kafka.connection.settings import ConnectionSettings

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = (*PLAIN_LOGINS, "OAUTHBEARER", "GSSAPI", "AWS_MSK_IAM")
_TLS_VERSIONS = ("TLSv1.2", "TLSv1.3")
_DEFAULT_PORT = 9092
_DIGITS = re.compile(r"[0-9]{1,9}")
_FROM_PROVIDER = re.compile(r"\$\{[^}:]+:(?:[^}:]*:)?[^}]*\}")
_ALIKE = 0.86  # of difflib: securty.protocol


def connection_settings(
    properties: Mapping[str, object],
    *,
    bootstrap: str | None = None,
    places: Mapping[str, str] | None = None,
    source: str = "client properties",
) -> ConnectionSettings:
    """Settings from properties; ``bootstrap`` (``host:port,…``) goes before ``bootstrap.servers``.

    ``places`` says where each property stands (``file:line``) for messages, ``source`` is named where it does not.
    Raises InvalidInputError for a property that might have been meant to matter and is not known, a value that cannot
    be, a store that cannot be read, or a login that lacks a part.
    """
    given = GivenProperties.of(properties, places or {}, source)
    if given.values and not any(map(is_known, given.values)):  # some other file: its content is nobody's business
        raise given.refuse(next(iter(given.values)), "is no property of a Kafka client", "bootstrap.servers=… is one")
    fields: dict[str, object] = {}
    unused: list[str] = []
    for key in sorted(given.values):
        _take(fields, unused, key, given)
    if bootstrap is not None:
        fields["servers"] = parse_servers(bootstrap, "--bootstrap")
    if not fields.get("servers"):
        raise InvalidInputError.at(source, "bootstrap.servers is missing", "say host:port of one broker or more")
    settings = ConnectionSettings(**fields)  # type: ignore[arg-type]  # each field was made by its own function
    if settings.has_tls:
        settings = replace(settings, **store_fields(settings, given))  # type: ignore[arg-type]  # names and texts
        if bool(settings.certificate_location or settings.certificate_pem) != bool(
            settings.key_location or settings.key_pem
        ):
            raise InvalidInputError.at(given.source, "a client certificate needs its key, and a key its certificate")
    settings = with_login(settings, given)
    quiet = tuple(key for key in sorted(given.values) if key in WITHOUT_EFFECT)
    return replace(settings, without_effect=quiet, unused=(*unused, *_idle(settings, given)))


def parse_servers(value: str, place: str) -> tuple[tuple[str, int], ...]:
    """(host, port) of ``host:port,host:port``; a scheme in front (``SSL://``) is dropped, port 9092 is the default."""
    servers = []
    for listed in filter(None, (part.strip() for part in value.split(","))):
        address = listed.split("://")[-1]
        host, colon, port = address.rpartition(":")
        if not colon or (host.count(":") and not host.endswith("]")):
            host, port = address, str(_DEFAULT_PORT)
        if not host or not _DIGITS.fullmatch(port) or not 0 < int(port) < 65536:
            raise InvalidInputError.at(place, f"{listed!r} is no host:port", "write broker1.example.org:9092")
        servers.append((host.strip("[]"), int(port)))
    return tuple(servers)


def _take(fields: dict[str, object], unused: list[str], key: str, given: GivenProperties) -> None:
    """Put one property into ``fields``, leave it to those who read several at once, or refuse it."""
    value = given.values[key]
    if key in WITHOUT_EFFECT or key in STORES or key in LOGINS or key in TOKENS:
        return
    if key.startswith("config.providers"):
        raise given.refuse(
            key, "values are taken from a config provider, which is Java code", "write the values into the file"
        )
    if _FROM_PROVIDER.search(value):
        raise given.refuse(key, f"{key} is taken from a config provider", "write the value into the file")
    if key in FIELDS:
        if value or key == "ssl.endpoint.identification.algorithm":  # '' is Java's way to say: check no host name
            given.set(fields, FIELDS[key], _converted(key, value, given), key)
    elif key == "bootstrap.controllers":
        raise given.refuse(key, "bootstrap.controllers names controllers", "a snapshot is read from brokers")
    elif key in JAVA_CODE:
        if value:
            raise given.refuse(key, f"{key} names Java code that {JAVA_CODE[key]}", "Python cannot run it")
    elif key.startswith(ASSERTIONS):
        raise given.refuse(key, "tokens by an assertion (RFC 7523) are not supported", "give a client id and secret")
    else:
        _take_unknown(unused, key, given)


def _take_unknown(unused: list[str], key: str, given: GivenProperties) -> None:
    """Of another program, or misspelt."""
    known = [*FIELDS, *STORES, *LOGINS, *TOKENS]
    alike = difflib.get_close_matches(key, known, n=1, cutoff=_ALIKE)
    if key.startswith(CONNECTING) or alike:
        hint = f"is {alike[0]} meant?" if alike else "remove it, or say which one is meant"
        raise given.refuse(key, f"property {excerpt(key)} is not known", hint)
    unused.append(f"{excerpt(key)} is no property of Kafka's clients")


def _converted(key: str, value: str, given: GivenProperties) -> object:
    """The value as its field wants it."""
    convert = _CONVERTERS.get(FIELDS[key])
    return value if convert is None else convert(key, value, given)


def _milliseconds(key: str, value: str, given: GivenProperties) -> int:
    if not _DIGITS.fullmatch(value) or not int(value):
        raise given.refuse(key, f"{key}={value!r} is no number of milliseconds")
    return int(value)


def _tls_versions(key: str, value: str, given: GivenProperties) -> tuple[str, ...]:
    """Older versions beside these are left out: brokers that want them should not be trusted with a password."""
    named = [part.strip() for part in value.split(",")]
    return tuple(part for part in named if part in _TLS_VERSIONS) or (given.one_of(_TLS_VERSIONS, named[0], key),)


# Field → the value as it wants it; others are copied.
_CONVERTERS: dict[str, Callable[[str, str, GivenProperties], object]] = {
    "servers": lambda key, value, given: parse_servers(value, given.place(key)),
    "security_protocol": lambda key, value, given: given.one_of(PROTOCOLS, value.upper(), key),
    "sasl_mechanism": lambda key, value, given: given.one_of(MECHANISMS, value.upper(), key),
    "is_host_name_checked": lambda key, value, given: (
        given.one_of(("https", "none", ""), value.lower(), key) == "https"
    ),
    "is_certificate_verified": lambda key, value, given: given.one_of(("true", "false"), value.lower(), key) == "true",
    "tls_versions": _tls_versions,
    "request_timeout_ms": _milliseconds,
    "ciphers": lambda _key, value, _given: openssl_ciphers(value) or None,
    **dict.fromkeys(("ca_pem", "certificate_pem", "key_pem"), lambda _key, value, _given: unfolded(value)),
}


def _idle(settings: ConnectionSettings, given: GivenProperties) -> list[str]:
    """Properties of a login or of TLS where the protocol has none, in words."""
    return [
        f"{key} has no effect with security.protocol={settings.security_protocol}"
        for prefix, is_used in (("sasl.", settings.has_login), ("ssl.", settings.has_tls))
        for key in sorted(given.values)
        if key.startswith(prefix) and key not in WITHOUT_EFFECT and given.values[key] and not is_used
    ]
