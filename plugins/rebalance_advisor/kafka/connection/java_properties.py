from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.input_bytes import MAX_SETTINGS_BYTES, ByteBudget, read_text

_LINE_END = re.compile(r"\r\n|\r|\n")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PROPERTY_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}


@dataclass(frozen=True, slots=True)
class Properties:
    """``overridden``: keys given twice, and which value holds."""

    values: dict[str, str]
    locations: dict[str, str]
    overridden: tuple[str, ...] = ()


def read_properties(path: Path) -> Properties:
    return parse_properties(read_text(path, ByteBudget(MAX_SETTINGS_BYTES)), str(path))


def parse_properties(text: str, source: str) -> Properties:
    """Parse as ``java.util.Properties.load``: of a repeated key the last value holds."""
    values: dict[str, str] = {}
    locations: dict[str, str] = {}
    overridden: list[str] = []
    for line, content in _logical_lines(text):
        key, value = _split(content)
        location = f"{source}:{line}"
        if key in values and values[key] != value:
            overridden.append(f"{key} of {locations[key]} is overridden by {location}")
        values[key], locations[key] = value, location
    return Properties(values, locations, tuple(overridden))


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    content, first = "", 0
    for number, raw in enumerate(_LINE_END.split(text), 1):
        line = raw.lstrip(" \t\f")
        if not content and (not line or line[0] in "#!"):
            continue
        first = first if content else number
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            content += line[:-1]
            continue
        yield first, content + line
        content = ""
    if content:
        yield first, content


def _split(line: str) -> tuple[str, str]:
    end, is_protected = len(line), False
    for i, character in enumerate(line):
        if not is_protected and character in "=: \t\f":
            end = i
            break
        is_protected = character == "\\" and not is_protected
    rest = line[end:].lstrip(" \t\f")
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(" \t\f")
    return _unescape_property(line[:end]), _unescape_property(rest)


def _unescape_property(value: str) -> str:
    def plain(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code[1:], 16)) if len(code) == 5 else _PROPERTY_ESCAPES.get(code, code)

    return _ESCAPE.sub(plain, value)


# Java trims every value (ConfigDef.parseType); librdkafka does not trim this one.
_UNTRIMMED = ("sasl.password",)


@dataclass(frozen=True, slots=True)
class GivenProperties:
    values: Mapping[str, str] = field(repr=False)
    locations: Mapping[str, str]
    source: str

    @classmethod
    def of(cls, properties: Mapping[str, object], locations: Mapping[str, str], source: str) -> GivenProperties:
        texts = {key: _text(value) for key, value in properties.items() if value is not None}
        return cls({key: text if key in _UNTRIMMED else text.strip() for key, text in texts.items()}, locations, source)

    def location(self, key: str) -> str:
        return self.locations.get(key, self.source)

    def refuse(self, key: str, problem: str, hint: str = "") -> InvalidInputError:
        return InvalidInputError.at(self.location(key), problem, hint)

    def set(self, fields: dict[str, object], name: str, value: object, key: str) -> None:
        if name in fields and fields[name] != value:
            raise self.refuse(key, f"{key} contradicts another property for the same thing", "give it once")
        fields[name] = value

    def one_of(self, supported: tuple[str, ...], value: str, key: str) -> str:
        if value not in supported:
            raise self.refuse(key, f"{key}={value!r} is not supported", "known: " + ", ".join(filter(None, supported)))
        return value


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


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

STORES = frozenset(
    f"ssl.{store}.{part}" for store in ("truststore", "keystore") for part in ("location", "type", "password")
)

LOGINS = frozenset((
    "sasl.jaas.config", "sasl.kerberos.service.name", "sasl.kerberos.keytab", "sasl.kerberos.principal",
    "sasl.login.callback.handler.class", "sasl.client.callback.handler.class", "sasl.oauthbearer.jwt.retriever.class",
))  # fmt: skip
TOKENS: dict[str, str] = {
    "sasl.oauthbearer.token.endpoint.url": "endpoint",
    "sasl.oauthbearer.client.credentials.client.id": "client_id",
    "sasl.oauthbearer.client.credentials.client.secret": "client_secret",
    "sasl.oauthbearer.client.id": "client_id",
    "sasl.oauthbearer.client.secret": "client_secret",
    "sasl.oauthbearer.scope": "scope",
    "sasl.oauthbearer.extensions": "extensions",
    "sasl.oauthbearer.header.urlencode": "is_header_encoded",
    "https.ca.location": "ca_location",
    "https.ca.pem": "ca_pem",
}

# By last part of the name.
KNOWN_CLASSES = frozenset((
    "OAuthBearerLoginCallbackHandler", "OAuthBearerUnsecuredLoginCallbackHandler", "IAMClientCallbackHandler",
    "AwsMskIamCallbackHandler", "DefaultJwtRetriever", "ClientCredentialsJwtRetriever", "FileJwtRetriever",
    "AbstractLogin$DefaultLoginCallbackHandler", "SaslClientCallbackHandler",
))  # fmt: skip
JAVA_CODE = {
    "sasl.login.class": "logs in", "ssl.engine.factory.class": "makes the TLS connection",
    "security.providers": "brings its own cryptography", "ssl.provider": "brings its own TLS",
}  # fmt: skip
# Only for the JWT bearer grant (RFC 7523), which is not implemented.
ASSERTIONS = "sasl.oauthbearer.assertion."

WITHOUT_EFFECT = frozenset(
    """
    acks allow.auto.create.topics api.version.request auto.commit.interval.ms auto.offset.reset batch.size
    broker.address.family broker.address.ttl buffer.memory check.crcs client.dns.lookup client.rack
    compression.gzip.level compression.lz4.level compression.type compression.zstd.level connections.max.idle.ms debug
    default.api.timeout.ms delivery.timeout.ms enable.auto.commit enable.idempotence enable.metrics.push error_cb
    exclude.internal.topics fetch.max.bytes fetch.max.wait.ms fetch.min.bytes group.id group.instance.id group.protocol
    group.remote.assignor heartbeat.interval.ms interceptor.classes internal.throw.on.fetch.stable.offset.unsupported
    isolation.level key.deserializer key.serializer linger.ms log.connection.close log_cb log_level max.block.ms
    max.in.flight.requests.per.connection max.partition.fetch.bytes max.poll.interval.ms max.poll.records
    max.request.size message.max.bytes metadata.max.age.ms metadata.max.idle.ms
    metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy metric.reporters metrics.num.samples
    metrics.recording.level metrics.sample.window.ms on_commit partition.assignment.strategy
    partitioner.adaptive.partitioning.enable partitioner.availability.timeout.ms partitioner.class
    partitioner.ignore.keys receive.buffer.bytes reconnect.backoff.max.ms reconnect.backoff.ms retries
    retry.backoff.max.ms retry.backoff.ms sasl.kerberos.kinit.cmd sasl.kerberos.min.time.before.relogin
    sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor sasl.login.connect.timeout.ms
    sasl.login.read.timeout.ms sasl.login.refresh.buffer.seconds sasl.login.refresh.min.period.seconds
    sasl.login.refresh.window.factor sasl.login.refresh.window.jitter sasl.login.retry.backoff.max.ms
    sasl.login.retry.backoff.ms sasl.oauthbearer.clock.skew.seconds sasl.oauthbearer.expected.audience
    sasl.oauthbearer.expected.issuer sasl.oauthbearer.jwks.endpoint.refresh.ms
    sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.ms
    sasl.oauthbearer.jwks.endpoint.url sasl.oauthbearer.jwt.validator.class sasl.oauthbearer.method
    sasl.oauthbearer.scope.claim.name sasl.oauthbearer.sub.claim.name send.buffer.bytes session.timeout.ms
    share.acknowledgement.mode share.acquire.mode socket.connection.setup.timeout.max.ms
    socket.connection.setup.timeout.ms socket.keepalive.enable ssl.keymanager.algorithm ssl.protocol
    ssl.secure.random.implementation ssl.trustmanager.algorithm statistics.interval.ms stats_cb throttle_cb
    topic.metadata.refresh.interval.ms transaction.timeout.ms transaction.two.phase.commit.enable transactional.id
    value.deserializer value.serializer
    """.split()  # noqa: SIM905  # a hundred words read better as words
)

# Unknown names with these prefixes are refused: a misspelt one could weaken security.
CONNECTING = ("bootstrap.", "sasl.", "ssl.", "security.", "https.")


def is_known(name: str) -> bool:
    return (
        name in FIELDS or name in STORES or name in LOGINS or name in TOKENS or name in JAVA_CODE
        or name in WITHOUT_EFFECT or name.startswith(ASSERTIONS) or name.split(".", 2)[:2] == ["config", "providers"]
        or name == "bootstrap.controllers"
    )  # fmt: skip
