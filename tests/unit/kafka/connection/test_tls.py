from __future__ import annotations

import ssl
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.kafka.connection.settings import ConnectionSettings
from rebalance_advisor.kafka.connection.tls import tls_context
from stack.kafka.security import Certificates, make_certificates


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("tls") / "keys")


@pytest.fixture
def trusting(certificates: Certificates) -> ConnectionSettings:
    """Settings that trust the test's authority."""
    return ConnectionSettings((("h", 1),), "SSL", ca_location=str(certificates.authority))


def subjects(context: ssl.SSLContext) -> list[str]:
    """Common names of the authorities that it trusts."""
    return sorted(name[0][1] for entry in context.get_ca_certs() for name in entry["subject"])


def test_by_default_host_and_chain_are_checked_from_tls_1_2_on(trusting: ConnectionSettings) -> None:
    context = tls_context(trusting)
    assert subjects(context) == ["Advisor test authority"]
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    assert context.maximum_version == ssl.TLSVersion.TLSv1_3


def test_an_authority_as_text_is_the_one_of_the_file(trusting: ConnectionSettings, certificates: Certificates) -> None:
    given = replace(trusting, ca_location=None, ca_pem=certificates.authority.read_text())
    assert tls_context(given).get_ca_certs() == tls_context(trusting).get_ca_certs()


def test_probe_and_nothing_mean_the_systems_authorities(trusting: ConnectionSettings) -> None:
    """librdkafka's word is no file of that name."""
    system = tls_context(replace(trusting, ca_location=None)).get_ca_certs()
    assert tls_context(replace(trusting, ca_location="probe")).get_ca_certs() == system
    assert "Advisor test authority" not in {name[0][1] for entry in system for name in entry["subject"]}


@pytest.mark.parametrize(
    ("changes", "hostname", "mode"),
    [
        ({"is_host_name_checked": False}, False, ssl.CERT_REQUIRED),
        ({"is_certificate_verified": False}, False, ssl.CERT_NONE),
    ],
)
def test_what_is_not_to_be_checked_is_not(
    trusting: ConnectionSettings, changes: dict[str, bool], hostname: bool, mode: ssl.VerifyMode
) -> None:
    context = tls_context(replace(trusting, **changes))
    assert (context.check_hostname, context.verify_mode) == (hostname, mode)


@pytest.mark.parametrize(
    ("versions", "lowest", "highest"),
    [
        (("TLSv1.3",), ssl.TLSVersion.TLSv1_3, ssl.TLSVersion.TLSv1_3),
        (("TLSv1.3", "TLSv1.2"), ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3),
    ],
)
def test_versions_and_ciphers_in_javas_notation(
    trusting: ConnectionSettings, versions: tuple[str, ...], lowest: ssl.TLSVersion, highest: ssl.TLSVersion
) -> None:
    ciphers = "ECDHE-ECDSA-AES256-GCM-SHA384,ECDHE-RSA-AES256-GCM-SHA384"
    context = tls_context(replace(trusting, tls_versions=versions, ciphers=ciphers))
    assert (context.minimum_version, context.maximum_version) == (lowest, highest)
    chosen = {cipher["name"] for cipher in context.get_ciphers() if not cipher["name"].startswith("TLS_")}
    assert chosen == set(ciphers.split(","))


def test_a_revocation_list_is_asked_about_the_servers_certificate(
    trusting: ConnectionSettings, certificates: Certificates
) -> None:
    """Any PEM of certificates can be loaded; what counts is that the leaf is looked up from then on."""
    assert not tls_context(trusting).verify_flags & ssl.VERIFY_CRL_CHECK_LEAF
    with_list = tls_context(replace(trusting, crl_location=str(certificates.authority)))
    assert with_list.verify_flags & ssl.VERIFY_CRL_CHECK_LEAF


def encrypted_key(certificates: Certificates, password: bytes) -> str:
    key = serialization.load_pem_private_key(certificates.client.read_bytes(), None)
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(password)
    ).decode()


def test_a_key_with_a_password_is_opened_by_it_alone(trusting: ConnectionSettings, certificates: Certificates) -> None:
    """The chain's own file holds an open key as well: it is not taken instead."""
    own = replace(
        trusting, certificate_pem=certificates.client.read_text(), key_pem=encrypted_key(certificates, b"right")
    )
    tls_context(replace(own, key_password="right"))
    for password in ("wrong", None):
        with pytest.raises(InvalidInputError, match=r"given as PEM: .*ssl\.key\.password"):
            tls_context(replace(own, key_password=password))


def test_a_certificate_with_somebody_elses_key_is_refused(
    trusting: ConnectionSettings, certificates: Certificates
) -> None:
    own = replace(trusting, certificate_location=str(certificates.client), key_location=str(certificates.broker))
    with pytest.raises(InvalidInputError, match="the client certificate, its key"):
        tls_context(own)


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("ca_location", r"the CA \(ssl\.ca\.location, ssl\.truststore\.location\) cannot be used"),
        ("crl_location", r"ssl\.crl\.location cannot be used"),
        ("certificate_location", "the client certificate, its key or ssl.key.password cannot be used"),
    ],
)
def test_a_file_that_holds_no_pem_is_named_with_its_property(
    trusting: ConnectionSettings, tmp_path: Path, field: str, message: str
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("no certificate")
    with pytest.raises(InvalidInputError, match=f"^{file}: {message}"):
        tls_context(replace(trusting, **{field: str(file)}))
    with pytest.raises(InvalidInputError, match=f"^{file}.gone: {message} .*No such file"):
        tls_context(replace(trusting, **{field: f"{file}.gone"}))
