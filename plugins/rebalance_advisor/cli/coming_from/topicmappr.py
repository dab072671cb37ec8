"""One command of topicmappr, as it is typed, as options of a run.

Promises, in this order: every flag of the command is either taken over or listed; no value is guessed (a wrong one is
refused with file and line); the topics of a pattern are the same ones, though ours match whole names and theirs parts.

Example: ``topicmappr rebuild --topics pay-in,^log --brokers 1,2`` gives ``include_topic = ["pay-in", "log.*"]`` and
``topic_brokers = ["pay-in=1,2", "log.*=1,2"]``: these topics may be on brokers 1 and 2 alone.

Names and meanings: cmd/topicmappr of DataDog/kafka-kit and its wiki. What the command leaves out is at topicmappr's
default there and at ours here. Time is linear in the file.
"""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

from kafka_rebalance.errors import AdvisorError, InvalidInputError
from kafka_rebalance.options.limits import MOST_BROKER_ID
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.cli.coming_from.imported import Imported
from rebalance_advisor.cli.coming_from.shell_words import shell_commands
from rebalance_advisor.cli.coming_from.topicmappr_flags import REBUILD, Command, only_command
from rebalance_advisor.input_bytes import MAX_SETTINGS_BYTES, ByteBudget, read_text
from rebalance_advisor.request.run_request import RunRequest

_MAPPED, _ALL = -1, -2  # brokers that hold these topics today, brokers of the cluster
_PLAIN = re.compile(r"[a-zA-Z0-9_\\-]+")  # what topicmappr takes for a name; a dot makes it a pattern
_OF_GO_ALONE = re.compile(r"\[\[:|\\[pPQECzx]|\(\?[a-zA-Z-]*U")
_WHOLE = re.compile(r"-?[0-9]{1,15}")
_SHARE = re.compile(r"[0-9]{0,4}\.?[0-9]{1,12}")
_LARGEST_FACTOR = 32767
_LARGEST_SHARE = 1000
_CONNECTION = "a live cluster is read from its brokers: the connection in Airflow, or snapshot --bootstrap"
_PLACING = "where a copy goes is decided by all loads that were measured"
_WAVES = "waves are planned anyway: moves_per_broker limits them"
_LEADERS = 'leaders are balanced anyway; target = ["leaders=0.9..1.1"] orders it'
_OUT = "name the folder of the plan: plan … --out FOLDER"
_WHY = {
    "zk-addr": _CONNECTION, "zk-prefix": _CONNECTION, "kafka-addr": _CONNECTION,
    "zk-metrics-prefix": "put the contents of its znodes partitionmeta and brokermetrics into the folder of dumps",
    "map-string": "put the map into a file: it is an INPUT of ours",
    "placement": _PLACING, "optimize": _PLACING, "sub-affinity": _PLACING,
    "partition-size-factor": "sizes count as measured; headroom keeps space free",
    "min-rack-ids": "copies are spread over as many racks as there are, always",
    "use-meta": "racks are heeded, always",
    "force-rebuild": "what need not move stays",
    "skip-no-ops": "always so: waves hold what changes",
    "optimize-leadership": _LEADERS, "optimize-leaders": _LEADERS,
    "chunked": _WAVES, "chunk-step-size": _WAVES, "phased-reassignment": _WAVES,
    "storage-threshold": "who gives is found by the search; headroom keeps space free",
    "storage-threshold-gb": "who gives is found by the search; headroom keeps space free",
    "partition-limit": "every partition is looked at",
    "partition-size-threshold": 'small partitions may move, too; prefer = "moves" keeps their number low',
    "locality-scoped": "a copy may go to another rack as long as racks stay apart",
    "out-path": _OUT, "out-file": _OUT,
    "ignore-warns": "a plan that breaks a hard rule is refused, always",
}  # fmt: skip


def read_topicmappr(path: Path) -> Imported:
    """The options of the one command of topicmappr in a file of shell commands.

    Raises InvalidInputError with file and line for a command that topicmappr would not take, for a value that cannot
    be, and for what only a shell could expand.
    """
    return import_topicmappr(read_text(path, ByteBudget(MAX_SETTINGS_BYTES)), str(path))


def import_topicmappr(text: str, source: str) -> Imported:
    """As ``read_topicmappr``, of a text that is read."""
    command = only_command(shell_commands(text, source), source)
    reader = _Reader(command)
    for take in (reader.topics, reader.brokers, reader.replication, reader.evacuated, reader.tolerance, reader.age):
        take()
    if not reader.options:
        raise InvalidInputError.at(command.place, "holds nothing that a plan of ours would heed")
    _require_readable(reader.options, command.place)
    return Imported(reader.options, (*command.overridden, *reader.notes), tuple(reader.left_out()))


def whole_name_pattern(theirs: str) -> str:
    """A pattern that matches the whole names of all topics in which ``theirs`` is found, as topicmappr looks for it.

    A text of letters, digits, ``_`` and ``-`` is a name there; any other is a pattern that may match a part.
    """
    if _PLAIN.fullmatch(theirs):
        return theirs
    if "|" in theirs:
        return f".*(?:{theirs}).*"
    head = "" if theirs.startswith(("^", ".*")) else ".*"
    tail = "" if re.search(r"(?<!\\)(\$|\.\*)\Z", theirs) else ".*"
    return f"{head}{theirs.removeprefix('^')}{tail}"


class _Reader:
    """Takes flags over, one after the other; what nobody took is left."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.options: dict[str, Any] = {}
        self.notes: list[str] = []
        self._taken: set[str] = set()
        self._why: dict[str, str] = {}
        self._patterns: list[str] = []

    def topics(self) -> None:
        given = self.command.values
        if "topics" not in given and not (self.command.name == REBUILD and "map-string" in given):
            raise InvalidInputError.at(self.command.place, f"{self.command.name} is given no --topics")
        for flag, option in (("topics", "include_topic"), ("topics-exclude", "exclude_topic")):
            if given.get(flag):
                self.options[option] = self._names(flag)
                self._taken.add(flag)
        self._patterns = self.options.get("include_topic", [".*"])

    def brokers(self) -> None:
        if "brokers" not in self.command.values:
            raise InvalidInputError.at(self.command.place, f"{self.command.name} is given no --brokers")
        brokers = self._whole_numbers("brokers", least=_ALL, most=MOST_BROKER_ID)
        if _ALL in brokers:
            self._why["brokers"] = "-2, all brokers of the cluster, is ours without topic_brokers"
        elif _MAPPED in brokers:
            self._why["brokers"] = "-1, who holds these topics today, is not known here: name them in topic_brokers"
        else:
            named = ",".join(map(str, sorted(set(brokers))))
            self.options["topic_brokers"] = [f"{pattern}={named}" for pattern in self._patterns]
            self._taken.add("brokers")
            self.notes.append(
                "a broker of --brokers that the cluster does not have yet is refused: add it, --add-broker N:RACK"
            )
            self.notes.append("empty brokers get what balance asks for, not only what must leave others")

    def replication(self) -> None:
        if "replication" not in self.command.values:
            return
        (factor,) = self._whole_numbers("replication", least=0, most=_LARGEST_FACTOR, is_list=False)
        if factor:
            self.options["replication_factor"] = factor
            self._taken.add("replication")
        else:
            self._why["replication"] = "0 leaves it as it is"

    def evacuated(self) -> None:
        """Leaders leave brokers: ours of all topics that the plan may touch, so the two lists must be one."""
        flags = ("leader-evac-brokers", "leader-evac-topics")
        if not all(self.command.values.get(flag) for flag in flags):
            return
        brokers = self._whole_numbers(flags[0], least=0, most=MOST_BROKER_ID)
        if set(self._names(flags[1])) == set(self._patterns):
            self.options["demote_broker"] = sorted(set(brokers))
            self._taken.update(flags)
        else:
            self._why |= dict.fromkeys(flags, "demote_broker is about all topics of a plan: make a plan of these alone")

    def tolerance(self) -> None:
        if "tolerance" not in self.command.values:
            return
        share = self._share("tolerance")
        if not share:
            self._why["tolerance"] = "0 tries many there; ours weighs cost and balance, and its frontier shows both"
            return
        self.options["target"] = [f"disk={max(1 - share, Decimal(0))}..{1 + share}"]
        self._taken.add("tolerance")
        self.notes.append(
            "a target is an order, of the bytes that brokers hold and the mean of all brokers; topicmappr's tolerance "
            "is of free storage and the mean of --brokers, and only limits what moves"
        )

    def age(self) -> None:
        if "metrics-age" not in self.command.values:
            return
        (minutes,) = self._whole_numbers("metrics-age", least=0, most=10**9, is_list=False)
        if self.command.name == REBUILD and self.command.values.get("placement") != "storage":
            self._why["metrics-age"] = "rebuild heeds it with --placement storage alone"
        elif minutes:
            self.options["age_limit"] = f"{minutes}min"
            self._taken.add("metrics-age")
            self.notes.append("age_limit is of the whole reading; a shell has none, it takes the INPUT as it is")

    def left_out(self) -> list[str]:
        """One line for each flag that nobody took, in the order typed, and each variable before the command."""
        words = {name: place for name, place in self.command.places.items() if name not in self._taken}
        lines = [(place, f"--{name}", self._why.get(name, _WHY.get(name, ""))) for name, place in words.items()]
        lines += [(place, name, _CONNECTION) for place, name in self.command.variables]
        return [f"{place}  {excerpt(name)}" + (f" ({why})" if why else "") for place, name, why in lines]

    def _place(self, flag: str) -> str:
        return f"{self.command.places[flag]}: --{flag}"

    def _names(self, flag: str) -> list[str]:
        patterns = []
        for part in self.command.values[flag].split(","):
            if not part:
                raise InvalidInputError.at(self._place(flag), "holds an empty name", "one comma between two names")
            if found := _OF_GO_ALONE.search(part):
                raise InvalidInputError.at(
                    self._place(flag), f"{excerpt(found[0])} means something else in our patterns", "write it out"
                )
            patterns.append(whole_name_pattern(part))
        return list(dict.fromkeys(patterns))

    def _whole_numbers(self, flag: str, *, least: int, most: int, is_list: bool = True) -> list[int]:
        text = self.command.values[flag]
        parts = [part.strip() for part in (text.split(",") if is_list else [text])]
        for part in parts:
            if not (_WHOLE.fullmatch(part) and least <= int(part) <= most):
                hint = f"give a whole number from {least} to {most}"
                raise InvalidInputError.at(self._place(flag), f"{excerpt(part)} cannot be", hint)
        return [int(part) for part in parts]

    def _share(self, flag: str) -> Decimal:
        text = self.command.values[flag].strip()
        if not (_SHARE.fullmatch(text) and Decimal(text) <= _LARGEST_SHARE):
            hint = f"give a share from 0 to {_LARGEST_SHARE}, 0.1 for a tenth"
            raise InvalidInputError.at(self._place(flag), f"{excerpt(text)} cannot be", hint)
        return Decimal(text)


def _require_readable(options: dict[str, Any], place: str) -> None:
    """What we write must be read by ourselves, a pattern of Go's among it."""
    try:
        RunRequest.from_mapping(options)
    except AdvisorError as error:
        raise InvalidInputError.at(place, f"gives an option that cannot be: {error}") from error
