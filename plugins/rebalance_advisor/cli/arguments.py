from __future__ import annotations

import argparse
import tomllib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.amounts import format_bytes
from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.option import Option
from kafka_rebalance.options.values import HeavyKeyOf, Rate, read_value
from kafka_rebalance.snapshot.figures import LARGEST_INT64
from kafka_rebalance.snapshot.model import Capacity, ClusterSnapshot
from kafka_rebalance.snapshot.times import age_of, format_span
from rebalance_advisor.cli.history import add_history_folder, require_history, with_window
from rebalance_advisor.input_bytes import MAX_INPUT_BYTES, MAX_SETTINGS_BYTES, ByteBudget, read_text
from rebalance_advisor.publish.folders import check_folder, plan_path
from rebalance_advisor.request.names_in_cluster import require_names_known, require_quick_request
from rebalance_advisor.request.run_request import OPTIONS, RUN_OPTIONS, TODAY, RunRequest
from rebalance_advisor.terminal import Tone

if TYPE_CHECKING:
    from kafka_rebalance.scenarios.scenario import Scenario
    from kafka_rebalance.snapshot.codec import Fields

RULES = {option.name: option for option in RUN_OPTIONS if option.name in ("owners", "mutes", "clients")}


def rules_in_file(name: str, path: Path) -> list[Any]:
    try:
        document = tomllib.loads(read_text(path, ByteBudget(MAX_SETTINGS_BYTES)))
    except ValueError as error:
        raise InvalidInputError.at(str(path), f"is no TOML: {error}") from error
    except RecursionError as error:
        raise InvalidInputError.at(str(path), "is nested too deeply to be a list of rules") from error
    if unknown := sorted(set(document) - set(RULES)):
        sections = ", ".join(f"[[{rule}]]" for rule in RULES)
        raise InvalidInputError.at(f"{path}: {excerpt(unknown[0])}", "is not known", f"known: {sections}")
    tables = document.get(name)
    if not isinstance(tables, list):
        raise InvalidInputError.at(str(path), f"holds no [[{name}]]")
    rules: list[Any] = []
    for number, table in enumerate(tables, start=1):
        try:
            rules += RULES[name].read([table])
        except InvalidInputError as error:
            raise InvalidInputError.at(f"{path}: [[{name}]] {number}", str(error)) from error
    return rules


def heavy_keys_in_files(paths: Iterable[Path]) -> list[HeavyKeyOf]:
    return [key for path in paths for key in _in_file(path)]


def _in_file(path: Path) -> list[HeavyKeyOf]:
    from kafka_rebalance.snapshot.codec import Fields
    from rebalance_advisor.dumps.input_file import read_json

    fields = Fields(read_json(path, ByteBudget(MAX_SETTINGS_BYTES)), str(path))
    fields.whole("version", 1, 1)
    topic = fields.get("topic", str)
    placements = fields.each("placements", lambda item, location: Fields(item, location).ints("records"))
    if not placements:
        raise InvalidInputError.at(f"{path}.placements", "are missing", "write it by rebalance-advisor keys --out")
    heaviest: dict[int, HeavyKeyOf] = {}
    for key in fields.each(
        "heavy_keys", lambda item, location: _of_partition(Fields(item, location), topic, placements[0])
    ):
        if key is not None and (key.partition not in heaviest or key.share > heaviest[key.partition].share):
            heaviest[key.partition] = key
    return [heaviest[partition] for partition in sorted(heaviest)]


def _of_partition(key: Fields, topic: str, records: Sequence[int]) -> HeavyKeyOf | None:
    partitions, least = key.raw("partitions", []), key.whole("records_at_least", 0, LARGEST_INT64)
    label = key.get("key_text", str, "") or f"identity {key.get('identity', str)}"
    partition = partitions[0] if isinstance(partitions, list) and partitions else None
    if not isinstance(partition, int) or isinstance(partition, bool) or not 0 <= partition < len(records) or not least:
        return None
    return HeavyKeyOf(topic, partition, label, min(1.0, least / max(1, records[partition])))


def scenarios_in_files(paths: Iterable[Path]) -> list[Scenario]:
    """Raises InvalidInputError, or UsageError for equal names."""
    from kafka_rebalance.scenarios.scenario import scenario_from_document
    from rebalance_advisor.dumps.input_file import read_json

    by_name: dict[str, Scenario] = {}
    for path in paths:
        scenario = scenario_from_document(read_json(path), str(path))
        if scenario.name in (*by_name, TODAY):
            raise UsageError.at("--scenario", f"{path} has the name of another column", "give each a name of its own")
        by_name[scenario.name] = scenario
    return list(by_name.values())


FILE = "FILE"


def add_plan_options(parser: argparse.ArgumentParser) -> None:
    for section in dict.fromkeys(option.section for option in OPTIONS):
        group = parser.add_argument_group(section)
        for option in OPTIONS:
            if option.section == section and option.is_in_shell:
                add_option(group, option)
        if section == RunRequest.section:
            add_history_folder(group)
    help_text = "an earlier plan: confirmed or continued if it still holds; advise compares the findings beside it"
    group.add_argument("--previous", type=plan_path, metavar="PLAN", help=help_text)


def add_option(group: argparse._ActionsContainer, option: Option) -> None:
    repeats = "; repeatable" if option.is_repeated else ""
    help_text = (option.form_help + repeats + _describe_default(option)).replace("%", "%%")
    if option.is_flag:
        group.add_argument(option.flag, action="store_true", help=help_text)
    elif option.metavar == FILE:
        action = "append" if option.is_repeated else "store"
        group.add_argument(option.flag, type=Path, action=action, metavar=option.metavar, help=help_text)
    else:
        action = "append" if option.is_repeated else "store"
        group.add_argument(option.flag, type=option.from_text, action=action, metavar=option.metavar, help=help_text)


def _describe_default(option: Option) -> str:
    if option.default is None or option.is_flag:
        return ""
    if not isinstance(option.default, int):
        return f" (default: {option.default})"
    is_amount = "string" in option.schema["type"]
    return f" (default: {format_bytes(option.default) if is_amount else format(option.default, ',')})"


def request_of(arguments: argparse.Namespace) -> RunRequest:
    """Return the request without capacities."""
    given = {option.name: getattr(arguments, option.name) for option in OPTIONS if option.is_in_shell}
    del given["capacity"]
    for name in RULES:
        given[name] = [rule for path in given[name] or () for rule in rules_in_file(name, path)]
    given["scenario"] = scenarios_in_files(given["scenario"] or ())
    given["heavy_keys"] = heavy_keys_in_files(given["heavy_keys"] or ())
    return RunRequest.from_mapping(given)


def with_capacity_file(request: RunRequest, path: Path | None, snapshot: ClusterSnapshot) -> RunRequest:
    if path is None:
        return request
    capacities = _capacities(path, snapshot, request.options.add_brokers.keys())
    return replace(request, options=replace(request.options, capacities=capacities))


def read_previous(path: Path | None) -> dict[str, Any] | None:
    return None if path is None else read_sealed_plan(path)


def read_sealed_plan(path: Path) -> dict[str, Any]:
    """Raises InvalidInputError for a changed plan."""
    from kafka_rebalance.plans.check import read_planned

    document = read_plan(path)
    read_planned(document, str(path))
    return document


def read_plan(path: Path) -> dict[str, Any]:
    from rebalance_advisor.dumps.input_file import read_json

    file = path / "plan.json" if path.is_dir() else path
    document = read_json(file)
    if not isinstance(document, dict) or not {"plan_id", "moves", "parameters"} <= document.keys():
        raise InvalidInputError.at(str(file), "is no plan", "a plan has plan_id, parameters and moves")
    return document


def _capacities(path: Path, snapshot: ClusterSnapshot, added: Collection[int]) -> dict[int, Capacity]:
    from rebalance_advisor.dumps import read_capacity

    capacities = read_capacity(path)
    brokers = {broker.id for broker in snapshot.brokers} | set(added)
    strangers = sorted(capacities.of_broker.keys() - brokers)
    if strangers:
        raise InvalidInputError.at(str(path), f"broker {strangers[0]} is neither in the cluster nor added")
    given = {broker: capacities.of_broker.get(broker, capacities.default) for broker in sorted(brokers)}
    return {broker: capacity for broker, capacity in given.items() if capacity is not None}


if TYPE_CHECKING:
    from kafka_rebalance.snapshot.model import ClusterSnapshot


def argument_of(kind: Any) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            return read_value(kind, text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return read


def add_input_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--max-input-bytes", type=argument_of(Rate), default=MAX_INPUT_BYTES, metavar="B",
        help="what INPUT may hold, unpacked, e.g. 20GiB (8GiB)",
    )  # fmt: skip
    parser.add_argument(
        "--strict", action="store_true",
        help="refuse a folder with a file that cannot be read; else it is left out by name if the rest suffices",
    )  # fmt: skip


def read_given(path: Path, arguments: argparse.Namespace) -> ClusterSnapshot:
    from rebalance_advisor.dumps.any_input import read_input

    return read_input(path, max_bytes=arguments.max_input_bytes, is_strict=getattr(arguments, "strict", False))


if TYPE_CHECKING:
    from kafka_rebalance.snapshot.history import HourlyLoads


@dataclass(frozen=True, slots=True)
class PlanInput:
    """``hourly``: hours of a requested window."""

    request: RunRequest
    snapshot: ClusterSnapshot
    previous: dict[str, Any] | None
    hourly: HourlyLoads | None = None


def add_planning_arguments(parser: argparse.ArgumentParser, *, made: str, printed: str, many: bool = False) -> None:
    if many:
        parser.add_argument("inputs", metavar="INPUT", type=Path, nargs="+")
    else:
        parser.add_argument("input", metavar="INPUT", type=Path)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help=f"where {made} to be replaced whole")
    parser.add_argument("--json", action="store_true", help=f"print {printed} as JSON")
    parser.add_argument(
        "--verbose",
        action="store_true",
        help="print every reason and figure, and on stderr each stage of the plan with its moves and seconds",
    )
    add_plan_options(parser)
    add_input_options(parser)


def requested(arguments: argparse.Namespace) -> RunRequest:
    request = request_of(arguments)
    require_history(request, arguments.history)
    check_folder(arguments.out)
    return request


def read_plan_input(
    arguments: argparse.Namespace, request: RunRequest, say: Callable[[str], None], *, is_one_of_many: bool = False
) -> PlanInput:
    """``is_one_of_many``: the request is shared."""
    from kafka_rebalance.snapshot.times import age_of

    previous = read_previous(arguments.previous)
    say("reading")
    snapshot = read_given(arguments.input, arguments)
    if snapshot.captured_at is not None:
        age_of(snapshot.captured_at, datetime.now(UTC))
    snapshot, hourly = with_window(snapshot, request, arguments.history, max_bytes=arguments.max_input_bytes, say=say)
    require_quick_request(request, snapshot)
    require_names_known(request, snapshot, tuple(request.options.topic_patterns()) if is_one_of_many else ())
    return PlanInput(with_capacity_file(request, arguments.capacity, snapshot), snapshot, previous, hourly)


VERDICT_TONES = {
    "Verdict: rebalance": Tone.CAUTION,
    "Verdict: nothing to do": Tone.GOOD,
    "Verdict: cannot tell": Tone.CAUTION,
    "Verdict: infeasible": Tone.BAD,
    "Verdict: not fixable by moving": Tone.CAUTION,
    "urgent:": Tone.BAD,
    **{f"{severity}{end}": Tone.BAD for severity in ("critical", "high") for end in ":,"},
    **{f"medium{end}": Tone.CAUTION for end in ":,"},
}

# Twice the hourly interval.
FRESH = timedelta(hours=2)


def with_reading_age(lines: Sequence[str], captured_at: datetime | None, now: datetime) -> list[str]:
    if captured_at is None or not lines:
        return list(lines)
    return [f"{lines[0]}; {age_text(age_of(captured_at, now))}", *lines[1:]]


def age_s(captured_at: datetime | None, now: datetime) -> float | None:
    return None if captured_at is None else age_of(captured_at, now).total_seconds()


def age_text(age: timedelta) -> str:
    """``snapshot 5 min old``; "old" beyond ``FRESH``."""
    if age <= FRESH:
        return f"snapshot {format_span(age)} old"
    return f"OLD SNAPSHOT: {format_span(age)} old"
