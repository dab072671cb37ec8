"""Client side of SASL. Our PLAIN and SCRAM (``scram``) report why a broker is not trusted."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Generator
from typing import Any

from kafka.net.sasl import get_sasl_mechanism

from kafka_assignors.errors import InvalidInputError
from rebalance_advisor.kafka.connection.scram import login_messages, use_own_scram
from rebalance_advisor.kafka.connection.settings import ConnectionSettings
from rebalance_advisor.kafka.connection.tokens import TokenProvider

_OWN = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_PACKAGES = {"GSSAPI": "gssapi", "AWS_MSK_IAM": "botocore"}


class LoginNotPossibleError(Exception):
    """No ticket, credentials or token. The message holds no secret."""


def check_packages(settings: ConnectionSettings) -> None:
    package = _PACKAGES.get(settings.sasl_mechanism or "", "")
    if package and settings.has_login and importlib.util.find_spec(package) is None:
        raise InvalidInputError.at(
            "sasl.mechanism", f"{settings.sasl_mechanism} needs the package {package}, which is not installed",
            f"pip install {package}",
        )  # fmt: skip


def client_options(settings: ConnectionSettings) -> dict[str, Any]:
    """Also sets environment variables of kafka-python's packages."""
    use_own_scram()
    options: dict[str, Any] = {
        "sasl_mechanism": settings.sasl_mechanism,
        "sasl_plain_username": settings.username,
        "sasl_plain_password": settings.password,
    }
    if settings.token is not None:
        options["sasl_oauth_token_provider"] = TokenProvider(settings.token)
    if settings.kerberos is not None:
        options["sasl_kerberos_service_name"] = settings.kerberos.service_name
        if settings.kerberos.key_table:
            os.environ["KRB5_CLIENT_KTNAME"] = settings.kerberos.key_table
    if settings.aws_profile:
        os.environ["AWS_PROFILE"] = settings.aws_profile
    return options


def messages_of(settings: ConnectionSettings, host: str) -> Generator[bytes, bytes, None]:
    """Raises ServerNotTrustedError, LoginNotPossibleError, TokenRefusedError."""
    mechanism = settings.sasl_mechanism or ""
    if mechanism in _OWN:
        yield from login_messages(mechanism, settings.username or "", settings.password or "")
        return
    options = client_options(settings)
    try:
        login = get_sasl_mechanism(mechanism)(host=host, security_protocol=settings.security_protocol, **options)
    except Exception as failure:  # noqa: BLE001 # each package has its own
        raise LoginNotPossibleError(f"{mechanism} cannot begin: {failure}") from None
    while not login.is_done():
        try:
            message = login.auth_bytes()
        except Exception as failure:  # noqa: BLE001 # no ticket, region or credentials
            raise LoginNotPossibleError(f"{mechanism} cannot go on: {failure}") from None
        answer = yield message
        try:
            login.receive(answer)
        except Exception as failure:  # noqa: BLE001 # each package has its own
            raise LoginNotPossibleError(f"{mechanism} does not understand the broker's answer: {failure}") from None
