"""Files that a shell names in place of objects: rules in TOML, scenarios, and what ``rebalance-advisor keys`` wrote."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.errors import UsageError
from kafka_rebalance.options.rules import HeavyKeyOf
from kafka_rebalance.snapshot.ranges import LARGEST_INT64
from rebalance_advisor.input_bytes import MAX_SETTINGS_BYTES, ByteBudget, read_text
from rebalance_advisor.request.run_request import RUN_OPTIONS, TODAY

if TYPE_CHECKING:
    from kafka_rebalance.scenarios.scenario import Scenario
    from kafka_rebalance.snapshot.codec import Fields

RULES = {option.name: option for option in RUN_OPTIONS if option.name in ("owners", "mutes", "clients")}


def rules_in_file(name: str, path: Path) -> list[Any]:
    """The tables ``[[owners]]``, ``[[mutes]]`` or ``[[clients]]`` (``name``) of a TOML file.

    One file may hold them all. Raises InvalidInputError with its place.
    """
    try:
        document = tomllib.loads(read_text(path, ByteBudget(MAX_SETTINGS_BYTES)))
    except ValueError as error:
        raise InvalidInputError.at(str(path), f"is no TOML: {error}") from error
    except RecursionError as error:
        raise InvalidInputError.at(str(path), "is nested too deeply to be a list of rules") from error
    if unknown := sorted(set(document) - set(RULES)):
        known = ", ".join(f"[[{rule}]]" for rule in RULES)
        raise InvalidInputError.at(f"{path}: {excerpt(unknown[0])}", "is not known", f"known: {known}")
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
    """The heaviest key of each partition in every ``keys.json``, by its first placement.

    Raises InvalidInputError with its place for a file that is none.
    """
    return [key for path in paths for key in _in_file(path)]


def _in_file(path: Path) -> list[HeavyKeyOf]:
    from kafka_rebalance.snapshot.codec import Fields
    from rebalance_advisor.dumps.input_file import read_json

    fields = Fields(read_json(path, ByteBudget(MAX_SETTINGS_BYTES)), str(path))
    fields.whole("version", 1, 1)
    topic = fields.get("topic", str)
    placements = fields.each("placements", lambda item, place: Fields(item, place).ints("records"))
    if not placements:
        raise InvalidInputError.at(f"{path}.placements", "are missing", "write it by rebalance-advisor keys --out")
    heaviest: dict[int, HeavyKeyOf] = {}
    for key in fields.each("heavy_keys", lambda item, place: _of_partition(Fields(item, place), topic, placements[0])):
        if key is not None and (key.partition not in heaviest or key.share > heaviest[key.partition].share):
            heaviest[key.partition] = key
    return [heaviest[partition] for partition in sorted(heaviest)]


def _of_partition(key: Fields, topic: str, records: Sequence[int]) -> HeavyKeyOf | None:
    """``None`` for a key that goes by lot, or that is in no record for sure."""
    partitions, least = key.raw("partitions", []), key.whole("records_at_least", 0, LARGEST_INT64)
    shown = key.get("key_text", str, "") or f"identity {key.get('identity', str)}"
    partition = partitions[0] if isinstance(partitions, list) and partitions else None
    if not isinstance(partition, int) or isinstance(partition, bool) or not 0 <= partition < len(records) or not least:
        return None
    return HeavyKeyOf(topic, partition, shown, min(1.0, least / max(1, records[partition])))


def scenarios_in_files(paths: Iterable[Path]) -> list[Scenario]:
    """One of each file. Raises InvalidInputError with its place, UsageError where two have one name."""
    from kafka_rebalance.scenarios.scenario import scenario_from_document
    from rebalance_advisor.dumps.input_file import read_json

    found: dict[str, Scenario] = {}
    for path in paths:
        scenario = scenario_from_document(read_json(path), str(path))
        if scenario.name in (*found, TODAY):
            raise UsageError.at("--scenario", f"{path} has the name of another column", "give each a name of its own")
        found[scenario.name] = scenario
    return list(found.values())
