"""How to reach a cluster: client properties under their Java or librdkafka names → ``ConnectionSettings``.

The same table serves a Java client properties file (``--command-config``) and the extra of Airflow's ``kafka``
connection, which holds librdkafka's names. A property that is not known is refused, never ignored; so is one that would
have no effect where it matters, such as a CA beside ``security.protocol=PLAINTEXT``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.kafka.connection.jaas import jaas_login

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_DEFAULT_PORT = 9092
_DIGITS = re.compile(r"[0-9]{1,9}")
_PEM_HINT = (
    "Python reads PEM only: export it (keytool -importkeystore -deststoretype PKCS12, then openssl pkcs12 -nodes) and "
    "give it as ssl.…store.type=PEM, or as ssl.ca.location, ssl.certificate.location and ssl.key.location"
)


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """Everything that a connection needs; no secret is shown by ``repr``. ``servers`` holds (host, port)."""

    servers: tuple[tuple[str, int], ...]
    security_protocol: str = "PLAINTEXT"
    sasl_mechanism: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_location: str | None = None
    ca_pem: str | None = None
    certificate_location: str | None = None
    certificate_pem: str | None = None
    key_location: str | None = None
    key_pem: str | None = field(default=None, repr=False)
    key_password: str | None = field(default=None, repr=False)
    crl_location: str | None = None
    ciphers: str | None = None
    tls_versions: tuple[str, ...] = ()
    is_host_name_checked: bool = True
    is_certificate_verified: bool = True
    client_id: str = "rebalance-advisor"
    request_timeout_ms: int | None = None

    @property
    def has_tls(self) -> bool:
        """The listener speaks TLS."""
        return self.security_protocol.endswith("SSL")

    @property
    def has_login(self) -> bool:
        """The listener wants a SASL login."""
        return self.security_protocol.startswith("SASL_")


# Property (Java's, librdkafka's, or both) → field. What needs more than copying has a function below.
FIELDS: dict[str, str] = {
    "bootstrap.servers": "servers",
    "metadata.broker.list": "servers",
    "client.id": "client_id",
    "security.protocol": "security_protocol",
    "sasl.mechanism": "sasl_mechanism",
    "sasl.mechanisms": "sasl_mechanism",
    "sasl.username": "username",
    "sasl.password": "password",
    "ssl.ca.location": "ca_location",
    "ssl.ca.pem": "ca_pem",
    "ssl.truststore.certificates": "ca_pem",
    "ssl.certificate.location": "certificate_location",
    "ssl.certificate.pem": "certificate_pem",
    "ssl.keystore.certificate.chain": "certificate_pem",
    "ssl.key.location": "key_location",
    "ssl.key.pem": "key_pem",
    "ssl.keystore.key": "key_pem",
    "ssl.key.password": "key_password",
    "ssl.crl.location": "crl_location",
    "ssl.cipher.suites": "ciphers",
    "ssl.enabled.protocols": "tls_versions",
    "ssl.endpoint.identification.algorithm": "is_host_name_checked",
    "enable.ssl.certificate.verification": "is_certificate_verified",
    "request.timeout.ms": "request_timeout_ms",
    "socket.timeout.ms": "request_timeout_ms",
}
_STORES = {
    "ssl.truststore.location": ("ca_location",),
    "ssl.keystore.location": ("certificate_location", "key_location"),
}
_STORE_TYPES = {"ssl.truststore.type": "PEM", "ssl.keystore.type": "PEM"}
_STORE_PASSWORDS = ("ssl.truststore.password", "ssl.keystore.password")

# Known, and without any effect on reading a cluster: what producers, consumers and their tuning have in the same file.
WITHOUT_EFFECT = frozenset(
    """
    acks allow.auto.create.topics api.version.request auto.commit.interval.ms auto.offset.reset batch.size
    broker.address.family broker.address.ttl buffer.memory check.crcs client.dns.lookup client.rack compression.type
    connections.max.idle.ms debug default.api.timeout.ms delivery.timeout.ms enable.auto.commit enable.idempotence
    enable.metrics.push error_cb fetch.max.bytes fetch.max.wait.ms fetch.min.bytes group.id group.instance.id
    group.protocol heartbeat.interval.ms isolation.level key.deserializer key.serializer linger.ms log.connection.close
    log_cb log_level max.block.ms max.in.flight.requests.per.connection max.partition.fetch.bytes max.poll.interval.ms
    max.poll.records max.request.size message.max.bytes metadata.max.age.ms metric.reporters on_commit
    partition.assignment.strategy partitioner.class receive.buffer.bytes reconnect.backoff.max.ms reconnect.backoff.ms
    retries retry.backoff.max.ms retry.backoff.ms sasl.login.connect.timeout.ms send.buffer.bytes session.timeout.ms
    socket.connection.setup.timeout.max.ms socket.connection.setup.timeout.ms socket.keepalive.enable ssl.protocol
    statistics.interval.ms stats_cb throttle_cb topic.metadata.refresh.interval.ms transactional.id value.deserializer
    value.serializer
    """.split()  # noqa: SIM905  # sixty words read better as words
)


@dataclass(frozen=True, slots=True)
class _Source:
    """The properties as text and where each stands."""

    values: Mapping[str, str]
    places: Mapping[str, str]
    name: str

    def refuse(self, key: str, problem: str, hint: str = "") -> InvalidInputError:
        return InvalidInputError.at(self.places.get(key, self.name), problem, hint)


def connection_settings(
    properties: Mapping[str, object],
    *,
    bootstrap: str | None = None,
    places: Mapping[str, str] | None = None,
    source: str = "client properties",
) -> ConnectionSettings:
    """Settings from properties; ``bootstrap`` (``host:port,…``) goes before ``bootstrap.servers``.

    ``places`` says where each property stands (``file:line``) for messages, ``source`` is named where it does not.
    Raises InvalidInputError for an unknown property, a value that cannot be, or a login that lacks a part.
    """
    values = {key: _as_text(value) for key, value in properties.items() if value is not None}
    given = _Source(values, places or {}, source)
    fields: dict[str, object] = {}
    if values and not any(map(_is_known, values)):  # some other file: its content is nobody's business
        raise given.refuse(next(iter(values)), "is no property of a Kafka client", "bootstrap.servers=… is one")
    for key in sorted(values):
        _take(fields, key, given)
    if bootstrap is not None:
        fields["servers"] = parse_servers(bootstrap, "--bootstrap")
    if not fields.get("servers"):
        raise InvalidInputError.at(source, "bootstrap.servers is missing", "say host:port of one broker or more")
    settings = ConnectionSettings(**fields)  # type: ignore[arg-type]  # each field was made by its own function
    _check_together(settings, given)
    return settings


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


def _is_known(key: str) -> bool:
    """A property that is taken, or left out knowingly."""
    return key in FIELDS or key in WITHOUT_EFFECT or key.startswith(("bootstrap.", "sasl.", "ssl.", "security."))


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _take(fields: dict[str, object], key: str, given: _Source) -> None:
    """Put one property into ``fields``, or refuse it."""
    value = given.values[key]
    if key in WITHOUT_EFFECT:
        return
    if key in _STORES or key in _STORE_TYPES or key in _STORE_PASSWORDS:
        _take_store(fields, key, given)
    elif key == "sasl.jaas.config":
        login = jaas_login(value, given.values.get("sasl.mechanism", ""), given.places.get(key, given.name))
        _set(fields, "username", login.username, key, given)
        _set(fields, "password", login.password, key, given)
    elif key in FIELDS:
        if value or key == "ssl.endpoint.identification.algorithm":  # '' is Java's way to say: check no host name
            _set(fields, FIELDS[key], _converted(key, value, given), key, given)
    elif key == "bootstrap.controllers":
        raise given.refuse(key, "bootstrap.controllers names controllers", "a snapshot is read from brokers")
    else:
        raise given.refuse(key, f"property {excerpt(key)} is not known", "remove it, or say which one is meant")


def _set(fields: dict[str, object], name: str, value: object, key: str, given: _Source) -> None:
    if name in fields and fields[name] != value:
        raise given.refuse(key, f"{key} contradicts another property for the same thing", "give it once")
    fields[name] = value


def _take_store(fields: dict[str, object], key: str, given: _Source) -> None:
    """Java's key and trust stores: PEM files only."""
    if key in _STORE_PASSWORDS:
        if given.values[key]:
            raise given.refuse(key, f"{key} belongs to JKS or PKCS#12 stores", _PEM_HINT)
        return
    kind = key.rsplit(".", 1)[0] + ".type"
    stated = given.values.get(kind, "JKS").upper()
    if stated != "PEM":
        name = given.values.get(key.rsplit(".", 1)[0] + ".location", key)
        raise given.refuse(
            key, f"{name} is a {stated} store" + ("" if kind in given.values else " (the default)"), _PEM_HINT
        )
    for name in _STORES.get(key, ()):
        _set(fields, name, given.values[key], key, given)


def _converted(key: str, value: str, given: _Source) -> object:
    """The value as its field wants it."""
    name, word = FIELDS[key], value.strip()
    if name == "servers":
        return parse_servers(value, given.places.get(key, given.name))
    if name == "security_protocol":
        return _one_of(PROTOCOLS, word.upper(), key, given)
    if name == "sasl_mechanism":
        return _one_of(MECHANISMS, word.upper(), key, given)
    if name == "is_host_name_checked":
        return _one_of(("https", "none", ""), word.lower(), key, given) == "https"
    if name == "is_certificate_verified":
        return _one_of(("true", "false"), word.lower(), key, given) == "true"
    if name == "tls_versions":
        return tuple(_one_of(("TLSv1.2", "TLSv1.3"), part.strip(), key, given) for part in value.split(","))
    if name == "request_timeout_ms":
        if not _DIGITS.fullmatch(word) or not int(word):
            raise given.refuse(key, f"{key}={value!r} is no number of milliseconds")
        return int(word)
    return value


def _one_of(known: tuple[str, ...], value: str, key: str, given: _Source) -> str:
    if value not in known:
        raise given.refuse(key, f"{key}={value!r} is not supported", "known: " + ", ".join(filter(None, known)))
    return value


def _check_together(settings: ConnectionSettings, given: _Source) -> None:
    """What one property alone does not show: a login without a password, TLS settings without TLS."""
    if settings.has_login:
        if settings.sasl_mechanism is None:
            raise given.refuse("security.protocol", "sasl.mechanism is missing", "known: " + ", ".join(MECHANISMS))
        if not settings.username or not settings.password:
            raise given.refuse(
                "sasl.mechanism", f"{settings.sasl_mechanism} needs a user name and a password",
                "give sasl.jaas.config, or sasl.username and sasl.password",
            )  # fmt: skip
    for prefix, is_used in (("sasl.", settings.has_login), ("ssl.", settings.has_tls)):
        idle = [
            key for key in sorted(given.values)
            if key.startswith(prefix) and key not in WITHOUT_EFFECT and given.values[key] and not is_used
        ]  # fmt: skip
        if idle:
            raise given.refuse(
                idle[0], f"{idle[0]} has no effect with security.protocol={settings.security_protocol}",
                "set security.protocol to SSL, SASL_SSL or SASL_PLAINTEXT, or remove it",
            )  # fmt: skip
    if bool(settings.certificate_location or settings.certificate_pem) != bool(
        settings.key_location or settings.key_pem
    ):
        raise InvalidInputError.at(given.name, "a client certificate needs its key, and a key its certificate")
