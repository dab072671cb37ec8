from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.kafka.connection.properties import Store, StoreUnreadableError, connection_settings, read_store
from rebalance_advisor.kafka.connection.settings import ConnectionSettings
from rebalance_advisor.kafka.connection.tls import tls_context

FOLDER = Path(__file__).parents[4] / "data" / "key_stores"
CERTIFICATE = (FOLDER / "certificate.pem").read_text()
KEY = (FOLDER / "key.pem").read_text()


def number(key: str | None) -> int:
    """The private number of an EC key; PKCS#8 may hold the public one beside it or not."""
    loaded = load_pem_private_key((key or "").encode(), None)
    assert isinstance(loaded, EllipticCurvePrivateKey)
    return loaded.private_numbers().private_value


def store(name: str, password: str | None = "storeword", key_password: str | None = None) -> Store:
    return read_store((FOLDER / name).read_bytes(), password, key_password)


@pytest.mark.parametrize("name", ["trust.jks", "trust.p12"])
def test_trusted_certificates(name: str) -> None:
    assert store(name) == Store(trusted=CERTIFICATE)


@pytest.mark.parametrize(("name", "key_password"), [("key.jks", "keyword"), ("key.p12", None)])
def test_a_key_with_its_chain(name: str, key_password: str | None) -> None:
    key_store = store(name, key_password=key_password)
    assert (number(key_store.key), key_store.chain) == (number(KEY), CERTIFICATE)
    assert "PRIVATE" not in repr(key_store)


def test_a_jks_store_shows_its_certificates_without_a_password_as_java_does() -> None:
    assert store("trust.jks", None).trusted == CERTIFICATE


@pytest.mark.parametrize("name", ["key.jks", "key.p12"])
def test_the_certificate_of_a_key_is_no_trusted_one_as_in_java(name: str) -> None:
    result = read_store((FOLDER / name).read_bytes(), "storeword", with_key=False)
    assert result.trusted == ""


@pytest.mark.parametrize(
    ("name", "password", "key_password", "message"),
    [
        ("trust.jks", "wrong", None, "its password is wrong, or it is damaged"),
        ("trust.p12", "wrong", None, "its password is wrong, or it is damaged"),
        ("key.jks", "storeword", None, r"the password of its key \(ssl.key.password\) is wrong"),
        ("key.jks", None, "wrong", r"the password of its key \(ssl.key.password\) is wrong"),
        ("other.jceks", "storeword", None, "it is a JCEKS store"),
        ("certificate.pem", "storeword", None, "neither a JKS nor a PKCS#12 store"),
    ],
)
def test_what_cannot_be_opened_says_why(
    name: str, password: str | None, key_password: str | None, message: str
) -> None:
    with pytest.raises(StoreUnreadableError, match=message):
        store(name, password, key_password)


@pytest.mark.parametrize("name", ["key.jks", "trust.jks", "key.p12", "trust.p12"])
def test_a_store_cut_anywhere_is_refused_in_words(name: str) -> None:
    whole = (FOLDER / name).read_bytes()
    for end in range(0, len(whole), 7):
        with pytest.raises(StoreUnreadableError):
            read_store(whole[:end], "storeword", "keyword")
    for end in range(12, len(whole) - 20, 7):  # no password: the signature is not looked at
        try:
            read_store(whole[:end], None, "keyword")
        except StoreUnreadableError:
            continue
        pytest.fail(f"{name} cut at {end} was read")


def settings(**properties: str) -> ConnectionSettings:
    named = {key.replace("_", "."): value for key, value in properties.items()}
    return connection_settings({"bootstrap.servers": "b:1", "security.protocol": "SSL", **named})


@pytest.mark.parametrize(
    "trust",
    [
        {"ssl_truststore_location": str(FOLDER / "trust.jks")},  # JKS is Java's default
        {"ssl_truststore_location": str(FOLDER / "trust.p12"), "ssl_truststore_password": "storeword"},
        {
            "ssl_truststore_location": str(FOLDER / "trust.p12"), "ssl_truststore_password": "storeword ",
            "ssl_truststore_type": "pkcs12",
        },
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "own",
    [
        {
            "ssl_keystore_location": str(FOLDER / "key.jks"), "ssl_keystore_password": "storeword",
            "ssl_key_password": "keyword",
        },
        {"ssl_keystore_location": str(FOLDER / "key.p12"), "ssl_keystore_password": "storeword"},
    ],
)  # fmt: skip
def test_a_client_with_such_stores_makes_a_context(trust: dict[str, str], own: dict[str, str]) -> None:
    result = settings(**trust, **own)
    assert (result.ca_pem, result.certificate_pem, number(result.key_pem)) == (CERTIFICATE, CERTIFICATE, number(KEY))
    assert tls_context(result).cert_store_stats()["x509"] == 1


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({"ssl_truststore_location": str(FOLDER / "trust.p12")}, "ssl.truststore.password|its password is wrong"),
        ({"ssl_truststore_location": str(FOLDER / "trust.jks"), "ssl_truststore_password": "no"}, "its password is wr"),
        ({"ssl_keystore_location": str(FOLDER / "trust.jks")}, "holds no private key"),
        ({"ssl_truststore_location": str(FOLDER)}, r"cannot be read \(Is a directory\)"),
    ],
)
def test_a_store_that_cannot_serve_is_refused_with_its_property(properties: dict[str, str], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as refused:
        settings(**properties)
    assert "storeword" not in str(refused.value)
