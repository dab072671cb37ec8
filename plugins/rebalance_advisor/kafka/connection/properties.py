"""Convert Java's or librdkafka's client properties to ``ConnectionSettings``.

Names that do not affect reading go to ``without_effect``; those idle here (a CA with PLAINTEXT) or of another program
to ``unused``. ``sasl.jaas.config`` follows Kafka's ``JaasConfig`` (StreamTokenizer).

JKS and PKCS#12 stores become PEM. As in Java, PEM may be one line, and type JKS may hold PKCS#12. JKS
(sun.security.provider.JavaKeyStore): keys XORed with a SHA-1 stream (KeyProtector), the file signed with the password.
"""

from __future__ import annotations

import base64
import binascii
import difflib
import hashlib
import hmac
import re
import struct
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from rebalance_advisor.input_bytes import MAX_SETTINGS_BYTES
from rebalance_advisor.kafka.connection.java_properties import (
    ASSERTIONS,
    CONNECTING,
    FIELDS,
    JAVA_CODE,
    KNOWN_CLASSES,
    LOGINS,
    STORES,
    TOKENS,
    WITHOUT_EFFECT,
    GivenProperties,
    is_known,
)
from rebalance_advisor.kafka.connection.settings import ConnectionSettings, KerberosLogin, TokenSource
from rebalance_advisor.outgoing_http import OutgoingRequestError, checked_address

# As DefaultSslEngineFactory.PemParser: header, "name: value" lines, base64 with any white space, footer.
_BLOCK = re.compile(
    r"-+BEGIN\s+(?P<kind>[A-Z0-9 ]+?)\s*-+\s+"
    r"(?:\s*[A-Za-z][A-Za-z-]*:[^\r\n]*[\r\n]+)*"
    r"(?P<body>[A-Za-z0-9/+=\s]*)-+END\s+(?P=kind)\s*-+"
)
_ENCRYPTED_BY_OPENSSL = "Proc-Type"


def unfolded(text: str) -> str:
    """Return PEM blocks. A text without blocks, and OpenSSL's old keys (``Proc-Type``), stay unchanged."""
    if _ENCRYPTED_BY_OPENSSL in text:
        return text
    blocks = [block(match["kind"], "".join(match["body"].split())) for match in _BLOCK.finditer(text)]
    return "".join(blocks) if all(blocks) and blocks else text


def block(kind: str, body: str) -> str:
    try:
        base64.b64decode(body, validate=True)
    except binascii.Error:
        return ""
    lines = "\n".join(textwrap.wrap(body, 64))
    return f"-----BEGIN {kind}-----\n{lines}\n-----END {kind}-----\n"


def encoded(kind: str, der: bytes) -> str:
    return block(kind, base64.b64encode(der).decode())


_JKS, _JCEKS, _SEQUENCE = b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce", 0x30
_KEY, _CERTIFICATE = 1, 2
_SIGNED_WITH = b"Mighty Aphrodite"
_DIGEST_BYTES = 20
_KEY_PROTECTOR = bytes.fromhex("060a2b060104012a02110101")  # OID 1.3.6.1.4.1.42.2.17.1.1


class StoreUnreadableError(ValueError):
    """The message holds no secret."""


@dataclass(frozen=True, slots=True)
class Store:
    trusted: str = ""
    chain: str = ""
    key: str | None = field(default=None, repr=False)


def read_store(data: bytes, password: str | None, key_password: str | None = None, *, with_key: bool = True) -> Store:
    """``key_password`` defaults to ``password``.

    Raises StoreUnreadableError. Without ``with_key`` the key stays encrypted and its certificate is not trusted.
    """
    if data[:4] == _JKS:
        return _jks(data, password, password if key_password is None else key_password, with_key=with_key)
    if data[:4] == _JCEKS:
        raise StoreUnreadableError("it is a JCEKS store; convert it: keytool -importkeystore -deststoretype PKCS12")
    if data[:1] == bytes([_SEQUENCE]):
        return _pkcs12(data, password)
    raise StoreUnreadableError("it is neither a JKS nor a PKCS#12 store")


def _pkcs12(data: bytes, password: str | None) -> Store:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.serialization import pkcs12

    try:
        bundle = pkcs12.load_pkcs12(data, None if password is None else password.encode())
    except ValueError:
        raise StoreUnreadableError("its password is wrong, or it is damaged") from None
    own = [] if bundle.cert is None else [bundle.cert.certificate]
    others = [entry.certificate for entry in bundle.additional_certs]
    pem = serialization.Encoding.PEM
    key = None
    if bundle.key is not None:
        kept = bundle.key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        key = kept.decode()
    trusted, chain = (
        "".join(certificate.public_bytes(pem).decode() for certificate in certificates)
        for certificates in ([*others, *([] if key else own)], [*own, *others])
    )
    return Store(trusted=trusted, chain=chain if key else "", key=key)


def _jks(data: bytes, password: str | None, key_password: str | None, *, with_key: bool) -> Store:
    if password is not None:
        signature = hashlib.sha1(_utf16(password) + _SIGNED_WITH + data[:-_DIGEST_BYTES]).digest()  # noqa: S324
        if not hmac.compare_digest(signature, data[-_DIGEST_BYTES:]):
            raise StoreUnreadableError("its password is wrong, or it is damaged")
    trusted, chain, key = "", "", None
    try:
        for kind, protected, certificates in _entries(data):
            if kind == _CERTIFICATE:
                trusted += certificates
            elif key is None and with_key:  # as in Java's clients
                key, chain = encoded("PRIVATE KEY", _opened(protected, key_password or "")), certificates
    except (struct.error, IndexError, UnicodeDecodeError):
        raise StoreUnreadableError("it is damaged") from None
    return Store(trusted, chain, key)


def _entries(data: bytes) -> Iterator[tuple[int, bytes, str]]:
    """Yield (kind, protected key, certificates as PEM)."""
    version, count = struct.unpack_from(">ii", data, 4)
    at = 12

    def block(width: str) -> bytes:
        nonlocal at
        (size,) = struct.unpack_from(width, data, at)
        start = at + struct.calcsize(width)
        at = start + size
        if size < 0 or at > len(data):
            raise IndexError
        return data[start:at]

    def certificate() -> str:
        if version == 2:
            block(">H")  # certificate type: X.509
        return encoded("CERTIFICATE", block(">i"))

    for _ in range(count):
        (kind,) = struct.unpack_from(">i", data, at)
        at += 4
        block(">H")  # alias
        at += 8  # creation time
        if kind not in (_KEY, _CERTIFICATE):
            raise IndexError
        protected, certificates = b"", 1
        if kind == _KEY:
            protected = block(">i")
            (certificates,) = struct.unpack_from(">i", data, at)
            at += 4
        yield kind, protected, "".join(certificate() for _ in range(certificates))


def _opened(protected: bytes, password: str) -> bytes:
    """EncryptedPrivateKeyInfo: salt, key XOR digests, digest of the key."""
    if _KEY_PROTECTOR not in protected:
        raise StoreUnreadableError("its key is protected in a way that is not JKS's own")
    hidden = _octets(protected)
    salt, body, check = hidden[:_DIGEST_BYTES], hidden[_DIGEST_BYTES:-_DIGEST_BYTES], hidden[-_DIGEST_BYTES:]
    secret, digest, stream = _utf16(password), salt, b""
    while len(stream) < len(body):
        digest = hashlib.sha1(secret + digest).digest()  # noqa: S324
        stream += digest
    plain = bytes(a ^ b for a, b in zip(body, stream, strict=False))
    if not hmac.compare_digest(hashlib.sha1(secret + plain).digest(), check):  # noqa: S324
        raise StoreUnreadableError("the password of its key (ssl.key.password) is wrong")
    return plain


def _octets(der: bytes) -> bytes:
    """SEQUENCE { SEQUENCE algorithm, OCTET STRING }."""
    _, outer, _ = _element(der, 0)
    _, _, after = _element(outer, 0)
    _, octets, _ = _element(outer, after)
    return octets


def _element(der: bytes, at: int) -> tuple[int, bytes, int]:
    """Return (tag, content, next offset)."""
    tag, size, start = der[at], der[at + 1], at + 2
    if size & 0x80:
        wide = size & 0x7F
        size, start = int.from_bytes(der[start : start + wide], "big"), start + wide
    return tag, der[start : start + size], start + size


def _utf16(password: str) -> bytes:
    return password.encode("utf-16-be")


_TYPES = ("JKS", "PKCS12", "PEM")


def store_fields(settings: ConnectionSettings, given: GivenProperties) -> dict[str, str]:
    fields: dict[str, object] = {}
    _take_trusted(fields, given)
    _take_key(fields, settings, given)
    for name, value in fields.items():
        if value and getattr(settings, name) not in (None, value):
            key = "ssl.truststore.location" if name.startswith("ca_") else "ssl.keystore.location"
            raise given.refuse(key, f"{key} contradicts another property for the same thing", "give it once")
    return {name: str(value) for name, value in fields.items() if value}


def _take_trusted(fields: dict[str, object], given: GivenProperties) -> None:
    location, kind = _location(given, "truststore")
    if not location:
        return
    if kind == "PEM":
        fields["ca_location"] = location
        return
    trusted = _read("truststore", given, with_key=False).trusted
    if not trusted:
        raise given.refuse(
            "ssl.truststore.location", f"{location} holds no certificate that can be read",
            "a PKCS12 store shows them only with ssl.truststore.password",
        )  # fmt: skip
    fields["ca_pem"] = trusted


def _take_key(fields: dict[str, object], settings: ConnectionSettings, given: GivenProperties) -> None:
    location, kind = _location(given, "keystore")
    if not location:
        return
    if kind == "PEM":
        fields |= {"certificate_location": location, "key_location": location}
        return
    store = _read("keystore", given, settings.key_password)
    if store.key is None:
        raise given.refuse("ssl.keystore.location", f"{location} holds no private key")
    fields |= {"certificate_pem": store.chain, "key_pem": store.key}


def _location(given: GivenProperties, store: str) -> tuple[str, str]:
    key = f"ssl.{store}.type"
    kind = given.one_of(_TYPES, given.values.get(key, "").upper() or "JKS", key)
    return given.values.get(f"ssl.{store}.location", ""), kind


def _read(store: str, given: GivenProperties, key_password: str | None = None, *, with_key: bool = True) -> Store:
    key = f"ssl.{store}.location"
    location = given.values[key]
    try:
        with Path(location).open("rb") as file:
            data = file.read(MAX_SETTINGS_BYTES + 1)
        if len(data) > MAX_SETTINGS_BYTES:
            raise given.refuse(key, f"{location} is too large for a key store")
        return read_store(data, given.values.get(f"ssl.{store}.password") or None, key_password, with_key=with_key)
    except OSError as failure:
        raise InvalidInputError.at(given.location(key), f"{location} cannot be read ({failure.strerror})") from None
    except StoreUnreadableError as failure:
        raise given.refuse(key, f"{location} cannot be read: {failure}") from None


PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
TOKEN_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"  # noqa: S105  # a class
KERBEROS_MODULE = "com.sun.security.auth.module.Krb5LoginModule"
IAM_MODULE = "software.amazon.msk.auth.iam.IAMLoginModule"
# Module → mechanisms, the usual one first.
MODULES: Mapping[str, tuple[str, ...]] = {
    PLAIN_MODULE: ("PLAIN",),
    SCRAM_MODULE: ("SCRAM-SHA-512", "SCRAM-SHA-256"),
    TOKEN_MODULE: ("OAUTHBEARER",),
    KERBEROS_MODULE: ("GSSAPI",),
    IAM_MODULE: ("AWS_MSK_IAM",),
}
_FLAGS = ("required", "requisite", "sufficient", "optional")
_TOKEN = re.compile(
    r"""\s+|//[^\n]*|/\*.*?\*/                                   # white space and comments
    |(?P<quoted>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<sign>[=;])
    |(?P<word>[^\s"'=;]+)""",
    re.VERBOSE | re.DOTALL,
)
_JAAS_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b", "a": "\a", "v": "\v"}


@dataclass(frozen=True, slots=True)
class JaasEntry:
    module: str
    options: Mapping[str, str] = field(repr=False)


def jaas_entry(config: str, mechanism: str, location: str) -> JaasEntry:
    """Raises InvalidInputError, never with a value, where Java refuses."""
    tokens = _tokens(config, location)
    if len(tokens) < 2 or tokens[1].lower() not in _FLAGS:
        raise InvalidInputError.at(
            location, "sasl.jaas.config is no JAAS entry", 'write MODULE required username="…" …;'
        )
    module, rest = tokens[0], tokens[2:]
    if rest and rest[-1] == ";":
        rest = rest[:-1]
    if module not in MODULES or (mechanism and mechanism.upper() not in MODULES[module]):
        raise InvalidInputError.at(
            location, f"login module {module} does not serve sasl.mechanism={mechanism or '(not given)'}",
            "known: " + ", ".join(sorted(MODULES)),
        )  # fmt: skip
    return JaasEntry(module, _options(rest, location))


def _tokens(config: str, location: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    while at < len(config):
        token = _TOKEN.match(config, at)
        if token is None:
            raise InvalidInputError.at(location, "a quote in sasl.jaas.config is not closed")
        at = token.end()
        if token["quoted"] is not None:
            tokens.append(_Quoted(_unescape_jaas(token["quoted"][1:-1])))
        elif token["sign"] or token["word"]:
            tokens.append(token["sign"] or token["word"])
    return tokens


class _Quoted(str):
    __slots__ = ()


def _options(tokens: list[str], location: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for i in range(0, len(tokens), 3):
        part = tokens[i : i + 3]
        is_pair = len(part) == 3 and part[1] == "=" and not isinstance(part[1], _Quoted)
        if not is_pair or (part[2] in ("=", ";") and not isinstance(part[2], _Quoted)):
            raise InvalidInputError.at(location, 'the options of sasl.jaas.config are not name="value" pairs')
        options[str(part[0])] = str(part[2])
    return options


def _unescape_jaas(value: str) -> str:
    return re.sub(r"\\([0-7]{1,3}|.)", lambda match: _character(match[1]), value, flags=re.DOTALL)


def _character(code: str) -> str:
    return chr(int(code, 8) & 0xFF) if code[0] in "01234567" else _JAAS_ESCAPES.get(code, code)


PLAIN_LOGINS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_CLASSES = (
    "sasl.login.callback.handler.class",
    "sasl.client.callback.handler.class",
    "sasl.oauthbearer.jwt.retriever.class",
)
_EXTENSION, _CLAIM = "extension_", "unsecuredLoginStringClaim_"
_TOKEN_OPTIONS = {"clientId": "client_id", "clientSecret": "client_secret", "scope": "scope"}
_URLS = ("https://", "http://", "file:")


def with_login(settings: ConnectionSettings, given: GivenProperties) -> ConnectionSettings:
    if not settings.has_login:
        return settings
    entry = _entry(settings, given)
    mechanism = settings.sasl_mechanism or (MODULES[entry.module][0] if entry else None)
    if mechanism is None:
        raise given.refuse("security.protocol", "sasl.mechanism is missing", "SCRAM-SHA-512 is one")
    for key in _CLASSES:
        name = given.values.get(key, "").rpartition(".")[2]
        if name and name not in KNOWN_CLASSES:
            raise given.refuse(key, f"{key}={name} is Java code that logs in", "Python cannot run it")
    settings = replace(settings, sasl_mechanism=mechanism)
    options = dict(entry.options) if entry else {}
    if mechanism == "OAUTHBEARER":
        return replace(settings, token=_token(options, settings, given))
    if mechanism == "GSSAPI":
        return replace(settings, kerberos=_kerberos(options, given))
    if mechanism == "AWS_MSK_IAM":
        return replace(settings, aws_profile=_profile(options, settings, given))
    return _with_password(settings, options, given)


def _entry(settings: ConnectionSettings, given: GivenProperties) -> JaasEntry | None:
    config = given.values.get("sasl.jaas.config")
    if not config:
        return None
    return jaas_entry(config, settings.sasl_mechanism or "", given.location("sasl.jaas.config"))


def _with_password(settings: ConnectionSettings, options: dict[str, str], given: GivenProperties) -> ConnectionSettings:
    if options.pop("tokenauth", "false").lower() == "true":
        raise given.refuse("sasl.jaas.config", "delegation tokens (tokenauth) are not supported", "log in by password")
    _refuse_others(options, ("username", "password"), given)
    credentials: dict[str, Any] = {}
    for name in ("username", "password"):
        values = {value for value in (getattr(settings, name), options.get(name)) if value}
        if len(values) > 1:
            raise given.refuse("sasl.jaas.config", "sasl.jaas.config contradicts another property", "give it once")
        credentials[name] = next(iter(values), None)
    if not all(credentials.values()):
        if options:
            raise given.refuse("sasl.jaas.config", "sasl.jaas.config lacks username or password")
        raise given.refuse(
            "sasl.mechanism", f"{settings.sasl_mechanism} needs a user name and a password",
            "give sasl.jaas.config, or sasl.username and sasl.password",
        )  # fmt: skip
    return replace(settings, **credentials)


def _token(options: Mapping[str, str], settings: ConnectionSettings, given: GivenProperties) -> TokenSource:
    fields: dict[str, Any] = {}
    for key, name in TOKENS.items():
        if given.values.get(key):
            given.set(fields, name, given.values[key], key)
    for option, name in _TOKEN_OPTIONS.items():
        if options.get(option):
            given.set(fields, name, options[option], "sasl.jaas.config")
    own = {name for name in options if name.startswith((_EXTENSION, _CLAIM))}
    _refuse_others(options, (*_TOKEN_OPTIONS, *own), given)
    listed = [part.partition("=") for part in fields.pop("extensions", "").split(",") if part]
    extensions = {name.strip(): value.strip() for name, _, value in listed}
    extensions |= {name.removeprefix(_EXTENSION): options[name] for name in own if name.startswith(_EXTENSION)}
    claims = {name.removeprefix(_CLAIM): options[name] for name in own if name.startswith(_CLAIM)}
    fields["is_header_encoded"] = fields.get("is_header_encoded", "false").lower() == "true"
    fields |= _authorities(fields, settings, given)
    source = TokenSource(**fields, extensions=tuple(sorted(extensions.items())), claims=tuple(sorted(claims.items())))
    _check_token(source, given)
    return source


def _authorities(fields: Mapping[str, Any], settings: ConnectionSettings, given: GivenProperties) -> dict[str, Any]:
    """https.ca.*, else the broker's CA, else None for the system's."""
    location, pem = fields.get("ca_location"), fields.get("ca_pem")
    if location and pem:
        raise given.refuse("https.ca.pem", "https.ca.pem and https.ca.location name the same thing", "give it once")
    if not location and not pem and settings.has_tls:
        location, pem = settings.ca_location, settings.ca_pem
    # "probe" in librdkafka: the system's CA store.
    return {"ca_location": None if pem or location == "probe" else location, "ca_pem": unfolded(pem) if pem else None}


def _check_token(source: TokenSource, given: GivenProperties) -> None:
    url = "sasl.oauthbearer.token.endpoint.url"
    if source.endpoint is None:
        if not source.claims:
            raise given.refuse("sasl.mechanism", f"OAUTHBEARER needs {url}", "https://… of the identity provider")
    elif not source.endpoint.startswith(_URLS):
        raise given.refuse(url, f"{source.endpoint!r} is no URL of https, http or file")
    elif not source.endpoint.startswith("file:"):
        if not (source.client_id and source.client_secret):
            raise given.refuse(
                url, "OAUTHBEARER needs a client id and its secret",
                "sasl.oauthbearer.client.credentials.client.id and ….client.secret, or clientId, clientSecret in JAAS",
            )  # fmt: skip
        try:
            checked_address(source.endpoint, has_secret=True)
        except OutgoingRequestError as refusal:
            raise given.refuse(url, f"{url} cannot be used: {refusal}") from None


def _kerberos(options: Mapping[str, str], given: GivenProperties) -> KerberosLogin:
    service = given.values.get("sasl.kerberos.service.name") or options.get("serviceName")
    if not service:
        raise given.refuse("sasl.mechanism", "GSSAPI needs sasl.kerberos.service.name", "it is kafka nearly everywhere")
    return KerberosLogin(
        service_name=service,
        key_table=options.get("keyTab") or given.values.get("sasl.kerberos.keytab") or None,
        principal=options.get("principal") or given.values.get("sasl.kerberos.principal") or None,
    )


def _profile(options: Mapping[str, str], settings: ConnectionSettings, given: GivenProperties) -> str | None:
    if not settings.has_tls:
        raise given.refuse("security.protocol", "AWS_MSK_IAM needs security.protocol=SASL_SSL")
    _refuse_others(options, ("awsProfileName", "awsDebugCreds"), given)
    return options.get("awsProfileName") or None


def _refuse_others(options: Mapping[str, str], supported: tuple[str, ...], given: GivenProperties) -> None:
    strange = sorted(set(options) - set(supported))
    if strange:
        raise InvalidInputError.at(
            given.location("sasl.jaas.config"),
            f"JAAS option {strange[0]} is not supported",
            "known: " + ", ".join(supported),
        )


_IANA = re.compile(r"TLS_(?:(?P<exchange>\w+?)_)?WITH_(?P<cipher>\w+)")


def openssl_ciphers(value: str) -> str:
    """Return '' for TLS 1.3 suites only: Python cannot select among them."""
    named = [_openssl(name) for name in re.split(r"[,:\s]+", value.strip()) if name]
    return ":".join(name for name in named if name)


def _openssl(name: str) -> str:
    if name.startswith("TLS_") and "_WITH_" not in name:
        return ""
    match = _IANA.fullmatch(name)
    if match is None:
        return name
    cipher = re.sub(r"(AES|ARIA|CAMELLIA)_(\d+)", r"\1\2", match["cipher"]).replace("_CBC", "")
    cipher = cipher.replace("CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305")
    exchange = "" if match["exchange"] in (None, "RSA") else f"{match['exchange']}-"
    return f"{exchange}{cipher}".replace("_", "-")


PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = (*PLAIN_LOGINS, "OAUTHBEARER", "GSSAPI", "AWS_MSK_IAM")
_TLS_VERSIONS = ("TLSv1.2", "TLSv1.3")
_DEFAULT_PORT = 9092
_DIGITS = re.compile(r"[0-9]{1,9}")
_FROM_PROVIDER = re.compile(r"\$\{[^}:]+:(?:[^}:]*:)?[^}]*\}")
_ALIKE = 0.86  # difflib ratio: matches securty.protocol


def connection_settings(
    properties: Mapping[str, object],
    *,
    bootstrap: str | None = None,
    locations: Mapping[str, str] | None = None,
    source: str = "client properties",
) -> ConnectionSettings:
    """``bootstrap`` overrides ``bootstrap.servers``. Raises InvalidInputError with ``locations`` or ``source``."""
    given = GivenProperties.of(properties, locations or {}, source)
    if given.values and not any(map(is_known, given.values)):  # not a client file: its content is private
        raise given.refuse(next(iter(given.values)), "is no property of a Kafka client", "bootstrap.servers=… is one")
    fields: dict[str, object] = {}
    unused: list[str] = []
    for key in sorted(given.values):
        _take(fields, unused, key, given)
    if bootstrap is not None:
        fields["servers"] = parse_servers(bootstrap, "--bootstrap")
    if not fields.get("servers"):
        raise InvalidInputError.at(source, "bootstrap.servers is missing", "say host:port of one broker or more")
    settings = ConnectionSettings(**fields)  # type: ignore[arg-type] # each field has its own function
    if settings.has_tls:
        settings = replace(settings, **store_fields(settings, given))  # type: ignore[arg-type]
        if bool(settings.certificate_location or settings.certificate_pem) != bool(
            settings.key_location or settings.key_pem
        ):
            raise InvalidInputError.at(given.source, "a client certificate needs its key, and a key its certificate")
    settings = with_login(settings, given)
    quiet = tuple(key for key in sorted(given.values) if key in WITHOUT_EFFECT)
    return replace(settings, without_effect=quiet, unused=(*unused, *_idle(settings, given)))


def parse_servers(value: str, location: str) -> tuple[tuple[str, int], ...]:
    """Drops a scheme; the default port is 9092."""
    servers = []
    for listed in filter(None, (part.strip() for part in value.split(","))):
        address = listed.split("://")[-1]
        host, colon, port = address.rpartition(":")
        if not colon or (host.count(":") and not host.endswith("]")):
            host, port = address, str(_DEFAULT_PORT)
        if not host or not _DIGITS.fullmatch(port) or not 0 < int(port) < 65536:
            raise InvalidInputError.at(location, f"{listed!r} is no host:port", "write broker1.example.org:9092")
        servers.append((host.strip("[]"), int(port)))
    return tuple(servers)


def _take(fields: dict[str, object], unused: list[str], key: str, given: GivenProperties) -> None:
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
        if value or key == "ssl.endpoint.identification.algorithm":  # '' in Java: check no host name
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
    keys = [*FIELDS, *STORES, *LOGINS, *TOKENS]
    alike = difflib.get_close_matches(key, keys, n=1, cutoff=_ALIKE)
    if key.startswith(CONNECTING) or alike:
        hint = f"is {alike[0]} meant?" if alike else "remove it, or say which one is meant"
        raise given.refuse(key, f"property {excerpt(key)} is not known", hint)
    unused.append(f"{excerpt(key)} is no property of Kafka's clients")


def _converted(key: str, value: str, given: GivenProperties) -> object:
    convert = _CONVERTERS.get(FIELDS[key])
    return value if convert is None else convert(key, value, given)


def _milliseconds(key: str, value: str, given: GivenProperties) -> int:
    if not _DIGITS.fullmatch(value) or not int(value):
        raise given.refuse(key, f"{key}={value!r} is no number of milliseconds")
    return int(value)


def _tls_versions(key: str, value: str, given: GivenProperties) -> tuple[str, ...]:
    """Drop versions below TLS 1.2 beside newer ones: their brokers must not get a password."""
    named = [part.strip() for part in value.split(",")]
    return tuple(part for part in named if part in _TLS_VERSIONS) or (given.one_of(_TLS_VERSIONS, named[0], key),)


_CONVERTERS: dict[str, Callable[[str, str, GivenProperties], object]] = {
    "servers": lambda key, value, given: parse_servers(value, given.location(key)),
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
    return [
        f"{key} has no effect with security.protocol={settings.security_protocol}"
        for prefix, is_used in (("sasl.", settings.has_login), ("ssl.", settings.has_tls))
        for key in sorted(given.values)
        if key.startswith(prefix) and key not in WITHOUT_EFFECT and given.values[key] and not is_used
    ]
