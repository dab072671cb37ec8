"""Convert JKS and PKCS#12 stores to PEM.

As in Java, PEM may be one line, and type JKS may hold PKCS#12. JKS (sun.security.provider.JavaKeyStore): keys XORed
with a SHA-1 stream (KeyProtector), the file signed with the password.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import struct
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.input_bytes import MAX_SETTINGS_BYTES
from rebalance_advisor.kafka.connection.java_properties import GivenProperties
from rebalance_advisor.kafka.connection.settings import ConnectionSettings

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
    blocks = [block(found["kind"], "".join(found["body"].split())) for found in _BLOCK.finditer(text)]
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
        found = pkcs12.load_pkcs12(data, None if password is None else password.encode())
    except ValueError:
        raise StoreUnreadableError("its password is wrong, or it is damaged") from None
    own = [] if found.cert is None else [found.cert.certificate]
    others = [entry.certificate for entry in found.additional_certs]
    pem = serialization.Encoding.PEM
    key = None
    if found.key is not None:
        kept = found.key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
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
        raise InvalidInputError.at(given.place(key), f"{location} cannot be read ({failure.strerror})") from None
    except StoreUnreadableError as failure:
        raise given.refuse(key, f"{location} cannot be read: {failure}") from None
