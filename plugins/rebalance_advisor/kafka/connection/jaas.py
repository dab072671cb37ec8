"""User and password out of ``sasl.jaas.config``, as Kafka's Java clients write them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from kafka_rebalance.errors import InvalidInputError

_MODULES = {
    "org.apache.kafka.common.security.plain.PlainLoginModule": ("PLAIN",),
    "org.apache.kafka.common.security.scram.ScramLoginModule": ("SCRAM-SHA-256", "SCRAM-SHA-512"),
}
_ENTRY = re.compile(r"\s*(?P<module>[\w.$]+)\s+(?P<flag>\w+)(?P<options>.*?);?\s*", re.DOTALL)
_OPTION = re.compile(r'\s*(?P<name>[\w.]+)\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^\s;"]+))', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Login:
    """A user and its password."""

    username: str
    password: str = field(repr=False)


def jaas_login(config: str, mechanism: str, place: str) -> Login:
    """The login of one JAAS entry. ``mechanism`` is ``sasl.mechanism`` ('' where it is not given).

    Raises InvalidInputError, which never repeats the value, for a login module of another mechanism, an option that is
    not known (a delegation token, say), or a missing user or password.
    """
    entry = _ENTRY.fullmatch(config)
    if entry is None:
        raise InvalidInputError.at(place, "sasl.jaas.config is no JAAS entry", 'write MODULE required username="…" …;')
    module = entry["module"]
    if module not in _MODULES or (mechanism and mechanism.upper() not in _MODULES[module]):
        raise InvalidInputError.at(
            place, f"login module {module} does not serve sasl.mechanism={mechanism or '(not given)'}",
            "known: " + ", ".join(sorted(_MODULES)),
        )  # fmt: skip
    options = _options(entry["options"], place)
    strange = sorted(set(options) - {"username", "password"})
    if strange:
        raise InvalidInputError.at(place, f"JAAS option {strange[0]} is not supported", "log in by user and password")
    if not options.get("username") or not options.get("password"):
        raise InvalidInputError.at(place, "sasl.jaas.config lacks username or password")
    return Login(options["username"], options["password"])


def _options(text: str, place: str) -> dict[str, str]:
    found: dict[str, str] = {}
    rest = text
    while rest.strip():
        option = _OPTION.match(rest)
        if option is None:
            raise InvalidInputError.at(place, 'the options of sasl.jaas.config are not name="value" pairs')
        quoted = option["quoted"]
        found[option["name"]] = option["plain"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        rest = rest[option.end() :]
    return found
