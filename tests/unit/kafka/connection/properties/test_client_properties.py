from dataclasses import replace
from pathlib import Path

import pytest

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.kafka.connection.java_properties import FIELDS, WITHOUT_EFFECT, is_known
from rebalance_advisor.kafka.connection.properties import connection_settings
from rebalance_advisor.kafka.connection.settings import ConnectionSettings

SERVER = {"bootstrap.servers": "b:9092"}
SSL = {**SERVER, "security.protocol": "SSL"}
NAMELESS = {**SERVER, "security.protocol": "SASL_SSL", "sasl.username": "u", "sasl.password": "p"}
LOGIN = {**NAMELESS, "sasl.mechanism": "PLAIN"}
TOKEN_URL = "sasl.oauthbearer.token.endpoint.url"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required"


def settings(properties: dict[str, object]) -> ConnectionSettings:
    return connection_settings(properties)


@pytest.mark.parametrize(
    ("base", "given", "field", "expected"),
    [
        ({}, {"bootstrap.servers": "a:1,b:2"}, "servers", (("a", 1), ("b", 2))),
        ({}, {"metadata.broker.list": "a:1"}, "servers", (("a", 1),)),
        (SERVER, {"client.id": "me"}, "client_id", "me"),
        (SERVER, {"security.protocol": "ssl"}, "security_protocol", "SSL"),
        (LOGIN, {"sasl.mechanism": "scram-sha-256"}, "sasl_mechanism", "SCRAM-SHA-256"),
        (
            {k: v for k, v in LOGIN.items() if k != "sasl.mechanism"},
            {"sasl.mechanisms": "PLAIN"},
            "sasl_mechanism",
            "PLAIN",
        ),
        (LOGIN, {"sasl.username": "x"}, "username", "x"),
        (LOGIN, {"sasl.password": " x "}, "password", " x "),  # librdkafka takes it as it is
        (SSL, {"ssl.key.password": " x "}, "key_password", "x"),  # Java trims, passwords too
        (SERVER, {"security.protocol": "SSL  "}, "security_protocol", "SSL"),
        (SSL, {"ssl.ca.location": "/ca"}, "ca_location", "/ca"),
        (SSL, {"ssl.truststore.location": "/ca", "ssl.truststore.type": "PEM"}, "ca_location", "/ca"),
        (SSL, {"ssl.ca.pem": "PEM"}, "ca_pem", "PEM"),
        (SSL, {"ssl.truststore.certificates": "PEM", "ssl.truststore.type": "PEM"}, "ca_pem", "PEM"),
        (SSL, {"ssl.certificate.location": "/c", "ssl.key.location": "/k"}, "certificate_location", "/c"),
        (SSL, {"ssl.certificate.location": "/c", "ssl.key.location": "/k"}, "key_location", "/k"),
        (SSL, {"ssl.keystore.location": "/ks", "ssl.keystore.type": "pem"}, "certificate_location", "/ks"),
        (SSL, {"ssl.keystore.location": "/ks", "ssl.keystore.type": "pem"}, "key_location", "/ks"),
        (SSL, {"ssl.certificate.pem": "C", "ssl.key.pem": "K"}, "certificate_pem", "C"),
        (SSL, {"ssl.certificate.pem": "C", "ssl.key.pem": "K"}, "key_pem", "K"),
        (SSL, {"ssl.keystore.certificate.chain": "C", "ssl.keystore.key": "K"}, "certificate_pem", "C"),
        (SSL, {"ssl.keystore.certificate.chain": "C", "ssl.keystore.key": "K"}, "key_pem", "K"),
        (SSL, {"ssl.key.password": "s"}, "key_password", "s"),
        (SSL, {"ssl.crl.location": "/crl"}, "crl_location", "/crl"),
        (SSL, {"ssl.cipher.suites": "X"}, "ciphers", "X"),
        (SSL, {"ssl.cipher.suites": "TLS_AES_256_GCM_SHA384"}, "ciphers", None),
        (SSL, {"ssl.enabled.protocols": "TLSv1.2,TLSv1.1"}, "tls_versions", ("TLSv1.2",)),
        (SSL, {"ssl.enabled.protocols": "TLSv1.2, TLSv1.3"}, "tls_versions", ("TLSv1.2", "TLSv1.3")),
        (SSL, {"ssl.endpoint.identification.algorithm": "none"}, "is_host_name_checked", False),
        (SSL, {"ssl.endpoint.identification.algorithm": ""}, "is_host_name_checked", False),
        (SSL, {"ssl.endpoint.identification.algorithm": "HTTPS"}, "is_host_name_checked", True),
        (SSL, {"enable.ssl.certificate.verification": False}, "is_certificate_verified", False),
        (SSL, {"enable.ssl.certificate.verification": "true"}, "is_certificate_verified", True),
        (SERVER, {"socket.timeout.ms": 5000}, "request_timeout_ms", 5000),
        (SERVER, {"request.timeout.ms": "5000"}, "request_timeout_ms", 5000),
    ],
)
def test_each_property_reaches_its_setting(base: dict, given: dict, field: str, expected: object):
    assert getattr(settings({**base, **given}), field) == expected


def test_the_table_above_covers_every_known_property():
    marker = test_each_property_reaches_its_setting.pytestmark[0]
    tried = {key for _, given, _, _ in marker.args[1] for key in given}
    assert set(FIELDS) <= tried


@pytest.mark.parametrize(
    ("value", "servers"),
    [
        ("a:1, b:2 ,", (("a", 1), ("b", 2))),
        ("SASL_SSL://a:1", (("a", 1),)),
        ("a", (("a", 9092),)),
        ("[::1]:9093", (("::1", 9093),)),
        ("[::1]", (("::1", 9092),)),
        ("127.0.0.1:65535", (("127.0.0.1", 65535),)),
    ],
)
def test_server_lists(value: str, servers: tuple):
    assert settings({"bootstrap.servers": value}).servers == servers


@pytest.mark.parametrize("value", [":9092", "a:x", "a:0", "a:65536", "a:-1"])
def test_what_is_no_server_is_refused(value: str):
    with pytest.raises(InvalidInputError, match="is no host:port"):
        settings({"bootstrap.servers": value})


def test_bootstrap_on_the_command_line_goes_first():
    assert connection_settings(SERVER, bootstrap="c:1").servers == (("c", 1),)
    assert connection_settings({}, bootstrap="c:1").servers == (("c", 1),)


def test_what_producers_and_consumers_need_changes_nothing():
    result = settings({**SERVER, **dict.fromkeys(WITHOUT_EFFECT, "whatever")})
    assert result.without_effect == tuple(sorted(WITHOUT_EFFECT))
    assert replace(result, without_effect=()) == settings(SERVER)


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ({**SERVER, "sasl.mecanism": "PLAIN"}, "property 'sasl.mecanism' is not known"),
        ({**SERVER, "config.providers": "file"}, "from a config provider, which is Java code"),
        ({**LOGIN, "sasl.password": "${file:/run/secret:password}"}, "sasl.password is taken from a config provider"),
        ({**SERVER, "securty.protocol": "SSL"}, "'securty.protocol' is not known; is security.protocol meant"),
        ({**SERVER, "ssl.trustore.location": "/ca"}, "is ssl.truststore.location meant"),
        ({**SSL, "ssl.engine.factory.class": "org.acme.Tls"}, "names Java code that makes the TLS connection"),
        (
            {**LOGIN, "sasl.login.callback.handler.class": "org.acme.Vault"},
            "sasl.login.callback.handler.class=Vault is",
        ),
        ({**SERVER, "bootstrap.controllers": "c:1"}, "names controllers"),
        ({**SERVER, "security.protocol": "TLS"}, "security.protocol='TLS' is not supported; known: PLAINTEXT, SSL"),
        ({**LOGIN, "sasl.mechanism": "DIGEST-MD5"}, "sasl.mechanism='DIGEST-MD5' is not supported"),
        ({**LOGIN, "sasl.mechanism": "GSSAPI"}, "GSSAPI needs sasl.kerberos.service.name"),
        ({**LOGIN, "sasl.mechanism": "OAUTHBEARER"}, "OAUTHBEARER needs sasl.oauthbearer.token.endpoint.url"),
        ({**LOGIN, "sasl.mechanism": "OAUTHBEARER", TOKEN_URL: "ftp://x"}, "is no URL of https, http or file"),
        ({**LOGIN, "sasl.mechanism": "OAUTHBEARER", TOKEN_URL: "https://x"}, "needs a client id and its secret"),
        ({**LOGIN, "sasl.oauthbearer.assertion.file": "/jwt"}, "tokens by an assertion"),
        (
            {**LOGIN, "sasl.mechanism": "AWS_MSK_IAM", "security.protocol": "SASL_PLAINTEXT"},
            "needs security.protocol=SASL_SSL",
        ),
        ({k: v for k, v in LOGIN.items() if k != "sasl.password"}, "needs a user name and a password"),
        (NAMELESS, "sasl.mechanism is missing"),
        ({**SSL, "ssl.truststore.location": "/no.jks"}, r"/no.jks cannot be read \(No such file"),
        (
            {**SSL, "ssl.truststore.location": "/t", "ssl.truststore.type": "BKS"},
            "type='BKS' is not supported; known: JKS",
        ),
        ({**SSL, "ssl.certificate.pem": "C"}, "a client certificate needs its key"),
        ({**SSL, "ssl.key.location": "/k"}, "a key its certificate"),
        ({**SSL, "ssl.enabled.protocols": "TLSv1.1"}, "'TLSv1.1' is not supported"),
        ({**SSL, "enable.ssl.certificate.verification": "no"}, "known: true, false"),
        ({**SERVER, "request.timeout.ms": "soon"}, "is no number of milliseconds"),
        ({**SERVER, "metadata.broker.list": "c:1"}, "contradicts another property"),
        ({"client.id": "x"}, "bootstrap.servers is missing"),
    ],
)
def test_what_cannot_be_is_refused_in_words(properties: dict, message: str):
    with pytest.raises(InvalidInputError, match=message):
        settings(properties)


def test_a_refusal_names_the_line():
    places = {"ssl.nonsense": "client.properties:7"}
    with pytest.raises(InvalidInputError, match=r"^client\.properties:7: property 'ssl.nonsense' is not known"):
        connection_settings({**SERVER, "ssl.nonsense": "1"}, locations=places)


def test_no_secret_is_shown():
    shown = repr(settings({**LOGIN, "sasl.password": "hunter2", "ssl.certificate.pem": "C", "ssl.key.pem": "KEYTEXT",
                           "ssl.key.password": "hunter3"}))  # fmt: skip
    assert "hunter" not in shown
    assert "KEYTEXT" not in shown


def test_what_is_right_and_idle_is_told_and_what_is_of_no_account_is_listed():
    result = settings({**SERVER, "sasl.username": "u", "ssl.ca.location": "/ca", "schema.registry.url": "https://x",
                      "acks": "all", "client.dns.lookup": "use_all_dns_ips"})  # fmt: skip
    assert result.unused == (
        "'schema.registry.url' is no property of Kafka's clients",
        "sasl.username has no effect with security.protocol=PLAINTEXT",
        "ssl.ca.location has no effect with security.protocol=PLAINTEXT",
    )
    assert result.without_effect == ("acks", "client.dns.lookup")


NAMES = (Path(__file__).parents[4] / "data" / "kafka_4.3.1_client_properties.txt").read_text().split()


def test_every_property_of_kafkas_clients_is_known():
    """Printed by ``configNames()`` of AdminClientConfig, ConsumerConfig and ProducerConfig of 4.3.1."""
    assert len(NAMES) == 141
    assert [name for name in NAMES if not is_known(name)] == []
    assert settings({**SERVER, **dict.fromkeys(set(NAMES) & WITHOUT_EFFECT, "x")}).unused == ()


def jaas(config: str, mechanism: str = "SCRAM-SHA-512") -> ConnectionSettings:
    return settings(
        {**SERVER, "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism, "sasl.jaas.config": config}
    )


@pytest.mark.parametrize(
    ("options", "user", "password"),
    [
        ('username="u" password="p";', "u", "p"),
        ("password=p username=u;", "u", "p"),
        ('username="u"\n  password="a\\"b\\\\c;=d"  ;', "u", 'a"b\\c;=d'),
        ('username="u" password="p"', "u", "p"),
        ("username='u' password='p\"q';", "u", 'p"q'),  # a vendor's template
        ('/* who */ username="u" // and\n password="=;\\t" ;', "u", "=;\t"),
        ('username="u" password="p" tokenauth=false;', "u", "p"),
    ],
)
def test_user_and_password_come_out_of_jaas(options: str, user: str, password: str):
    result = jaas(f"{SCRAM} {options}")
    assert (result.username, result.password) == (user, password)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (f'{SCRAM} username="u";', "lacks username or password"),
        (f'{SCRAM} username="u" password="p" tokenauth="true";', "delegation tokens"),
        (f'{SCRAM} username="u" password="p" surname="x";', "JAAS option surname is not supported"),
        (f'{SCRAM} username="u" password="p;', "a quote in sasl.jaas.config is not closed"),
        (f"{SCRAM} username= ;", "are not name"),
        ('com.sun.security.auth.module.Krb5LoginModule required username="u" password="p";', "does not serve"),
        ('org.acme.Login required username="u" password="p";', "does not serve"),
        (f'{SCRAM.replace("scram.Scram", "plain.Plain")} username="u" password="p";', "does not serve"),
        ("nonsense", "is no JAAS entry"),
        (f"{SCRAM} username u;", "are not name"),
    ],
)
def test_jaas_that_cannot_log_in_is_refused_without_repeating_it(config: str, message: str):
    with pytest.raises(InvalidInputError, match=message) as refused:
        jaas(config)
    assert '"p"' not in str(refused.value)


def test_what_others_on_the_network_could_do_is_told():
    login = {"sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": "secret"}
    clear = {**SERVER, "security.protocol": "SASL_PLAINTEXT", **login}
    assert settings(clear).risks == (
        "security.protocol=SASL_PLAINTEXT sends the password unencrypted; use SASL_SSL",
    )  # fmt: skip
    assert settings({**clear, "sasl.mechanism": "SCRAM-SHA-512"}).risks == ()
    tls = {**clear, "security.protocol": "SASL_SSL"}
    assert settings(tls).risks == ()
    for value in ("", "none"):
        (risk,) = settings({**tls, "ssl.endpoint.identification.algorithm": value}).risks
        assert risk.startswith("host names are not checked")
    (risk,) = settings({**tls, "enable.ssl.certificate.verification": "false"}).risks
    assert risk.startswith("certificates are not verified")
