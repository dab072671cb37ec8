"""The settings of a connection to a cluster, under one name each; ``properties`` reads them from clients' names."""

from __future__ import annotations

from dataclasses import dataclass, field

# Mechanism → the secret that it sends as it is.
_SENT_AS_THEY_ARE = {"PLAIN": "password", "OAUTHBEARER": "token"}


@dataclass(frozen=True, slots=True)
class TokenSource:
    """Where a bearer token comes from (OAUTHBEARER, RFC 7628).

    ``endpoint`` answers the client credentials grant (RFC 6749 §4.4), or is a ``file:`` URL that holds a token. Without
    one, ``claims`` become an unsecured token of our own (RFC 7515 ``alg: none``), as Java makes it for development.
    ``ca_location`` or ``ca_pem`` replaces the system's authorities for an ``https:`` endpoint.
    """

    endpoint: str | None = None
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)
    scope: str | None = None
    is_header_encoded: bool = False
    extensions: tuple[tuple[str, str], ...] = ()
    claims: tuple[tuple[str, str], ...] = ()
    ca_location: str | None = None
    ca_pem: str | None = None


@dataclass(frozen=True, slots=True)
class KerberosLogin:
    """GSSAPI: the service's name, and a key table for where no ticket has been fetched."""

    service_name: str = "kafka"
    key_table: str | None = None
    principal: str | None = None


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """Everything that a connection needs; no secret is shown by ``repr``. ``servers`` holds (host, port).

    ``without_effect`` names properties that are right and change nothing about reading a cluster; ``unused`` says of
    others, in words, why they change nothing: a person may have meant them to.
    """

    servers: tuple[tuple[str, int], ...]
    security_protocol: str = "PLAINTEXT"
    sasl_mechanism: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    token: TokenSource | None = None
    kerberos: KerberosLogin | None = None
    aws_profile: str | None = None
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
    without_effect: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()

    @property
    def has_tls(self) -> bool:
        """The listener speaks TLS."""
        return self.security_protocol.endswith("SSL")

    @property
    def has_login(self) -> bool:
        """The listener wants a SASL login."""
        return self.security_protocol.startswith("SASL_")

    @property
    def risks(self) -> tuple[str, ...]:
        """What others on the network could do with this connection, in words for a terminal."""
        found = []
        if self.security_protocol == "SASL_PLAINTEXT" and self.sasl_mechanism in _SENT_AS_THEY_ARE:
            found.append(
                f"security.protocol=SASL_PLAINTEXT sends the {_SENT_AS_THEY_ARE[self.sasl_mechanism]} unencrypted; "
                "use SASL_SSL"
            )
        if self.has_tls and not self.is_certificate_verified:
            found.append("certificates are not verified: any host can pose as a broker; give the CA instead")
        elif self.has_tls and not self.is_host_name_checked:
            found.append("host names are not checked: any host with a certificate of the CA can pose as a broker")
        return tuple(found)

    @property
    def principal(self) -> str:
        """Who logs in, for messages."""
        if self.token is not None:
            return self.token.client_id or dict(self.token.claims).get("sub", "of the token")
        if self.kerberos is not None:
            return self.kerberos.principal or "of the Kerberos ticket"
        if self.sasl_mechanism == "AWS_MSK_IAM":
            return self.aws_profile or "of the AWS credentials"
        return self.username or ""
