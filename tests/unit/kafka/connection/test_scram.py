"""The client's half of a login, against the examples of the RFCs."""

import base64

import pytest

from rebalance_advisor.kafka.connection.scram import ServerNotTrustedError, _scram, login_messages

NONCE = "rOprNGfwEbeRWgbNEkqO"
CHALLENGE = b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"


def test_the_example_of_rfc_7677():
    messages = _scram("sha256", "user", "pencil", NONCE)
    assert next(messages) == b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
    assert messages.send(CHALLENGE) == (
        b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    )
    with pytest.raises(StopIteration):
        messages.send(b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


def test_a_server_that_does_not_know_the_password_is_not_trusted():
    messages = _scram("sha256", "user", "pencil", NONCE)
    next(messages)
    messages.send(CHALLENGE)
    with pytest.raises(ServerNotTrustedError, match="did not prove"):
        messages.send(b"v=" + base64.b64encode(b"x" * 32))


@pytest.mark.parametrize(
    "challenge",
    [b"", b"e=other-error", b"r=short,s=W22ZaA==,i=4096", b"r=" + NONCE.encode() + b"x,s=W22ZaA==,i=0",
     b"r=" + NONCE.encode() + b"x,s=W22ZaA==,i=99999999", b"r=" + NONCE.encode() + b"x,s=%,i=x"],
)  # fmt: skip
def test_a_challenge_that_is_none_is_refused(challenge: bytes):
    messages = _scram("sha512", "user", "pencil", NONCE)
    next(messages)
    with pytest.raises(ServerNotTrustedError):
        messages.send(challenge)


def test_comma_and_equals_sign_in_a_user_name_are_escaped():
    assert next(_scram("sha256", "a,b=c", "p", "n")) == b"n,,n=a=2Cb=3Dc,r=n"


def test_plain_is_one_message():
    messages = login_messages("PLAIN", "user", "pässword")
    assert next(messages) == b"\0user\0" + "pässword".encode()
    with pytest.raises(StopIteration):
        messages.send(b"")


def test_every_login_has_a_fresh_nonce():
    assert next(login_messages("SCRAM-SHA-256", "u", "p")) != next(login_messages("SCRAM-SHA-256", "u", "p"))
