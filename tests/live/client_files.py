"""Client properties files as people have them: those that Kafka's own tools accept, and those that cannot work."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    load_pem_private_key,
    pkcs12,
)
from cryptography.x509 import load_pem_x509_certificate

from rebalance_advisor.kafka.connection.java_properties import WITHOUT_EFFECT
from stack.kafka.cluster import KafkaCluster
from stack.kafka.security import ADVISOR, ADVISOR_PASSWORD
from tests.live.identity_provider import CLIENT_ID, CLIENT_SECRET, IdentityProvider

STORE_PASSWORD, KEY_PASSWORD = "store-secret", "key-secret"
SECRETS = (ADVISOR_PASSWORD, STORE_PASSWORD, KEY_PASSWORD, CLIENT_SECRET, "guessed-secret")
SECURITY = "org.apache.kafka.common.security"
_TOKEN_HANDLER = f"{SECURITY}.oauthbearer.OAuthBearerLoginCallbackHandler"
# Right for Kafka's clients, of no account for reading: with values that they accept.
ADMIN_DEFAULTS = {
    "client.dns.lookup": "use_all_dns_ips", "connections.max.idle.ms": "300000", "default.api.timeout.ms": "60000",
    "enable.metrics.push": "true", "metadata.max.age.ms": "300000", "metadata.recovery.strategy": "rebootstrap",
    "metadata.recovery.rebootstrap.trigger.ms": "300000", "metrics.num.samples": "2",
    "metrics.recording.level": "INFO", "metrics.sample.window.ms": "30000", "receive.buffer.bytes": "65536",
    "reconnect.backoff.max.ms": "1000", "reconnect.backoff.ms": "50", "request.timeout.ms": "30000",
    "retries": "2147483647", "retry.backoff.max.ms": "1000", "retry.backoff.ms": "100",
    "sasl.login.refresh.buffer.seconds": "300", "sasl.login.refresh.window.factor": "0.8",
    "send.buffer.bytes": "131072", "socket.connection.setup.timeout.ms": "10000", "ssl.protocol": "TLSv1.3",
    "ssl.keymanager.algorithm": "SunX509", "ssl.trustmanager.algorithm": "PKIX",
}  # fmt: skip
assert set(ADMIN_DEFAULTS) - WITHOUT_EFFECT == {"request.timeout.ms"}


@dataclass(frozen=True)
class KeyFiles:
    """The test cluster's authority and the advisor's certificate in every format that Java reads."""

    authority: Path
    client: Path
    trust_jks: Path
    trust_p12: Path
    key_jks: Path
    key_p12: Path
    locked_key: str
    chain: str


def make_key_files(cluster: KafkaCluster, folder: Path) -> KeyFiles:
    """keytool makes the JKS stores, as operators do."""
    keys = cluster.certificates
    assert keys is not None
    files = {name: folder / name for name in ("trust.jks", "trust.p12", "key.jks", "key.p12")}
    for name, kind in (("trust.jks", "JKS"), ("trust.p12", "PKCS12")):
        _keytool("-importcert", "-noprompt", "-alias", "ca", "-file", keys.authority, "-keystore", files[name],
                 "-storetype", kind, "-storepass", STORE_PASSWORD)  # fmt: skip
    pem = keys.client.read_bytes()
    key, certificate = load_pem_private_key(pem, None), load_pem_x509_certificate(pem)
    locked = BestAvailableEncryption(STORE_PASSWORD.encode())
    files["key.p12"].write_bytes(pkcs12.serialize_key_and_certificates(b"advisor", key, certificate, None, locked))  # type: ignore[arg-type]
    _keytool("-importkeystore", "-noprompt", "-srckeystore", files["key.p12"], "-srcstoretype", "PKCS12",
             "-srcstorepass", STORE_PASSWORD, "-srcalias", "advisor", "-destkeystore", files["key.jks"],
             "-deststoretype", "JKS", "-deststorepass", STORE_PASSWORD, "-destkeypass", KEY_PASSWORD)  # fmt: skip
    # The way that Java 17 opens, too: it knows no PBES2 under this name.
    closed = subprocess.run(
        ["openssl", "pkcs8", "-topk8", "-v1", "PBE-SHA1-3DES", "-in", keys.client, "-passout", f"pass:{KEY_PASSWORD}"],
        check=True, capture_output=True, timeout=300,
    ).stdout  # fmt: skip
    return KeyFiles(
        keys.authority, keys.client, files["trust.jks"], files["trust.p12"], files["key.jks"], files["key.p12"],
        closed.decode(), certificate.public_bytes(Encoding.PEM).decode(),
    )  # fmt: skip


def _keytool(*arguments: object) -> None:
    subprocess.run(["keytool", *map(str, arguments)], check=True, capture_output=True, timeout=300)


def jaas(quote: str = '"', module: str = "scram.ScramLoginModule", password: str = ADVISOR_PASSWORD) -> str:
    """As it stands in a file: backslashes of the JAAS line doubled once more."""
    inner = password.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    line = f"{SECURITY}.{module} required username={quote}{ADVISOR}{quote} password={quote}{inner}{quote};"
    return line.replace("\\", "\\\\")


def folded(pem: str, by: str) -> str:
    """PEM as one value: ``continued`` lines, ``spaces``, or ``escaped`` line ends."""
    lines = pem.strip().splitlines()
    return {"continued": " \\\n    ", "spaces": " ", "escaped": "\\n"}[by].join(lines)


def scram(files: KeyFiles, *more: str, login: str | None = None, mechanism: str = "SCRAM-SHA-512") -> str:
    """A login by password, TLS by the PEM authority where ``more`` says nothing of a trust store."""
    trust = () if any("truststore" in line for line in more) else trusted(files)
    lines = ["security.protocol=SASL_SSL", f"sasl.mechanism={mechanism}", f"sasl.jaas.config={login or jaas()}"]
    return "\n".join([*lines, *trust, *more])


def trusted(files: KeyFiles) -> tuple[str, ...]:
    return ("ssl.truststore.type=PEM", f"ssl.truststore.location={files.authority}")


def by_certificate(files: KeyFiles, *more: str) -> str:
    return "\n".join(["security.protocol=SSL", *trusted(files), *more])


def by_token(files: KeyFiles, url: str, *more: str, options: str = "") -> str:
    login = f"{SECURITY}.oauthbearer.OAuthBearerLoginModule required{options} ;"
    handler = f"sasl.login.callback.handler.class={_TOKEN_HANDLER}"
    return scram(
        files, handler, f"sasl.oauthbearer.token.endpoint.url={url}", *more, login=login, mechanism="OAUTHBEARER"
    )


def good_files(files: KeyFiles, provider: IdentityProvider, folder: Path) -> dict[str, str]:
    """Name → text. Those that log in by certificate have "certificate" in their names."""
    authority = files.authority.read_text()
    own_key = files.client.read_text().split("-----BEGIN CERTIFICATE")[0]
    token_file = folder / "token.jwt"
    token_file.write_text(provider.token(ADVISOR, 3600.0))
    return {
        "a cloud vendor's template": (
            "# Required connection configs for Kafka producer, consumer, and admin\n"
            + scram(files, login=jaas("'", "plain.PlainLoginModule"), mechanism="PLAIN")
            + "\n# Required for correctness in Apache Kafka clients prior to 2.6\nclient.dns.lookup=use_all_dns_ips\n"
            "session.timeout.ms=45000\nacks=all\n"
            "schema.registry.url=https://registry.example.org\nbasic.auth.credentials.source=USER_INFO\n"
            "basic.auth.user.info=guessed-secret:guessed-secret\n"
        ),
        "SCRAM-SHA-512": scram(files),
        "SCRAM-SHA-256": scram(files, mechanism="SCRAM-SHA-256"),
        "PLAIN": scram(files, login=jaas(module="plain.PlainLoginModule"), mechanism="PLAIN"),
        "JKS, Java's default": scram(
            files, f"ssl.truststore.location={files.trust_jks}", f"ssl.truststore.password={STORE_PASSWORD}"
        ),
        "JKS without a password": scram(files, f"ssl.truststore.location={files.trust_jks}"),
        "PKCS12": scram(
            files, f"ssl.truststore.location={files.trust_p12}", "ssl.truststore.type=PKCS12",
            f"ssl.truststore.password={STORE_PASSWORD}",
        ),
        "PKCS12 under JKS's name": scram(
            files, f"ssl.truststore.location={files.trust_p12}", f"ssl.truststore.password={STORE_PASSWORD}"
        ),
        **{
            f"PEM in the file, {by}": scram(
                files, "ssl.truststore.type=PEM", f"ssl.truststore.certificates={folded(authority, by)}"
            )
            for by in ("continued", "spaces", "escaped")
        },
        "blanks after values": scram(files).replace("\n", "  \n"),
        "JAAS over several lines, with comments": scram(
            files,
            login=jaas().replace(" username", " \\\n  /* who */ username").replace(" password", " \\\n  password"),
        ),
        "JAAS with options the other way round": scram(
            files,
            login=f"{SECURITY}.scram.ScramLoginModule sufficient password="
            + jaas().partition("password=")[2][:-1] + f" username='{ADVISOR}';",
        ),
        "colons, blanks, escapes, a byte of each": "! Java's own format\n" + "\n".join(
            f"{key.replace('.', chr(92) + 'u002e')} {':' if i % 2 else ' '} {value}"
            for i, (key, _, value) in enumerate(line.partition("=") for line in scram(files).splitlines())
        ),
        "a key given twice": "security.protocol=PLAINTEXT\n" + scram(files),
        "lower case": scram(files).replace("SASL_SSL", "sasl_ssl"),
        "no host name is checked": scram(files, "ssl.endpoint.identification.algorithm="),
        "TLS 1.2 and older": scram(files, "ssl.enabled.protocols=TLSv1.2,TLSv1.1"),
        "a suite by Java's name": scram(
            files, "ssl.enabled.protocols=TLSv1.2", "ssl.cipher.suites=TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
        ),
        "all defaults of the admin client": scram(files, *(f"{key}={value}" for key, value in ADMIN_DEFAULTS.items())),
        "a consumer's": scram(
            files, "group.id=billing", "auto.offset.reset=earliest", "enable.auto.commit=false",
            "isolation.level=read_committed",
            "key.deserializer=org.apache.kafka.common.serialization.StringDeserializer",
        ),
        "a producer's": scram(files, "acks=all", "linger.ms=5", "compression.type=zstd", "enable.idempotence=true"),
        "other programs' keys": scram(files, "confluent.monitoring=x", "spring.kafka.retry=3", "app.name=billing"),
        "certificate, one PEM file": by_certificate(
            files, "ssl.keystore.type=PEM", f"ssl.keystore.location={files.client}"
        ),
        "certificate and key in the file": by_certificate(
            files, "ssl.keystore.type=PEM", f"ssl.keystore.key={folded(own_key, 'spaces')}",
            f"ssl.keystore.certificate.chain={folded(files.chain, 'continued')}",
        ),
        "certificate, a locked key": by_certificate(
            files, "ssl.keystore.type=PEM", f"ssl.keystore.key={folded(files.locked_key, 'escaped')}",
            f"ssl.keystore.certificate.chain={folded(files.chain, 'spaces')}", f"ssl.key.password={KEY_PASSWORD}",
        ),
        "certificate, JKS with two passwords": by_certificate(
            files, f"ssl.keystore.location={files.key_jks}", f"ssl.keystore.password={STORE_PASSWORD}",
            f"ssl.key.password={KEY_PASSWORD}",
        ),
        "certificate, PKCS12": by_certificate(
            files, f"ssl.keystore.location={files.key_p12}", "ssl.keystore.type=PKCS12",
            f"ssl.keystore.password={STORE_PASSWORD}",
        ),
        "token by client credentials": by_token(
            files, provider.url, f"sasl.oauthbearer.client.credentials.client.id={CLIENT_ID}",
            f"sasl.oauthbearer.client.credentials.client.secret={CLIENT_SECRET}", "sasl.oauthbearer.scope=kafka",
        ),
        "token by client credentials in JAAS": by_token(
            files, provider.url, options=f" clientId='{CLIENT_ID}' clientSecret='{CLIENT_SECRET}' scope='kafka'"
        ),
        "token in a file": by_token(files, token_file.as_uri()),
    }  # fmt: skip


def bad_files(files: KeyFiles, provider: IdentityProvider, folder: Path) -> dict[str, tuple[str, str]]:
    """Name → (text, what the refusal says)."""
    other = folder / "other.jceks"
    _keytool("-genseckey", "-alias", "s", "-keyalg", "AES", "-keysize", "128", "-storetype", "JCEKS", "-keystore",
             other, "-storepass", STORE_PASSWORD, "-keypass", STORE_PASSWORD)  # fmt: skip
    (folder / "stale.jwt").write_text(provider.token(ADVISOR, -60.0))
    client = (f"sasl.oauthbearer.client.credentials.client.id={CLIENT_ID}",)
    secret = "sasl.oauthbearer.client.credentials.client.secret="
    return {
        "password": (scram(files, login=jaas(password="guessed-secret")), "refused user 'advisor'"),
        "mechanism that is not offered": (
            scram(files, "sasl.kerberos.service.name=kafka", mechanism="GSSAPI", login="com.sun.security.auth.module."
                  "Krb5LoginModule required useTicketCache=true;"), "GSSAPI (needs the package gssapi|cannot begin)"),
        "trust store's password": (
            scram(files, f"ssl.truststore.location={files.trust_jks}", "ssl.truststore.password=guessed-secret"),
            "its password is wrong"),
        "trust store that is not there": (scram(files, "ssl.truststore.location=/none.jks"), "No such file"),
        "trust store that is PEM by name only": (
            scram(files, "ssl.truststore.type=PEM", f"ssl.truststore.location={files.trust_jks}"), "the CA"),
        "JCEKS": (scram(files, f"ssl.truststore.location={other}"), "JCEKS"),
        "an authority of somebody else": (
            scram(files, f"ssl.truststore.location={files.key_jks}", "ssl.truststore.type=JKS"), "no certificate"),
        "key's password": (
            by_certificate(files, f"ssl.keystore.location={files.key_jks}", "ssl.key.password=guessed-secret"),
            r"password of its key \(ssl.key.password\) is wrong"),
        "key that is locked": (
            by_certificate(files, f"ssl.keystore.key={folded(files.locked_key, 'escaped')}",
                           f"ssl.keystore.certificate.chain={folded(files.chain, 'spaces')}"), "ssl.key.password"),
        "key without its certificate": (
            by_certificate(files, f"ssl.keystore.key={folded(files.locked_key, 'escaped')}"), "its certificate"),
        "a quote that is not closed": (scram(files, login=jaas()[:-2]), "is not closed"),
        "JAAS of another mechanism": (scram(files, login=jaas(module="plain.PlainLoginModule")), "does not serve"),
        "a module of one's own": (scram(files, login="org.acme.Vault required;"), "org.acme.Vault does not serve"),
        "a name misspelt": (scram(files, "ssl.trustore.password=x"), "is ssl.truststore.password meant"),
        "a provider of values": (
            scram(files, "config.providers=file").replace(ADVISOR, "${file:/run/kafka:user}"), "config provider"),
        "Java code": (scram(files, "ssl.engine.factory.class=org.acme.Engine"), "names Java code"),
        "a suite that nobody has": (scram(files, "ssl.cipher.suites=TLS_NO_WITH_SUCH"), "ssl.cipher.suites"),
        "TLS too old": (scram(files, "ssl.enabled.protocols=TLSv1.1"), "'TLSv1.1' is not supported"),
        "token's secret": (by_token(files, provider.url, *client, f"{secret}guessed-secret"), "invalid_client"),
        "token's endpoint": (by_token(files, "http://127.0.0.1:1/token", *client, f"{secret}x"), "gives no token"),
        "token that has ended": (by_token(files, (folder / "stale.jwt").as_uri()), "the broker refused"),
        "token without an endpoint": (
            scram(files, login=f"{SECURITY}.oauthbearer.OAuthBearerLoginModule required ;", mechanism="OAUTHBEARER"),
            "needs sasl.oauthbearer.token.endpoint.url"),
        "no protocol": (scram(files).replace("security.protocol=SASL_SSL\n", ""), "speaks TLS|TLS"),
        "no login": (by_certificate(files), "client certificate|try SASL_SSL"),
    }  # fmt: skip
