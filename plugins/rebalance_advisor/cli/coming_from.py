"""Print another balancer's settings as a table of clusters.toml; settings without a counterpart follow as comments.

Exit codes: 0 done, 1 bad input, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Any

from kafka_assignors.errors import AdvisorError, InvalidInputError
from kafka_assignors.visible_text import excerpt, visible
from kafka_rebalance.options.values import MOST_BROKER_ID, MOST_WHOLE
from rebalance_advisor.input_bytes import MAX_SETTINGS_BYTES, ByteBudget, read_text
from rebalance_advisor.kafka.connection.java_properties import Properties, read_properties
from rebalance_advisor.request.run_request import OPTIONS, RunRequest
from rebalance_advisor.terminal import write_lines

CRUISE_CONTROL, TOPICMAPPR = "cruise-control", "topicmappr"
_NAME = re.compile(r"[a-z0-9_-]{1,60}")


def _cluster_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise argparse.ArgumentTypeError("a name in clusters.toml is up to 60 of a-z, 0-9, _ and -")
    return text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    tools = [CRUISE_CONTROL, TOPICMAPPR]
    parser.add_argument("tool", metavar="TOOL", choices=tools, help=" or ".join(tools))
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="cruisecontrol.properties, or a file with topicmappr's command as typed"
    )
    parser.add_argument(
        "--capacity", type=Path, metavar="FILE", help="capacities: CSV, or Cruise Control's capacity.json of any kind"
    )
    parser.add_argument("--cluster", type=_cluster_name, default="imported", metavar="NAME", help="of the table")


def run(arguments: argparse.Namespace) -> int:
    from rebalance_advisor.dumps.capacity_file import read_capacity

    read = read_topicmappr if arguments.tool == TOPICMAPPR else read_cruise_control
    imported = read(arguments.file)
    if arguments.capacity is not None:
        read_capacity(arguments.capacity)
    capacity = None if arguments.capacity is None else str(arguments.capacity)
    write_lines(sys.stdout, *cluster_table(arguments.cluster, imported, capacity))
    return 0


@dataclass(frozen=True, slots=True)
class Imported:
    """One settings file.

    options    run option → its value as in a form; a list for repeated options
    notes      differences between the tools, one sentence each
    left_out   ``file:line  name`` and reason, never the value, which may be secret
    """

    options: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def cluster_table(cluster: str, imported: Imported, capacity: str | None) -> list[str]:
    settings: dict[str, Any] = {"connection": f"kafka_{cluster}"}
    settings |= {} if capacity is None else {"capacity": capacity}
    keys = [f"{key} = {_toml(value)}" for key, value in (settings | imported.options).items()]
    comments = [*_comment("What differs", imported.notes), *_comment("Not taken over", imported.left_out)]
    shell = visible(_shell(imported.options, capacity))
    return [f"[clusters.{_toml(cluster)}]", *keys, "", f"# In a shell: {shell}", *comments]


def _comment(title: str, lines: tuple[str, ...]) -> list[str]:
    return ["#", f"# {title}:", *(f"#   {visible(line)}" for line in lines)] if lines else []


def _shell(options: dict[str, Any], capacity: str | None) -> str:
    arguments = [] if capacity is None else ["--capacity", capacity]
    by_name = {option.name: option for option in OPTIONS}
    for key, value in options.items():
        if not by_name[key].is_in_shell:
            continue
        for part in value if isinstance(value, list) else [value]:
            arguments += [by_name[key].flag, str(part)]
    return shlex.join(["rebalance-advisor", "plan", "cluster.json", *arguments])


def _toml(value: Any) -> str:
    """JSON with DEL escaped is TOML."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


_ENDS = frozenset(";&|<>()")
_REDIRECTS = frozenset("<>")
_EXPANSION = re.compile(r"`|\$(?:\\\n)*[A-Za-z_0-9{(@*#?!$'\"-]")
_IN_DOUBLE_QUOTES = '$`"\\\n'  # a backslash escapes these
_ANSWER = "write out what it stands for"


@dataclass(frozen=True, slots=True)
class Word:
    location: str
    text: str


def shell_commands(text: str, source: str) -> list[list[Word]]:
    """Return the commands in ``text``, each with a word or more. Time is linear.

    Promises, in this order: quotes, backslashes and comments as in a POSIX shell (POSIX.1-2017, Shell Command Language,
    2.2, 2.3); a line end, pipe, redirection, ``;`` or ``&`` ends a command; expansions (``$NAME``, ``$(…)``, backticks)
    are refused. Example: ``a --b 'c d' | tee log`` gives a, --b, "c d", and tee, log. Raises InvalidInputError with the
    line.
    """
    reader = _ShellReader(text.replace("\r\n", "\n"), source)
    while reader.at < len(reader.text):
        reader.step()
    reader.end_command()
    return reader.commands


@dataclass(slots=True)
class _ShellReader:
    text: str
    source: str
    at: int = 0
    line: int = 1
    word: list[str] | None = None  # None between words; '' is one
    location: str = ""
    is_quoted: bool = False
    command: list[Word] = field(default_factory=list)
    commands: list[list[Word]] = field(default_factory=list)

    def step(self) -> None:
        char = self.text[self.at]
        if char == "\\":
            self._escaped()
        elif char == "'":
            self._quoted("'")
        elif char == '"':
            self._double_quoted()
        elif char == "#" and self.word is None:
            self.at = self._next("\n")
        elif char == "\n" or char in _ENDS:
            self._end_by(char)
        elif char in " \t":
            self._end_word()
            self.at += 1
        else:
            self._refuse_expansion()
            self._add(char)
            self.at += 1

    def end_command(self) -> None:
        self._end_word()
        if self.command:
            self.commands.append(self.command)
            self.command = []

    def _end_by(self, char: str) -> None:
        if char in _REDIRECTS and self.word is not None and not self.is_quoted and "".join(self.word).isdigit():
            self.word = None  # 2 of 2>&1
        self.end_command()
        self.line += char == "\n"
        self.at += 1

    def _end_word(self) -> None:
        if self.word is not None:
            self.command.append(Word(self.location, "".join(self.word)))
        self.word, self.is_quoted = None, False

    def _add(self, part: str) -> None:
        if self.word is None:
            self.word, self.location = [], f"{self.source}:{self.line}"
        self.word.append(part)

    def _next(self, sign: str) -> int:
        index = self.text.find(sign, self.at)
        return len(self.text) if index < 0 else index

    def _escaped(self) -> None:
        follower = self.text[self.at + 1 : self.at + 2]
        if follower == "\n":
            self.line += 1
        else:
            self._add(follower)
            self.is_quoted = True
        self.at += 2

    def _quoted(self, sign: str) -> None:
        end = self.text.find(sign, self.at + 1)
        if end < 0:
            raise self._refusal("a quote begins that never ends")
        inside = self.text[self.at + 1 : end]
        self._add(inside)
        self.is_quoted = True
        self.line += inside.count("\n")
        self.at = end + 1

    def _double_quoted(self) -> None:
        self._add("")
        self.is_quoted = True
        begin = self.line
        self.at += 1
        while (char := self.text[self.at : self.at + 1]) != '"':
            if not char:
                self.line = begin
                raise self._refusal("a quote begins that never ends")
            follower = self.text[self.at + 1 : self.at + 2]
            if char == "\\" and follower and follower in _IN_DOUBLE_QUOTES:
                self._add("" if follower == "\n" else follower)
                self.line += follower == "\n"
                self.at += 2
                continue
            self._refuse_expansion(in_quotes=True)
            self._add(char)
            self.line += char == "\n"
            self.at += 1
        self.at += 1

    def _refuse_expansion(self, *, in_quotes: bool = False) -> None:
        match = _EXPANSION.match(self.text, self.at)
        if match is None or (in_quotes and match[0][-1] in "'\""):  # "x$" ends there
            return
        raise self._refusal(f"{match[0]}… is expanded by a shell")

    def _refusal(self, problem: str) -> InvalidInputError:
        hint = _ANSWER if "expanded" in problem else "end it"
        return InvalidInputError.at(f"{self.source}:{self.line}", problem, hint)


# Setting → our resource, and its goal.
_BALANCE = {
    "cpu.balance.threshold": ("cpu", "CpuUsageDistributionGoal"),
    "disk.balance.threshold": ("disk", "DiskUsageDistributionGoal"),
    "network.inbound.balance.threshold": ("in", "NetworkInboundUsageDistributionGoal"),
    "network.outbound.balance.threshold": ("out", "NetworkOutboundUsageDistributionGoal"),
    "replica.count.balance.threshold": ("replicas", "ReplicaDistributionGoal"),
    "leader.replica.count.balance.threshold": ("leaders", "LeaderReplicaDistributionGoal"),
}
_CAPACITY = {
    "cpu.capacity.threshold": ("cpu", "CpuCapacityGoal"),
    "disk.capacity.threshold": ("disk", "DiskCapacityGoal"),
    "network.inbound.capacity.threshold": ("in", "NetworkInboundCapacityGoal"),
    "network.outbound.capacity.threshold": ("out", "NetworkOutboundCapacityGoal"),
}
_MOST_REPLICAS = "max.replicas.per.broker"
_REPLICA_GOAL = "ReplicaCapacityGoal"
_THROTTLE, _UNTHROTTLED = "default.replication.throttle", "-1"
_COUNTS = {
    "num.concurrent.partition.movements.per.broker": "moves_per_broker",
    "num.concurrent.leader.movements.per.broker": "max_leader_changes_per_wave",
    _THROTTLE: "throttle",
}
_LED_TOPICS, _LEAST_LED = "topics.with.min.leaders.per.broker", "min.topic.leaders.per.broker"
_LEADER_GOAL = "MinTopicLeadersPerBrokerGoal"
_EXCLUDED = "topics.excluded.from.partition.movement"
_GOALS = "default.goals"
_ELSEWHERE = {
    "bootstrap.servers": "the cluster's address: rebalance-advisor snapshot --bootstrap, or the connection in Airflow",
    "capacity.config.file": "give that file: --capacity FILE",
    "num.concurrent.leader.movements": "of the whole cluster; ours is of a broker: max_leader_changes_per_wave",
    "goals": "our rules are always the same; see default.goals",
    "hard.goals": "our rules are always the same; see default.goals",
}
# Goals that our plan always follows, or by an option above.
_HEEDED = frozenset(
    {"RackAwareGoal", _REPLICA_GOAL, _LEADER_GOAL}
    | {goal for _, goal in _BALANCE.values()}
    | {goal for _, goal in _CAPACITY.values()}
)


def read_cruise_control(path: Path) -> Imported:
    """Return ``cruisecontrol.properties`` as run options. Time is linear.

    Promises, in this order: each setting is imported or listed; no value is guessed; a threshold whose goal is not in
    ``default.goals`` is listed, because only requests that name the goal use it. Example:
    ``disk.capacity.threshold=0.8`` gives ``headroom = ["disk=0.2"]``, which keeps 20 % free. Source:
    ``config/cruisecontrol.properties`` and wiki of linkedin/cruise-control. Raises InvalidInputError, also when nothing
    can be imported.
    """
    return import_cruise_control(read_properties(path), str(path))


def import_cruise_control(given: Properties, source: str) -> Imported:
    goals = _goals(given)
    used, idle = _split_by_goal(given, goals)
    targets = {resource: _threshold(given, name, least=1) for name, (resource, _) in _BALANCE.items() if name in used}
    options = _balance(targets) | _limits(given, used)
    if not options:
        raise InvalidInputError.at(source, "holds no setting of Cruise Control that a plan of ours would heed")
    _require_readable_options(options, source)
    notes = list(given.overridden)
    if targets:
        notes.append("balance thresholds are taken as written; Cruise Control itself aims at 0.9 of them (its margin)")
    if "target" in options:
        notes.append(
            "a target is a multiple of the plain mean; Cruise Control's is of what each broker's capacity is due"
        )
    if "headroom" in options:
        notes.append("headroom asks for known capacities: give Cruise Control's capacity file by --capacity")
    return Imported(options, tuple(notes), tuple(_left_out(given, used, idle, goals)))


def _goals(given: Properties) -> frozenset[str] | None:
    text = given.values.get(_GOALS, "").strip()
    return frozenset(name.strip().rpartition(".")[2] for name in text.split(",") if name.strip()) if text else None


def _split_by_goal(given: Properties, goals: frozenset[str] | None) -> tuple[set[str], dict[str, str]]:
    """(settings to import, setting → its inactive goal)."""
    goal_of = {name: goal for name, (_, goal) in (_BALANCE | _CAPACITY).items()} | {_MOST_REPLICAS: _REPLICA_GOAL}
    goal_of |= dict.fromkeys((_LED_TOPICS, _LEAST_LED), _LEADER_GOAL)
    readable = [*goal_of, *_COUNTS, _EXCLUDED]
    present = {name for name in readable if given.values.get(name, "").strip()}
    if _LED_TOPICS not in present:
        present.discard(_LEAST_LED)  # a number without a topic
    if given.values.get(_THROTTLE, "").strip() == _UNTHROTTLED:
        present.discard(_THROTTLE)
    idle = {
        name: goal_of[name] for name in present & goal_of.keys() if goals is not None and goal_of[name] not in goals
    }
    return present - idle.keys(), idle


def _balance(targets: Mapping[str, Decimal]) -> dict[str, Any]:
    """Bands symmetric about the mean, at least 0."""
    texts = [f"{resource}={max(2 - high, Decimal(0))}..{high}" for resource, high in targets.items()]
    return {"target": texts} if texts else {}


def _limits(given: Properties, used: set[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    shares = {of: 1 - _threshold(given, name, most=1) for name, (of, _) in _CAPACITY.items() if name in used}
    headroom = [f"{resource}={share}" for resource, share in shares.items() if share]
    if headroom:
        options["headroom"] = headroom
    if _MOST_REPLICAS in used:
        options["cap"] = [f"replicas={_count(given, _MOST_REPLICAS)}"]
    options |= {option: _count(given, name) for name, option in _COUNTS.items() if name in used}
    if _LED_TOPICS in used:
        options["min_topic_leaders"] = [f"{given.values[_LED_TOPICS].strip()}={_least_led(given, used)}"]
    if _EXCLUDED in used:
        options["exclude_topic"] = [given.values[_EXCLUDED].strip()]
    return options


def _least_led(given: Properties, used: set[str]) -> int:
    """Their 0 means one leader a broker; our number is above all."""
    is_dynamic = _LEAST_LED in used and given.values[_LEAST_LED].strip() == "0"
    return MOST_WHOLE if is_dynamic else _count(given, _LEAST_LED) if _LEAST_LED in used else 1


def _threshold(given: Properties, name: str, least: int = 0, most: int | None = None) -> Decimal:
    text = given.values[name].strip()
    try:
        value = Decimal(text) if text.isascii() and len(text) < 20 else Decimal("nan")
    except InvalidOperation:
        value = Decimal("nan")
    if not value.is_finite() or value < least or value == 0 or (most is not None and value > most):
        range_text = f"a number from {least}" if most is None else f"a share above 0, up to {most}"
        raise InvalidInputError.at(
            f"{given.locations[name]}: {name}", f"{excerpt(text)} is no threshold", f"give {range_text}"
        )
    return value


def _count(given: Properties, name: str) -> int:
    text = given.values[name].strip()
    if not (text.isascii() and text.isdigit() and len(text) < 16 and int(text) > 0):
        location = f"{given.locations[name]}: {name}"
        raise InvalidInputError.at(location, f"{excerpt(text)} is no number", "give a whole number from 1")
    return int(text)


def _require_readable_options(options: dict[str, Any], source: str) -> None:
    """Check that we can read our own output, such as Java patterns."""
    try:
        RunRequest.from_mapping(options)
    except AdvisorError as error:
        raise InvalidInputError.at(source, f"gives an option that cannot be: {error}") from error


def _left_out(given: Properties, used: set[str], idle: Mapping[str, str], goals: frozenset[str] | None) -> list[str]:
    lines = []
    for name, location in given.locations.items():
        if name in used or name == _GOALS:
            continue
        why = f"only a request that names {idle[name]} heeds it" if name in idle else _ELSEWHERE.get(name, "")
        lines.append(f"{location}  {excerpt(name)}" + (f" ({why})" if why else ""))
    unheeded = sorted((goals or frozenset()) - _HEEDED)
    return lines + [f"{given.locations[_GOALS]}  {_GOALS}: {excerpt(goal)}" for goal in unheeded]


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
    """A topicmappr command with pflag flags: ``--name value``, ``--name=value``, ``--name`` for true; the last counts.

    name        rebuild, rebalance or scale
    place       ``file:line`` of the name
    values      flag without dashes → the last value; "true" or "false" for booleans
    places      flag → ``file:line`` of the value that counts
    overridden  one sentence for each repeated flag
    variables   (place, name) of each TOPICMAPPR_… before the command
    """

    name: str
    location: str
    values: Mapping[str, str]
    locations: Mapping[str, str]
    overridden: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()


def only_command(commands: list[list[Word]], source: str) -> Command:
    calls = [command_line for command_line in commands if any(_is_tool(word) for word in command_line)]
    if not calls:
        raise InvalidInputError.at(source, "holds no command of topicmappr", "give a file with the line as it is typed")
    if len(calls) > 1:
        location = next(word.location for word in calls[1] if _is_tool(word))
        raise InvalidInputError.at(location, "is the second command of topicmappr", "give each a file of its own")
    begin = next(number for number, word in enumerate(calls[0]) if _is_tool(word))
    variables = [(word.location, match[1]) for word in calls[0][:begin] if (match := _VARIABLE.match(word.text))]
    ours = tuple((location, name) for location, name in variables if name.startswith("TOPICMAPPR_"))
    return _read(calls[0][begin], calls[0][begin + 1 :], ours)


def _is_tool(word: Word) -> bool:
    return PurePosixPath(word.text).name == TOOL


@dataclass(slots=True)
class _Typed:
    values: dict[str, str] = field(default_factory=dict)
    locations: dict[str, str] = field(default_factory=dict)
    overridden: list[str] = field(default_factory=list)

    def add(self, flag: str, value: str, location: str) -> None:
        if flag in self.locations:
            self.overridden.append(
                f"{self.locations.pop(flag)}  --{flag} is given again in {location}: the last counts"
            )
        self.values[flag], self.locations[flag] = value, location


def _read(tool: Word, arguments: list[Word], variables: tuple[tuple[str, str], ...]) -> Command:
    name = _name(tool, arguments)
    typed, rest = _Typed(), iter(arguments)
    is_named = False
    for word in rest:
        if not word.text.startswith("-"):
            if is_named:
                raise InvalidInputError.at(
                    word.location, f"{excerpt(word.text)} belongs to no flag", "quote values that hold blanks"
                )
            is_named = True
            continue
        flag, value = _flag(word, rest, name.text)
        typed.add(flag, value, word.location)
    return Command(name.text, name.location, typed.values, typed.locations, tuple(typed.overridden), variables)


def _name(tool: Word, arguments: list[Word]) -> Word:
    rest = iter(arguments)
    for word in rest:
        flag = word.text.removeprefix("--")
        if word.text in _VALUED:
            return word
        if not word.text.startswith("-"):
            names = ", ".join(_VALUED)
            raise InvalidInputError.at(
                word.location, f"{excerpt(word.text)} is no command of topicmappr", f"known: {names}"
            )
        if flag in _EVERYWHERE:
            next(rest, None)
    raise InvalidInputError.at(tool.location, "topicmappr is called without a command", f"known: {', '.join(_VALUED)}")


def _flag(word: Word, rest: Iterator[Word], command: str) -> tuple[str, str]:
    text = "--help" if word.text == "-h" else word.text
    flag, has_value, value = text.removeprefix("--").partition("=")
    valued, yes_or_no = _VALUED[command], _YES_OR_NO[command]
    if not text.startswith("--") or flag not in valued | yes_or_no:
        near = get_close_matches(flag.lstrip("-"), valued | yes_or_no, 1)
        hint = f"did you mean --{near[0]}?" if near else f"known: {', '.join(sorted(valued | yes_or_no))}"
        raise InvalidInputError.at(word.location, f"{command} has no flag {excerpt(text.partition('=')[0])}", hint)
    if flag in yes_or_no:
        return flag, _truth(flag, value if has_value else "true", word)
    if not has_value:
        follower = next(rest, None)
        if follower is None:
            raise InvalidInputError.at(word.location, f"--{flag} has no value")
        value = follower.text
    return flag, value


def _truth(flag: str, text: str, word: Word) -> str:
    if text not in _TRUE | _FALSE:
        raise InvalidInputError.at(f"{word.location}: --{flag}", f"{excerpt(text)} is neither true nor false")
    return "true" if text in _TRUE else "false"


_MAPPED, _ALL = -1, -2  # brokers of these topics, of the cluster
_PLAIN = re.compile(r"[a-zA-Z0-9_\\-]+")  # topic name; a dot makes a pattern
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
    """Return the topicmappr command of a shell file as run options. Time is linear.

    Promises, in this order: each flag is imported or listed; no value is guessed; patterns select the same topics,
    although ours match whole names and theirs parts. Example: ``topicmappr rebuild --topics pay-in,^log --brokers 1,2``
    gives ``include_topic = ["pay-in", "log.*"]`` and ``topic_brokers = ["pay-in=1,2", "log.*=1,2"]``. Source:
    cmd/topicmappr, README and wiki of DataDog/kafka-kit, 3.x and 4.x. Raises InvalidInputError, also for shell
    expansions.
    """
    return import_topicmappr(read_text(path, ByteBudget(MAX_SETTINGS_BYTES)), str(path))


def import_topicmappr(text: str, source: str) -> Imported:
    command = only_command(shell_commands(text, source), source)
    reader = _FlagReader(command)
    for take in (reader.topics, reader.brokers, reader.replication, reader.evacuated, reader.tolerance, reader.age):
        take()
    if not reader.options:
        raise InvalidInputError.at(command.location, "holds nothing that a plan of ours would heed")
    _require_readable_flags(reader.options, command.location)
    return Imported(reader.options, (*command.overridden, *reader.notes), tuple(reader.left_out()))


def whole_name_pattern(theirs: str) -> str:
    """A name if only letters, digits, ``_`` and ``-``, else a partial pattern."""
    if _PLAIN.fullmatch(theirs):
        return theirs
    if "|" in theirs:
        return f".*(?:{theirs}).*"
    head = "" if theirs.startswith(("^", ".*")) else ".*"
    tail = "" if re.search(r"(?<!\\)(\$|\.\*)\Z", theirs) else ".*"
    return f"{head}{theirs.removeprefix('^')}{tail}"


class _FlagReader:
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
            raise InvalidInputError.at(self.command.location, f"{self.command.name} is given no --topics")
        for flag, option in (("topics", "include_topic"), ("topics-exclude", "exclude_topic")):
            if given.get(flag):
                self.options[option] = self._names(flag)
                self._taken.add(flag)
        self._patterns = self.options.get("include_topic", [".*"])

    def brokers(self) -> None:
        if "brokers" not in self.command.values:
            raise InvalidInputError.at(self.command.location, f"{self.command.name} is given no --brokers")
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
        """Ours covers all topics of the plan, so both lists must be equal."""
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
            self.notes.append("age_limit is of the whole snapshot; a shell has none, it takes the INPUT as it is")

    def left_out(self) -> list[str]:
        unused = {name: location for name, location in self.command.locations.items() if name not in self._taken}
        lines = [(location, f"--{name}", self._why.get(name, _WHY.get(name, ""))) for name, location in unused.items()]
        lines += [(location, name, _CONNECTION) for location, name in self.command.variables]
        return [f"{location}  {excerpt(name)}" + (f" ({why})" if why else "") for location, name, why in lines]

    def _location(self, flag: str) -> str:
        return f"{self.command.locations[flag]}: --{flag}"

    def _names(self, flag: str) -> list[str]:
        patterns = []
        for part in self.command.values[flag].split(","):
            if not part:
                raise InvalidInputError.at(self._location(flag), "holds an empty name", "one comma between two names")
            if match := _OF_GO_ALONE.search(part):
                raise InvalidInputError.at(
                    self._location(flag), f"{excerpt(match[0])} means something else in our patterns", "write it out"
                )
            patterns.append(whole_name_pattern(part))
        return list(dict.fromkeys(patterns))

    def _whole_numbers(self, flag: str, *, least: int, most: int, is_list: bool = True) -> list[int]:
        text = self.command.values[flag]
        parts = [part.strip() for part in (text.split(",") if is_list else [text])]
        for part in parts:
            if not (_WHOLE.fullmatch(part) and least <= int(part) <= most):
                hint = f"give a whole number from {least} to {most}"
                raise InvalidInputError.at(self._location(flag), f"{excerpt(part)} cannot be", hint)
        return [int(part) for part in parts]

    def _share(self, flag: str) -> Decimal:
        text = self.command.values[flag].strip()
        if not (_SHARE.fullmatch(text) and Decimal(text) <= _LARGEST_SHARE):
            hint = f"give a share from 0 to {_LARGEST_SHARE}, 0.1 for a tenth"
            raise InvalidInputError.at(self._location(flag), f"{excerpt(text)} cannot be", hint)
        return Decimal(text)


def _require_readable_flags(options: dict[str, Any], location: str) -> None:
    """Check that we can read our own output, such as Go patterns."""
    try:
        RunRequest.from_mapping(options)
    except AdvisorError as error:
        raise InvalidInputError.at(location, f"gives an option that cannot be: {error}") from error
