"""Kinds of values that options take: as text, as JSON, and as the JSON schema by which Airflow's form checks them.

Text and JSON give the same value: ``"10%"`` and ``0.1``, ``"500GB"`` and ``500000000000``.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kafka_rebalance.errors import InvalidInputError, UsageError
from kafka_rebalance.options.limits import (
    LONGEST_TEXT,
    MOST_BROKER_ID,
    MOST_FACTOR,
    MOST_HOURS,
    MOST_PRICE,
    MOST_RATIO,
    MOST_VALUES,
    MOST_WHOLE,
    MOST_WINDOW_HOURS,
)
from kafka_rebalance.options.target import Target
from kafka_rebalance.resources import BOUNDED, RESOURCES, ROWS, TABLE
from kafka_rebalance.visible_text import excerpt
from rebalance_advisor import option_texts as texts
from rebalance_advisor.own_strategies.limits import LEAST_BYTES
from rebalance_advisor.own_strategies.targets import Kind, read_target

LONGEST_BITS = 200  # longer numbers are in no range, and some are too long to be written out
FILLED_TEXT: Mapping[str, Any] = {"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT}
_CAPACITY_FIELDS = tuple(dict.fromkeys(row.capacity for row in TABLE if row.capacity is not None))


@dataclass(frozen=True, slots=True)
class ValueKind:
    """One kind. Its readers raise ArgumentTypeError, which says what was given and what is wanted.

    schema     of one JSON value; ``type`` is a list
    from_text  what a shell's argument means
    from_json  what a JSON value means
    to_json    the way back
    """

    schema: Mapping[str, Any]
    from_text: Callable[[str], Any]
    from_json: Callable[[Any], Any]
    to_json: Callable[[Any], Any] = lambda value: value


def _whole(from_text: Callable[[str], int], *, takes_text: bool = False) -> Callable[[Any], int]:
    """Reads a whole number; JavaScript may write 5 as 5.0."""

    def read(value: Any) -> int:
        if takes_text and isinstance(value, str):
            return from_text(value)
        number = int(value) if isinstance(value, float) and value.is_integer() else value
        if not isinstance(number, int) or isinstance(number, bool) or number.bit_length() > LONGEST_BITS:
            raise ArgumentTypeError(f"{excerpt(value)} is no whole number")
        return from_text(str(number))

    return read


def _number(from_text: Callable[[str], float]) -> Callable[[Any], float]:
    def read(value: Any) -> float:
        if isinstance(value, str):
            return from_text(value)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or (isinstance(value, int) and value.bit_length() > LONGEST_BITS):
            raise ArgumentTypeError(f"{excerpt(value)} is no number")
        return from_text(repr(float(value)))

    return read


def _text(from_text: Callable[[str], Any]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if not isinstance(value, str):
            raise ArgumentTypeError(f"{excerpt(value)} is no text")
        return from_text(value)

    return read


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ArgumentTypeError(f"{excerpt(value)} is neither true nor false")
    return value


def _memory(text: str) -> int:
    size = texts.amount(text)
    if size < LEAST_BYTES:
        raise ArgumentTypeError(f"{excerpt(text)} is too little for an interpreter: 64MiB or more")
    return size


def _strategy(text: str) -> str:
    try:
        return read_target(text, Kind.ASSIGNOR).place
    except UsageError as error:
        raise ArgumentTypeError(str(error)) from error


def _filled(text: str) -> str:
    if not text:
        raise ArgumentTypeError("is empty")
    if len(text) > LONGEST_TEXT:
        raise ArgumentTypeError(f"{excerpt(text)} is longer than {LONGEST_TEXT:,} characters")
    return text


def _new_broker(value: Any) -> tuple[int, str | None]:
    if isinstance(value, str):
        return texts.new_broker(value)
    return _whole(texts.broker_id)(value), None


def _new_broker_text(added: tuple[int, str | None]) -> str:
    broker, rack = added
    return str(broker) if rack is None else f"{broker}:{rack}"


def _target_text(wanted: tuple[str, Target]) -> str:
    resource, band = wanted
    high = "" if band.high is None else repr(band.high)
    return f"{resource}={high}" if band.low is None else f"{resource}={band.low!r}..{high}"


def _cap_text(wanted: tuple[str, float]) -> str:
    resource, most = wanted
    is_whole = ROWS[resource].unit != "percent" and most == int(most)  # 1e+18 is no amount that people type
    has_unit = ROWS[resource].unit in ("count", "percent") or most >= texts.LEAST_PLAIN_BYTES
    return f"{resource}={int(most) if is_whole else repr(most)}{'' if has_unit else 'B'}"


def _headroom_text(wanted: tuple[str, float]) -> str:
    resource, share = wanted
    return f"{resource}={share!r}"


def _window(value: Any) -> int:
    """``"7d"``, or a number of hours."""
    return texts.window(value if isinstance(value, str) else f"{_whole(texts.count)(value)}h")


def _capacities(value: Any) -> dict[int, Any]:
    """Broker → capacity. Raises InvalidInputError for a figure that no broker has."""
    from kafka_rebalance.snapshot.model import Capacity

    if not isinstance(value, Mapping):
        raise ArgumentTypeError(f"{excerpt(value)} is no object of brokers and what they can carry")
    pairs = []
    for broker, figures in value.items():
        if not isinstance(figures, Mapping) or not set(figures) <= set(_CAPACITY_FIELDS):
            raise ArgumentTypeError(f"broker {excerpt(broker)}: known figures are {', '.join(_CAPACITY_FIELDS)}")
        wrong = [figure for figure in figures.values() if isinstance(figure, bool | str | list | dict)]
        if wrong:
            raise ArgumentTypeError(f"broker {excerpt(broker)}: {excerpt(wrong[0])} is no number")
        try:
            pairs.append((texts.broker_id(str(broker)), Capacity(**figures)))
        except InvalidInputError as error:
            raise ArgumentTypeError(f"broker {excerpt(broker)}: {error}") from error
    return texts.once("--capacity", pairs)


def _capacities_document(capacities: Mapping[int, Any]) -> dict[str, Any] | None:
    return {str(broker): asdict(capacities[broker]) for broker in sorted(capacities)} or None


def _whole_schema(least: int, most: int) -> dict[str, Any]:
    return {"type": ["integer"], "minimum": least, "maximum": most}


# Airflow's api-server tries each pattern on texts of any length: a pattern must take time in proportion to the text.
def _short_text(pattern: str) -> dict[str, Any]:
    return {"pattern": pattern, "maxLength": texts.LONGEST}


def _long_text(pattern: str) -> dict[str, Any]:
    return {"type": ["string"], "pattern": pattern, "maxLength": LONGEST_TEXT}


FLAG = ValueKind({"type": ["boolean"]}, lambda _: True, _flag)
COUNT = ValueKind(_whole_schema(0, MOST_WHOLE), texts.count, _whole(texts.count))
NUMBER_FROM_1 = ValueKind(_whole_schema(1, MOST_WHOLE), texts.at_least_one, _whole(texts.at_least_one))
HOURS = ValueKind(_whole_schema(1, MOST_HOURS), texts.hours, _whole(texts.hours))
_DECIMAL = {"type": ["number", "string"], "exclusiveMinimum": 0} | _short_text("^[0-9]+([.][0-9]+)?$")
SPENT_HOURS = ValueKind({**_DECIMAL, "maximum": MOST_HOURS}, texts.spent_hours, _number(texts.spent_hours))
PRICE = ValueKind({**_DECIMAL, "maximum": MOST_PRICE}, texts.price, _number(texts.price))
FACTOR = ValueKind(_whole_schema(1, MOST_FACTOR), texts.factor, _whole(texts.factor))
# A form that lets people choose among known brokers gives texts.
BROKER = ValueKind(
    {**_whole_schema(0, MOST_BROKER_ID), "type": ["integer", "string"]} | _short_text("^[0-9]+$"),
    texts.broker_id, _whole(texts.broker_id, takes_text=True),
)  # fmt: skip
_AMOUNT_SCHEMA = {"type": ["string", "integer"], "maximum": MOST_WHOLE} | _short_text(
    r"^[0-9]+(\.[0-9]+)?\s*([kMGTP]i?)?B?(/s)?$"
)
AMOUNT = ValueKind(
    {**_AMOUNT_SCHEMA, "minimum": 0}, texts.amount, _whole(texts.amount, takes_text=True), texts.amount_text
)
RATE = ValueKind(
    {**_AMOUNT_SCHEMA, "minimum": texts.LEAST_PLAIN_BYTES},
    texts.rate, _whole(texts.rate, takes_text=True), texts.amount_text,
)  # fmt: skip
MEMORY = ValueKind({**_AMOUNT_SCHEMA, "minimum": LEAST_BYTES}, _memory, _whole(_memory, takes_text=True))
_SHARE_SCHEMA = {"type": ["string", "number"], "minimum": 0} | _short_text("^[0-9.eE+-]+%?$")
SHARE = ValueKind({**_SHARE_SCHEMA, "exclusiveMaximum": 1}, texts.share, _number(texts.share))
RATIO = ValueKind({**_SHARE_SCHEMA, "maximum": MOST_RATIO}, texts.ratio, _number(texts.ratio))
PATTERN = ValueKind(dict(FILLED_TEXT, type=["string"]), texts.pattern, _text(texts.pattern))
_OF_RESOURCE = {"type": ["string"]} | _short_text(f"^({'|'.join(RESOURCES)})=.+$")
TARGET = ValueKind(_OF_RESOURCE, texts.target, _text(texts.target), _target_text)
CAP = ValueKind(_OF_RESOURCE, texts.cap, _text(texts.cap), _cap_text)
HEADROOM = ValueKind(
    {"type": ["string"]} | _short_text(f"^({'|'.join(BOUNDED)})=.+$"),
    texts.headroom, _text(texts.headroom), _headroom_text,
)  # fmt: skip
# No place holds "=": each "=" begins at most one look at what follows it.
TOPIC_BROKERS = ValueKind(
    _long_text("^.+=([0-9]+|rack:[^,=]+)(,([0-9]+|rack:[^,=]+))*$"),
    texts.topic_brokers, _text(texts.topic_brokers), texts.topic_brokers_text,
)  # fmt: skip
TOPIC_LEADERS = ValueKind(
    _long_text("^.+=[0-9]+$"), texts.topic_leaders, _text(texts.topic_leaders), texts.topic_leaders_text
)
NEW_BROKER = ValueKind(
    {**_whole_schema(0, MOST_BROKER_ID), **_long_text("^[0-9]+(:.+)?$"), "type": ["string", "integer"]},
    texts.new_broker, _new_broker, _new_broker_text,
)  # fmt: skip
# A shell gives a file, which is read once the cluster is known.
CAPACITY = ValueKind(
    {
        "type": ["object"], "maxProperties": MOST_VALUES, "propertyNames": _short_text("^[0-9]+$"),
        "additionalProperties": {
            "type": "object", "additionalProperties": False,
            "properties": {
                name: {"type": ["null", "number"], "exclusiveMinimum": 0, "maximum": MOST_WHOLE}
                for name in _CAPACITY_FIELDS
            },
        },
    },
    Path, _capacities, _capacities_document,
)  # fmt: skip
SPAN = ValueKind(
    {"type": ["string"]} | _short_text(r"^\s*[0-9]+\s*(min|h|d)\s*$"), texts.span, _text(texts.span), texts.span_text
)
WINDOW = ValueKind(
    {**_whole_schema(1, MOST_WINDOW_HOURS), **_short_text("^[0-9]+[hd]$"), "type": ["string", "integer"]},
    texts.window, _window, texts.window_text,
)  # fmt: skip
PLACE = ValueKind(_long_text("^.+:[A-Za-z_][A-Za-z0-9_.]*$"), _strategy, _text(_strategy))
NAME = ValueKind(dict(FILLED_TEXT, type=["string"]), _filled, _text(_filled))


def one_of(*choices: str) -> ValueKind:
    """A text of a few."""

    def read(text: str) -> str:
        if text not in choices:
            raise ArgumentTypeError(f"{excerpt(text)} is none of {', '.join(choices)}")
        return text

    return ValueKind({"type": ["string"], "enum": list(choices)}, read, _text(read))
