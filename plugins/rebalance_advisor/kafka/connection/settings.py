from __future__ import annotations

from dataclasses import dataclass, field

_SENT_AS_THEY_ARE = {"PLAIN": "password", "OAUTHBEARER": "token"}


@dataclass(frozen=True, slots=True)
class TokenSource:
    """OAUTHBEARER (RFC 7628) from ``endpoint`` (client credentials grant, RFC 6749 §4.4, or a ``file:`` URL), else an
    unsecured token of ``claims``.
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
    """The key table replaces a fetched ticket."""

    service_name: str = "kafka"
    key_table: str | None = None
    principal: str | None = None


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """``without_effect``: valid, irrelevant properties; ``unused``: messages on others. ``repr`` shows no secret."""

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
        return self.security_protocol.endswith("SSL")

    @property
    def has_login(self) -> bool:
        return self.security_protocol.startswith("SASL_")

    @property
    def risks(self) -> tuple[str, ...]:
        risks = []
        if self.security_protocol == "SASL_PLAINTEXT" and self.sasl_mechanism in _SENT_AS_THEY_ARE:
            risks.append(
                f"security.protocol=SASL_PLAINTEXT sends the {_SENT_AS_THEY_ARE[self.sasl_mechanism]} unencrypted; "
                "use SASL_SSL"
            )
        if self.has_tls and not self.is_certificate_verified:
            risks.append("certificates are not verified: any host can pose as a broker; give the CA instead")
        elif self.has_tls and not self.is_host_name_checked:
            risks.append("host names are not checked: any host with a certificate of the CA can pose as a broker")
        return tuple(risks)

    @property
    def principal(self) -> str:
        if self.token is not None:
            return self.token.client_id or dict(self.token.claims).get("sub", "of the token")
        if self.kerberos is not None:
            return self.kerberos.principal or "of the Kerberos ticket"
        if self.sasl_mechanism == "AWS_MSK_IAM":
            return self.aws_profile or "of the AWS credentials"
        return self.username or ""
