"""Keys, certificates and users of a secured test cluster: TLS everywhere, SCRAM and PLAIN for clients, and mTLS.

Brokers' certificates name the address 127.0.0.1 and no host, so ``localhost`` is a wrong host name on purpose.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

ADMIN, ADMIN_PASSWORD = "admin", "admin-secret"
ADVISOR, ADVISOR_PASSWORD = "advisor", 'rea"d \\only=1'
_DAYS = 30


@dataclass(frozen=True, slots=True)
class Certificates:
    """PEM files: the authority, another authority that signed nothing here, and key + certificate of each principal."""

    authority: Path
    other_authority: Path
    broker: Path
    client: Path


def make_certificates(folder: Path) -> Certificates:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    key, certificate = _authority("Advisor test authority")
    _, other = _authority("Another authority")
    files = Certificates(folder / "ca.pem", folder / "other-ca.pem", folder / "broker.pem", folder / "client.pem")
    files.authority.write_bytes(_certificate_pem(certificate))
    files.other_authority.write_bytes(_certificate_pem(other))
    for path, name in ((files.broker, "broker"), (files.client, "advisor")):
        path.touch(mode=0o600)
        path.write_bytes(_signed(name, key, certificate))
    return files


def server_properties(certificates: Certificates) -> dict[str, str]:
    return {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificates.broker),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificates.authority),
        "ssl.client.auth": "required",
        "ssl.principal.mapping.rules": r"RULE:^(.*,)?CN=([^,]+)(,.*)?$/$2/,DEFAULT",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found": "false",
        "super.users": f"User:broker;User:{ADMIN}",
    }


def client_listener_properties() -> dict[str, str]:
    """Brokers only: logins on the CLIENT listener, by SCRAM or PLAIN."""
    security = "org.apache.kafka.common.security"
    users = f'user_{ADMIN}="{ADMIN_PASSWORD}" user_{ADVISOR}="{_quoted(ADVISOR_PASSWORD)}"'
    return {
        "listener.name.client.ssl.client.auth": "none",
        "listener.name.client.sasl.enabled.mechanisms": "SCRAM-SHA-512,SCRAM-SHA-256,PLAIN",
        "listener.name.client.scram-sha-512.sasl.jaas.config": f"{security}.scram.ScramLoginModule required;",
        "listener.name.client.scram-sha-256.sasl.jaas.config": f"{security}.scram.ScramLoginModule required;",
        "listener.name.client.plain.sasl.jaas.config": f"{security}.plain.PlainLoginModule required {users};",
    }


def scram_arguments() -> list[str]:
    """SCRAM users for ``kafka-storage format``: they exist from the start."""
    return [
        word
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
        for name, password in ((ADMIN, ADMIN_PASSWORD), (ADVISOR, ADVISOR_PASSWORD))
        for word in ("--add-scram", f"{mechanism}=[name={name},password={password}]")
    ]


def write_client_properties(
    path: Path, certificates: Certificates, *, user: str, password: str, mechanism: str = "SCRAM-SHA-512"
) -> Path:
    module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
    jaas = f'org.apache.kafka.common.security.{module} required username="{user}" password="{_quoted(password)}";'
    lines = [
        "# Read by Kafka's tools and by the advisor alike.",
        "security.protocol=SASL_SSL",
        f"sasl.mechanism={mechanism}",
        f"sasl.jaas.config={_escaped(jaas)}",
        "ssl.truststore.type=PEM",
        f"ssl.truststore.location={certificates.authority}",
    ]
    path.touch(mode=0o600)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\")


def _authority(name: str) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = ec.generate_private_key(ec.SECP256R1())
    rights = x509.KeyUsage(
        key_cert_sign=True, crl_sign=True, digital_signature=False, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    builder = _builder(name, name, key.public_key())
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    return key, builder.add_extension(rights, critical=True).sign(key, hashes.SHA256())


def _signed(name: str, authority_key: ec.EllipticCurvePrivateKey, authority: x509.Certificate) -> bytes:
    """PEM of a new key (PKCS#8) and its certificate, in this order."""
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = str(authority.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)[0].value)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    builder = _builder(name, issuer, key.public_key()).add_extension(address, critical=False)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return private + _certificate_pem(builder.sign(authority_key, hashes.SHA256()))


def _builder(name: str, issuer: str, public_key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, issuer)]))
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(days=_DAYS))
    )


def _certificate_pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
