"""Flags of topicmappr's three commands, and one command as typed, read by them.

Names and kinds: cmd/topicmappr/commands and its README in DataDog/kafka-kit, 3.x and 4.x. They are pflag's:
``--name value``, ``--name=value``, ``--name`` alone for true; the last of two counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import PurePosixPath

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.cli.coming_from.shell_words import Word

TOOL = "topicmappr"
REBUILD, REBALANCE, SCALE = "rebuild", "rebalance", "scale"

_EVERYWHERE = frozenset((
    "zk-addr", "zk-prefix", "zk-metrics-prefix", "kafka-addr", "kafka-ssl-ca-location", "kafka-security-protocol",
    "kafka-sasl-mechanism", "kafka-sasl-username", "kafka-sasl-password", "rdkafka", "brokers", "topics",
    "topics-exclude", "out-path", "out-file", "metrics-age",
))  # fmt: skip
_OFFLOADING = _EVERYWHERE | {"tolerance", "partition-limit", "partition-size-threshold"}
_VALUED: Mapping[str, frozenset[str]] = {
    REBUILD: _EVERYWHERE | {
        "map-string", "replication", "placement", "optimize", "partition-size-factor", "min-rack-ids",
        "chunk-step-size", "leader-evac-brokers", "leader-evac-topics",
    },
    REBALANCE: _OFFLOADING | {"storage-threshold", "storage-threshold-gb"},
    SCALE: _OFFLOADING,
}  # fmt: skip
_YES_OR_NO_EVERYWHERE = frozenset(("ignore-warns", "help"))
_OFFLOADING_YES_OR_NO = _YES_OR_NO_EVERYWHERE | {
    "locality-scoped", "verbose", "optimize-leadership", "optimize-leaders",
}  # fmt: skip
_YES_OR_NO: Mapping[str, frozenset[str]] = {
    REBUILD: _YES_OR_NO_EVERYWHERE | {
        "use-meta", "force-rebuild", "sub-affinity", "skip-no-ops", "optimize-leadership", "chunked",
        "phased-reassignment",
    },
    REBALANCE: _OFFLOADING_YES_OR_NO,
    SCALE: _OFFLOADING_YES_OR_NO,
}  # fmt: skip
# Go's strconv.ParseBool
_TRUE = frozenset(("1", "t", "T", "true", "TRUE", "True"))
_FALSE = frozenset(("0", "f", "F", "false", "FALSE", "False"))
_VARIABLE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")


@dataclass(frozen=True, slots=True)
class Command:
    """One command of topicmappr.

    name        rebuild, rebalance or scale
    place       ``file:line`` of the name
    values      flag without its dashes → the last value; "true" or "false" where it says yes or no
    places      flag → ``file:line`` of the one that counts, in the order typed
    overridden  one sentence for each flag that was given again
    variables   (place, name) of the TOPICMAPPR_… that stand before the command
    """

    name: str
    place: str
    values: Mapping[str, str]
    places: Mapping[str, str]
    overridden: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


def only_command(commands: list[list[Word]], source: str) -> Command:
    """The one command of topicmappr among all that a file holds.

    Raises InvalidInputError where there is none, a second one, or one that topicmappr itself would not take.
    """
    found = [words for words in commands if any(_is_tool(word) for word in words)]
    if not found:
        raise InvalidInputError.at(source, "holds no command of topicmappr", "give a file with the line as it is typed")
    if len(found) > 1:
        place = next(word.place for word in found[1] if _is_tool(word))
        raise InvalidInputError.at(place, "is the second command of topicmappr", "give each a file of its own")
    begin = next(number for number, word in enumerate(found[0]) if _is_tool(word))
    variables = [(word.place, match[1]) for word in found[0][:begin] if (match := _VARIABLE.match(word.text))]
    ours = tuple((place, name) for place, name in variables if name.startswith("TOPICMAPPR_"))
    return _read(found[0][begin], found[0][begin + 1 :], ours)


def _is_tool(word: Word) -> bool:
    return PurePosixPath(word.text).name == TOOL


@dataclass(slots=True)
class _Typed:
    values: dict[str, str] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    overridden: list[str] = field(default_factory=list)

    def add(self, flag: str, value: str, place: str) -> None:
        if flag in self.places:
            self.overridden.append(f"{self.places.pop(flag)}  --{flag} is given again in {place}: the last counts")
        self.values[flag], self.places[flag] = value, place


def _read(tool: Word, words: list[Word], variables: tuple[tuple[str, str], ...]) -> Command:
    name = _name(tool, words)
    typed, rest = _Typed(), iter(words)
    is_named = False
    for word in rest:
        if not word.text.startswith("-"):
            if is_named:
                raise InvalidInputError.at(
                    word.place, f"{excerpt(word.text)} belongs to no flag", "quote values that hold blanks"
                )
            is_named = True
            continue
        flag, value = _flag(word, rest, name.text)
        typed.add(flag, value, word.place)
    return Command(name.text, name.place, typed.values, typed.places, tuple(typed.overridden), variables)


def _name(tool: Word, words: list[Word]) -> Word:
    """The command's name: the first word that is neither a flag nor a flag's value."""
    rest = iter(words)
    for word in rest:
        flag = word.text.removeprefix("--")
        if word.text in _VALUED:
            return word
        if not word.text.startswith("-"):
            known = ", ".join(_VALUED)
            raise InvalidInputError.at(
                word.place, f"{excerpt(word.text)} is no command of topicmappr", f"known: {known}"
            )
        if flag in _EVERYWHERE:
            next(rest, None)
    raise InvalidInputError.at(tool.place, "topicmappr is called without a command", f"known: {', '.join(_VALUED)}")


def _flag(word: Word, rest: Iterator[Word], command: str) -> tuple[str, str]:
    """(name, value) of the flag that begins with ``word``."""
    text = "--help" if word.text == "-h" else word.text
    flag, has_value, value = text.removeprefix("--").partition("=")
    valued, yes_or_no = _VALUED[command], _YES_OR_NO[command]
    if not text.startswith("--") or flag not in valued | yes_or_no:
        near = get_close_matches(flag.lstrip("-"), valued | yes_or_no, 1)
        hint = f"did you mean --{near[0]}?" if near else f"known: {', '.join(sorted(valued | yes_or_no))}"
        raise InvalidInputError.at(word.place, f"{command} has no flag {excerpt(text.partition('=')[0])}", hint)
    if flag in yes_or_no:
        return flag, _truth(flag, value if has_value else "true", word)
    if not has_value:
        follower = next(rest, None)
        if follower is None:
            raise InvalidInputError.at(word.place, f"--{flag} has no value")
        value = follower.text
    return flag, value


def _truth(flag: str, text: str, word: Word) -> str:
    if text not in _TRUE | _FALSE:
        raise InvalidInputError.at(f"{word.place}: --{flag}", f"{excerpt(text)} is neither true nor false")
    return "true" if text in _TRUE else "false"
