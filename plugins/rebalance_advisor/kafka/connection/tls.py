from __future__ import annotations

import contextlib
import ssl
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.kafka.connection.settings import ConnectionSettings

_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


def tls_context(settings: ConnectionSettings) -> ssl.SSLContext:
    """Allow TLS 1.2 or newer."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    versions = [_VERSIONS[version] for version in settings.tls_versions] or [
        ssl.TLSVersion.TLSv1_2,
        ssl.TLSVersion.TLSv1_3,
    ]
    context.minimum_version, context.maximum_version = min(versions), max(versions)
    _load_authorities(context, settings)
    _load_certificate(context, settings)
    if settings.crl_location:
        try:
            context.load_verify_locations(settings.crl_location)
        except (OSError, ssl.SSLError) as failure:
            raise _wrong("ssl.crl.location", settings.crl_location, failure) from None
        context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
    if settings.ciphers:
        try:
            context.set_ciphers(settings.ciphers.replace(",", ":"))
        except ssl.SSLError as failure:
            raise _wrong("ssl.cipher.suites", settings.ciphers, failure) from None
    if not settings.is_host_name_checked or not settings.is_certificate_verified:
        context.check_hostname = False
    if not settings.is_certificate_verified:
        context.verify_mode = ssl.CERT_NONE
    return context


def _load_authorities(context: ssl.SSLContext, settings: ConnectionSettings) -> None:
    location = settings.ca_location
    try:
        if settings.ca_pem:
            context.load_verify_locations(cadata=settings.ca_pem)
        elif location and location != "probe":  # librdkafka's name of the system's store
            is_folder = Path(location).is_dir()
            context.load_verify_locations(capath=location) if is_folder else context.load_verify_locations(location)
        else:
            context.load_default_certs()
    except (OSError, ssl.SSLError) as failure:
        raise _wrong("the CA (ssl.ca.location, ssl.truststore.location)", location or "given as PEM", failure) from None


def _load_certificate(context: ssl.SSLContext, settings: ConnectionSettings) -> None:
    """``load_cert_chain`` needs files, so text goes to temporary ones (0600).

    Key and chain are separate: OpenSSL would skip a key that the password does not open and use another.
    """
    if not (settings.certificate_location or settings.certificate_pem):
        return
    where = settings.certificate_location or "given as PEM"
    try:
        chain = settings.certificate_pem or _text(settings.certificate_location)
        key = settings.key_pem or _text(settings.key_location) or chain
        with _pem_file(chain) as certificates, _pem_file(key) as keys:
            # Without one OpenSSL would prompt on the terminal.
            context.load_cert_chain(certificates, keys, password=settings.key_password or "")
    except (OSError, ssl.SSLError) as failure:
        raise _wrong("the client certificate, its key or ssl.key.password", where, failure) from None


@contextlib.contextmanager
def _pem_file(text: str) -> Iterator[str]:
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".pem") as file:
        file.write(text)
        file.flush()
        yield file.name


def _text(location: str | None) -> str:
    return Path(location).read_text(encoding="utf-8") if location else ""


def _wrong(what: str, value: str, failure: Exception) -> InvalidInputError:
    reason = getattr(failure, "reason", None) or getattr(failure, "strerror", None) or failure
    return InvalidInputError.at(value, f"{what} cannot be used ({reason})", "give PEM that openssl reads")
