"""Properties of a SASL login → the fields that its mechanism needs, and what is missing of them in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kafka_rebalance.errors import InvalidInputError
from rebalance_advisor.kafka.connection.properties.given_properties import GivenProperties
from rebalance_advisor.kafka.connection.properties.jaas import (
    MODULES,
    JaasEntry,
    jaas_entry,
)
from rebalance_advisor.kafka.connection.properties.pem import unfolded
from rebalance_advisor.kafka.connection.properties.property_names import KNOWN_CLASSES, TOKENS
from rebalance_advisor.kafka.connection.settings import ConnectionSettings, KerberosLogin, TokenSource
from rebalance_advisor.outgoing_http import OutgoingRequestError, checked_address

PLAIN_LOGINS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_CLASSES = (
    "sasl.login.callback.handler.class",
    "sasl.client.callback.handler.class",
    "sasl.oauthbearer.jwt.retriever.class",
)
_EXTENSION, _CLAIM = "extension_", "unsecuredLoginStringClaim_"
# Of TokenSource, by the option that the login module takes.
_TOKEN_OPTIONS = {"clientId": "client_id", "clientSecret": "client_secret", "scope": "scope"}
_URLS = ("https://", "http://", "file:")


def with_login(settings: ConnectionSettings, given: GivenProperties) -> ConnectionSettings:
    """The settings with their login. Raises InvalidInputError for a part that is missing or cannot be served."""
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
    return jaas_entry(config, settings.sasl_mechanism or "", given.place("sasl.jaas.config"))


def _with_password(settings: ConnectionSettings, options: dict[str, str], given: GivenProperties) -> ConnectionSettings:
    if options.pop("tokenauth", "false").lower() == "true":
        raise given.refuse("sasl.jaas.config", "delegation tokens (tokenauth) are not supported", "log in by password")
    _refuse_others(options, ("username", "password"), given)
    found: dict[str, Any] = {}
    for name in ("username", "password"):
        values = {value for value in (getattr(settings, name), options.get(name)) if value}
        if len(values) > 1:
            raise given.refuse("sasl.jaas.config", "sasl.jaas.config contradicts another property", "give it once")
        found[name] = next(iter(values), None)
    if not all(found.values()):
        if options:
            raise given.refuse("sasl.jaas.config", "sasl.jaas.config lacks username or password")
        raise given.refuse(
            "sasl.mechanism", f"{settings.sasl_mechanism} needs a user name and a password",
            "give sasl.jaas.config, or sasl.username and sasl.password",
        )  # fmt: skip
    return replace(settings, **found)


def _token(options: Mapping[str, str], settings: ConnectionSettings, given: GivenProperties) -> TokenSource:
    found: dict[str, Any] = {}
    for key, name in TOKENS.items():
        if given.values.get(key):
            given.set(found, name, given.values[key], key)
    for option, name in _TOKEN_OPTIONS.items():
        if options.get(option):
            given.set(found, name, options[option], "sasl.jaas.config")
    own = {name for name in options if name.startswith((_EXTENSION, _CLAIM))}
    _refuse_others(options, (*_TOKEN_OPTIONS, *own), given)
    listed = [part.partition("=") for part in found.pop("extensions", "").split(",") if part]
    extensions = {name.strip(): value.strip() for name, _, value in listed}
    extensions |= {name.removeprefix(_EXTENSION): options[name] for name in own if name.startswith(_EXTENSION)}
    claims = {name.removeprefix(_CLAIM): options[name] for name in own if name.startswith(_CLAIM)}
    found["is_header_encoded"] = found.get("is_header_encoded", "false").lower() == "true"
    found |= _authorities(found, settings, given)
    source = TokenSource(**found, extensions=tuple(sorted(extensions.items())), claims=tuple(sorted(claims.items())))
    _check_token(source, given)
    return source


def _authorities(found: Mapping[str, Any], settings: ConnectionSettings, given: GivenProperties) -> dict[str, Any]:
    """The CA of the token endpoint: https.ca.*, else the broker's own one, else None for the system's."""
    location, pem = found.get("ca_location"), found.get("ca_pem")
    if location and pem:
        raise given.refuse("https.ca.pem", "https.ca.pem and https.ca.location name the same thing", "give it once")
    if not location and not pem and settings.has_tls:
        location, pem = settings.ca_location, settings.ca_pem
    # "probe" is librdkafka's word for where the system keeps them.
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


def _refuse_others(options: Mapping[str, str], known: tuple[str, ...], given: GivenProperties) -> None:
    strange = sorted(set(options) - set(known))
    if strange:
        raise InvalidInputError.at(
            given.place("sasl.jaas.config"), f"JAAS option {strange[0]} is not supported", "known: " + ", ".join(known)
        )
