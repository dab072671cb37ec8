"""Names of client properties: those of AdminClientConfig, ConsumerConfig, ProducerConfig (Kafka 4.3), and librdkafka's.

What a property means for a connection stands in ``FIELDS``; what has a function of its own in ``STORES``, ``LOGINS``
and ``TOKENS``; everything else that Kafka's own clients know is in ``WITHOUT_EFFECT`` or ``JAVA_CODE``.
"""

from __future__ import annotations

# Property (Java's, librdkafka's, or both) → field of ``ConnectionSettings``, copied or converted.
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

# Key and trust stores: a file, its type and its password.
STORES = frozenset(
    f"ssl.{store}.{part}" for store in ("truststore", "keystore") for part in ("location", "type", "password")
)

# A login that is more than a user and a password.
LOGINS = frozenset((
    "sasl.jaas.config", "sasl.kerberos.service.name", "sasl.kerberos.keytab", "sasl.kerberos.principal",
    "sasl.login.callback.handler.class", "sasl.client.callback.handler.class", "sasl.oauthbearer.jwt.retriever.class",
))  # fmt: skip
# Property → field of ``TokenSource``.
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

# Classes that a file may name and that Python has a counterpart of: by the last part of their names.
KNOWN_CLASSES = frozenset((
    "OAuthBearerLoginCallbackHandler", "OAuthBearerUnsecuredLoginCallbackHandler", "IAMClientCallbackHandler",
    "AwsMskIamCallbackHandler", "DefaultJwtRetriever", "ClientCredentialsJwtRetriever", "FileJwtRetriever",
    "AbstractLogin$DefaultLoginCallbackHandler", "SaslClientCallbackHandler",
))  # fmt: skip
# Named by a file, they are Java code of somebody's own that decides how to log in or whom to trust.
JAVA_CODE = {
    "sasl.login.class": "logs in", "ssl.engine.factory.class": "makes the TLS connection",
    "security.providers": "brings its own cryptography", "ssl.provider": "brings its own TLS",
}  # fmt: skip
# Asked for by none but the JWT bearer grant (RFC 7523), which is not implemented.
ASSERTIONS = "sasl.oauthbearer.assertion."

# Known, and without any effect on reading a cluster: what producers, consumers and their tuning have in the same file.
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

# A misspelt name below these could change whom one trusts or talks to: refused. Others belong to other programs.
CONNECTING = ("bootstrap.", "sasl.", "ssl.", "security.", "https.")


def is_known(name: str) -> bool:
    """A property of Kafka's clients, with or without effect here."""
    return (
        name in FIELDS or name in STORES or name in LOGINS or name in TOKENS or name in JAVA_CODE
        or name in WITHOUT_EFFECT or name.startswith(ASSERTIONS) or name.split(".", 2)[:2] == ["config", "providers"]
        or name == "bootstrap.controllers"
    )  # fmt: skip
