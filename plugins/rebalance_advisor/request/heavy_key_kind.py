"""Heavy keys as values of an option: objects in JSON; a shell names a ``keys.json`` of ``rebalance-advisor keys``."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_rebalance.errors import InvalidInputError
from kafka_rebalance.options.heavy_key import HeavyKeyOf
from kafka_rebalance.options.limits import MOST_PARTITION
from kafka_rebalance.snapshot.ranges import LARGEST_INT64
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor.input_bytes import MAX_SETTINGS_BYTES, ByteBudget
from rebalance_advisor.request.value_kinds import FILLED_TEXT, ValueKind

if TYPE_CHECKING:
    from kafka_rebalance.snapshot.codec.fields import Fields

_FIELDS = {
    "topic": dict(FILLED_TEXT),
    "partition": {"type": "integer", "minimum": 0, "maximum": MOST_PARTITION},
    "key": dict(FILLED_TEXT),
    "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
}


def _heavy_key(value: Any) -> HeavyKeyOf:
    if not isinstance(value, Mapping) or set(value) != set(_FIELDS):
        raise ArgumentTypeError(f"{excerpt(value)} is no object of {', '.join(_FIELDS)}")
    try:
        return HeavyKeyOf(**value)
    except InvalidInputError as error:
        raise ArgumentTypeError(str(error)) from error


def _document(key: HeavyKeyOf) -> dict[str, Any]:
    return {name: getattr(key, name) for name in _FIELDS}


HEAVY_KEY = ValueKind(
    {"type": ["object"], "properties": _FIELDS, "required": list(_FIELDS), "additionalProperties": False},
    Path, _heavy_key, _document,
)  # fmt: skip


def heavy_keys_in_files(paths: Iterable[Path]) -> list[HeavyKeyOf]:
    """The heaviest key of each partition in every ``keys.json``, by its first placement.

    Raises InvalidInputError with its place for a file that is none.
    """
    return [key for path in paths for key in _in_file(path)]


def _in_file(path: Path) -> list[HeavyKeyOf]:
    from kafka_rebalance.snapshot.codec.fields import Fields
    from rebalance_advisor.dumps.files.input_file import read_json

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
