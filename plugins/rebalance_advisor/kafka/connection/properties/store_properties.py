"""``ssl.truststore.*`` and ``ssl.keystore.*`` with a file: PEM is used where it lies, JKS and PKCS#12 become PEM."""

from __future__ import annotations

from pathlib import Path

from kafka_rebalance.errors import InvalidInputError
from rebalance_advisor.input_bytes import MAX_SETTINGS_BYTES
from rebalance_advisor.kafka.connection.properties.given_properties import GivenProperties
from rebalance_advisor.kafka.connection.properties.key_stores import Store, StoreUnreadableError, read_store
from rebalance_advisor.kafka.connection.settings import ConnectionSettings

_TYPES = ("JKS", "PKCS12", "PEM")


def store_fields(settings: ConnectionSettings, given: GivenProperties) -> dict[str, str]:
    """Fields of ``ConnectionSettings`` that the stores give.

    Raises InvalidInputError for a store that cannot be read, or that says otherwise than another property.
    """
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
    """(file or '', type)."""
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
