"""Fields that several properties make together: stores, logins, and the place that a message names."""

from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.kafka.connection.java_properties import GivenProperties
from rebalance_advisor.kafka.connection.properties import store_fields, with_login
from rebalance_advisor.kafka.connection.settings import ConnectionSettings, KerberosLogin, TokenSource

FOLDER = Path(__file__).parents[4] / "data" / "key_stores"
TOKEN = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
IAM = "software.amazon.msk.auth.iam.IAMLoginModule required;"
KRB5 = "com.sun.security.auth.module.Krb5LoginModule required"


def given(**properties: object) -> GivenProperties:
    named = {key.replace("_", "."): value for key, value in properties.items()}
    return GivenProperties.of(named, {"b": "file:2"}, "file")


def base(mechanism: str | None = None, **fields: object) -> ConnectionSettings:
    return ConnectionSettings((("b", 1),), "SASL_SSL", mechanism, **fields)  # type: ignore[arg-type]


def test_values_are_text_without_blanks_around_but_librdkafkas_password() -> None:
    result = given(a=True, b=" x ", c=7, d=None, sasl_password=" p ")
    assert result.values == {"a": "true", "b": "x", "c": "7", "sasl.password": " p "}
    assert "p " not in repr(result)
    assert (result.location("b"), result.location("a")) == ("file:2", "file")


def test_two_properties_may_say_the_same_and_no_more() -> None:
    fields: dict[str, object] = {}
    given().set(fields, "name", 1, "a")
    given().set(fields, "name", 1, "b")
    with pytest.raises(InvalidInputError, match=r"^file:2: b contradicts another property"):
        given().set(fields, "name", 2, "b")
    with pytest.raises(InvalidInputError, match="b='z' is not supported; known: x, y"):
        given().one_of(("x", "", "y"), "z", "b")


def test_a_pem_store_is_used_where_it_lies_and_others_become_pem() -> None:
    pem = given(
        ssl_truststore_location="/ca", ssl_truststore_type="pem", ssl_keystore_location="/k", ssl_keystore_type="PEM"
    )
    assert store_fields(base(), pem) == {"ca_location": "/ca", "certificate_location": "/k", "key_location": "/k"}
    jks = given(ssl_truststore_location=str(FOLDER / "trust.jks"))
    assert store_fields(base(), jks) == {"ca_pem": (FOLDER / "certificate.pem").read_text()}
    with pytest.raises(InvalidInputError, match=r"ssl\.truststore\.location contradicts"):
        store_fields(base(ca_pem="another"), jks)


@pytest.mark.parametrize(
    ("mechanism", "properties", "field", "expected"),
    [
        (None, {"sasl_jaas_config": f"{TOKEN} unsecuredLoginStringClaim_sub=me;"}, "sasl_mechanism", "OAUTHBEARER"),
        (
            "OAUTHBEARER",
            {"sasl_oauthbearer_token_endpoint_url": "https://x", "sasl_oauthbearer_client_id": "c",
             "sasl_oauthbearer_client_secret": "s", "sasl_oauthbearer_extensions": "a=1, b=2",
             "sasl_oauthbearer_header_urlencode": "TRUE"},
            "token", TokenSource("https://x", "c", "s", None, True, (("a", "1"), ("b", "2"))),
        ),
        (
            "GSSAPI", {"sasl_jaas_config": f'{KRB5} useKeyTab=true keyTab="/k" principal="p@X" serviceName="kafka";'},
            "kerberos", KerberosLogin("kafka", "/k", "p@X"),
        ),
        ("AWS_MSK_IAM", {"sasl_jaas_config": IAM}, "aws_profile", None),
    ],
)  # fmt: skip
def test_each_mechanism_gets_what_it_needs(
    mechanism: str | None, properties: dict[str, str], field: str, expected: object
) -> None:
    assert getattr(with_login(base(mechanism), given(**properties)), field) == expected


def test_a_login_that_is_not_wanted_is_left_alone() -> None:
    plain = ConnectionSettings((("b", 1),), "PLAINTEXT", "OAUTHBEARER")
    assert with_login(plain, given(sasl_jaas_config="nonsense")) == plain
