"""``sasl.jaas.config`` as Kafka's Java clients read it: one login module with its options.

``JaasConfig`` reads with a ``StreamTokenizer``: values stand in double or single quotes, or bare; C and C++ comments
are passed over; a backslash escapes inside quotes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_rebalance.errors import InvalidInputError

PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM_MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
TOKEN_MODULE = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"  # noqa: S105  # a class
KERBEROS_MODULE = "com.sun.security.auth.module.Krb5LoginModule"
IAM_MODULE = "software.amazon.msk.auth.iam.IAMLoginModule"
# Login module → the mechanisms that it serves, the usual one first.
MODULES: Mapping[str, tuple[str, ...]] = {
    PLAIN_MODULE: ("PLAIN",),
    SCRAM_MODULE: ("SCRAM-SHA-512", "SCRAM-SHA-256"),
    TOKEN_MODULE: ("OAUTHBEARER",),
    KERBEROS_MODULE: ("GSSAPI",),
    IAM_MODULE: ("AWS_MSK_IAM",),
}
_FLAGS = ("required", "requisite", "sufficient", "optional")
_TOKEN = re.compile(
    r"""\s+|//[^\n]*|/\*.*?\*/                                   # white space and comments
    |(?P<quoted>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
    |(?P<sign>[=;])
    |(?P<word>[^\s"'=;]+)""",
    re.VERBOSE | re.DOTALL,
)
_CONTROL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b", "a": "\a", "v": "\v"}


@dataclass(frozen=True, slots=True)
class JaasEntry:
    """A login module and its options, in which secrets may be."""

    module: str
    options: Mapping[str, str] = field(repr=False)


def jaas_entry(config: str, mechanism: str, place: str) -> JaasEntry:
    """The entry of ``config``. ``mechanism`` is ``sasl.mechanism`` ('' where it is not given).

    Raises InvalidInputError, which never repeats a value, where Java would find no entry, or for a login module that
    is not known or serves another mechanism.
    """
    tokens = _tokens(config, place)
    if len(tokens) < 2 or tokens[1].lower() not in _FLAGS:
        raise InvalidInputError.at(place, "sasl.jaas.config is no JAAS entry", 'write MODULE required username="…" …;')
    module, rest = tokens[0], tokens[2:]
    if rest and rest[-1] == ";":
        rest = rest[:-1]
    if module not in MODULES or (mechanism and mechanism.upper() not in MODULES[module]):
        raise InvalidInputError.at(
            place, f"login module {module} does not serve sasl.mechanism={mechanism or '(not given)'}",
            "known: " + ", ".join(sorted(MODULES)),
        )  # fmt: skip
    return JaasEntry(module, _options(rest, place))


def _tokens(config: str, place: str) -> list[str]:
    """Words, values without their quotes, and the signs ``=`` and ``;``."""
    found: list[str] = []
    at = 0
    while at < len(config):
        token = _TOKEN.match(config, at)
        if token is None:
            raise InvalidInputError.at(place, "a quote in sasl.jaas.config is not closed")
        at = token.end()
        if token["quoted"] is not None:
            found.append(_Quoted(_unescaped(token["quoted"][1:-1])))
        elif token["sign"] or token["word"]:
            found.append(token["sign"] or token["word"])
    return found


class _Quoted(str):
    """A value that stood in quotes: never a sign."""

    __slots__ = ()


def _options(tokens: list[str], place: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for i in range(0, len(tokens), 3):
        part = tokens[i : i + 3]
        is_pair = len(part) == 3 and part[1] == "=" and not isinstance(part[1], _Quoted)
        if not is_pair or (part[2] in ("=", ";") and not isinstance(part[2], _Quoted)):
            raise InvalidInputError.at(place, 'the options of sasl.jaas.config are not name="value" pairs')
        found[str(part[0])] = str(part[2])
    return found


def _unescaped(value: str) -> str:
    return re.sub(r"\\([0-7]{1,3}|.)", lambda found: _character(found[1]), value, flags=re.DOTALL)


def _character(code: str) -> str:
    return chr(int(code, 8) & 0xFF) if code[0] in "01234567" else _CONTROL.get(code, code)
