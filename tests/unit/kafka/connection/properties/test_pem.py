import ssl
from pathlib import Path

import pytest

from rebalance_advisor.kafka.connection.java_properties import parse_properties
from rebalance_advisor.kafka.connection.properties import encoded, openssl_ciphers, unfolded

PEM = (Path(__file__).parents[4] / "data" / "key_stores" / "certificate.pem").read_text()
LINES = PEM.splitlines()
BODY = "".join(LINES[1:-1])


@pytest.mark.parametrize(
    "text",
    [
        PEM,
        PEM.replace("\n", "\r\n"),
        " ".join(LINES),
        f"{LINES[0]} {BODY} {LINES[-1]}",
        f"{LINES[0]}\n{BODY}{LINES[-1]}",
        f"Subject: somebody\n{PEM}",
        parse_properties("x=" + " \\\n  ".join(LINES), "f").values["x"],
        parse_properties("x=" + "\\n".join(LINES), "f").values["x"],
    ],
)
def test_however_it_is_folded_it_is_the_same(text: str) -> None:
    assert unfolded(text) == PEM


def test_a_chain_stays_a_chain_and_what_is_no_pem_stays_as_it_is() -> None:
    assert unfolded(" ".join([*LINES, *LINES])) == PEM * 2
    for text in ("", "no PEM", f"{LINES[0]} {BODY}", f"{LINES[0]} {BODY[:-1]}! {LINES[-1]}"):
        assert unfolded(text) == text


def test_a_key_that_openssl_encrypted_keeps_its_lines() -> None:
    kind = "RSA PRIVATE KEY"
    text = f"-----BEGIN {kind}-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES\n\nAAAA\n-----END {kind}-----\n"
    assert unfolded(text) == text


def test_der_is_written_in_lines_of_64() -> None:
    der = ssl.PEM_cert_to_DER_cert(PEM)
    assert encoded("CERTIFICATE", der) == PEM


@pytest.mark.parametrize(
    ("java", "openssl"),
    [
        ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
        ("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"),
        ("TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384", "ECDHE-RSA-AES256-SHA384"),
        ("TLS_DHE_RSA_WITH_AES_256_GCM_SHA384", "DHE-RSA-AES256-GCM-SHA384"),
        ("TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384"),
        ("TLS_AES_128_GCM_SHA256", ""),
        ("ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
        ("HIGH:!aNULL", "HIGH:!aNULL"),
        ("TLS_AES_128_GCM_SHA256, TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"),
    ],
)
def test_suites_by_the_names_that_openssl_has_for_them(java: str, openssl: str) -> None:
    assert openssl_ciphers(java) == openssl
    if openssl:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).set_ciphers(openssl)
