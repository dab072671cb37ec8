"""Kinds of option values: range, written form, JSON schema and error; at the end rules by name or pattern.

Python values are checked strictly. With ``WRITTEN`` as context, the forms of people and JSON are read, too: ``"10%"``
is 0.1, ``"500GB"`` is 500,000,000,000, a list of ``"disk=1.1"`` is a mapping. A dump has that form, else that of
plan.json.

>>> read_value(Share, "10%")
0.1

Ranges are those of Kafka's types where it has one (broker id 32 bits, replication factor 16). Elsewhere no sum or
product overflows a float. No numpy: a DAG file imports this.
"""

from __future__ import annotations

import dataclasses
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, fields
from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from fractions import Fraction
from typing import Annotated, Any, ClassVar, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
    Strict,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    model_validator,
)
from pydantic.dataclasses import dataclass
from pydantic_core import core_schema
from pydantic_core.core_schema import CoreSchema

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.releases import Client, release_of
from kafka_assignors.visible_text import excerpt
from kafka_rebalance.resources import BOUNDED, ON_REQUEST, RESOURCES, ROWS, UNITS
from kafka_rebalance.snapshot.figures import CAPACITY_LIMITS, Capacity

MOST_WHOLE = 2**63 - 1
MOST_BROKER_ID = 2**31 - 1
MOST_FACTOR = 2**15 - 1
MOST_HOURS = 24 * 366 * 100
# Hourly loads are kept this long.
MOST_WINDOW_HOURS = 35 * 24
LEAST_RATIO, MOST_RATIO = 1e-6, 1e6
MOST_VALUES = 10_000
LONGEST_TEXT = 10_000
MOST_PARTITION = 2**31 - 1
MOST_PRICE = 1e6


@dataclasses.dataclass(frozen=True, slots=True)
class Target:
    """LOW..HIGH as multiples of the plain mean; ``None``: no limit on that side."""

    low: float | None
    high: float | None

    def __post_init__(self) -> None:
        for value in (self.low, self.high):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise InvalidInputError.at("target", f"{value} is no multiple of the mean", "give LOW..HIGH or HIGH")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise InvalidInputError.at("target", f"low {self.low} is above high {self.high}")


WRITTEN = "written"  # context for values as people write them
CHECKED = ConfigDict(allow_inf_nan=False, extra="forbid", hide_input_in_errors=True)
LEAST_PLAIN_BYTES = 2**20  # smaller ones need a unit
LONGEST = 100  # characters of a number
WHOLE = re.compile(r"[0-9]{1,100}")
_DECIMAL = re.compile(r"[0-9]{1,100}(?:\.[0-9]{1,100}|(?:\.[0-9]{1,100})?e[+-]?[0-9]{1,3})")
_WINDOW = re.compile(r"([0-9]{1,9})([hd])")
_AMOUNT = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kMGTP]i?)?B?(?:/s)?")
_SPAN = re.compile(r"([0-9]{1,9})\s*(min|h|d)")
_SPAN_S = {"d": 86_400, "h": 3600, "min": 60}
_FACTORS = {None: 1} | {
    letter + ending: base**power
    for power, letter in enumerate("kMGTP", start=1)
    for ending, base in (("", 1000), ("i", 1024))
}


class WrongKeyError(ValueError):
    """A mapping with a wrong value at one key."""

    def __init__(self, key: Any, message: str) -> None:
        super().__init__(message)
        self.key = key


class _Annotation(ABC):
    """Base of annotations: a validator and a serializer that know the context."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_wrap_validator_function(
            self._check,
            self._inner(source, handler),
            serialization=core_schema.wrap_serializer_function_ser_schema(self._dump, info_arg=True),
        )

    def _inner(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler(source)

    @abstractmethod
    def _check(self, value: Any, inner: Callable[[Any], Any], info: Any) -> Any:
        """Return the checked value. Raises ValueError."""

    @abstractmethod
    def _dump(self, value: Any, inner: Callable[[Any], Any], info: Any) -> Any:
        """Return JSON of the value."""


class Value(_Annotation):
    """Annotation of a value: its written form, and one error for every other value.

    fault   follows the value in the error: "is no share"; empty: pydantic's message stays
    give    what to give instead
    read    value from JSON or text; leaves unknown forms alone. Raises ValueError
    write   the inverse
    schema  for a form beside the range, such as a text's pattern
    """

    def __init__(
        self,
        fault: str = "",
        give: str = "",
        *,
        read: Callable[[Any], Any] = lambda value: value,
        write: Callable[[Any], Any] = lambda value: value,
        schema: Mapping[str, Any] | None = None,
    ) -> None:
        self.fault, self.give, self.read, self.write, self.schema = fault, give, read, write, dict(schema or {})

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        ours, inner = self.schema if handler.mode == "validation" else {}, handler(schema)
        return inner | ours if inner.get("type") in ours.get("type", [inner.get("type")]) else ours

    def _check(self, value: Any, inner: Callable[[Any], Any], info: Any) -> Any:
        meant = self.read(value) if info.context == WRITTEN else value
        try:
            return inner(meant)
        except ValidationError as error:
            if not self.fault or error.errors()[0]["type"] == "value_error":
                raise  # with its own message
            raise ValueError(f"{excerpt(value)} {self.fault}" + (f"; {self.give}" if self.give else "")) from error

    def _dump(self, value: Any, inner: Callable[[Any], Any], info: Any) -> Any:
        return self.write(value) if info.context == WRITTEN else inner(value)


class OneOf(Value):
    def __init__(self, choices: Iterable[str], fault: str = "") -> None:
        self.choices = list(choices)
        choice_list = ", ".join(self.choices)
        super().__init__(fault or f"is none of {choice_list}", f"known: {choice_list}" if fault else "")

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "string", "enum": self.choices}

    def _inner(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ARG002
        return core_schema.literal_schema(self.choices)


class Several(_Annotation):
    """Annotation of a set or tuple: a list in JSON, a repeated option in a shell."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """No ``uniqueItems``: Airflow compares all pairs of a list of objects."""
        json_schema = {key: part for key, part in handler(schema).items() if key != "uniqueItems"}
        return json_schema | ({"maxItems": MOST_VALUES} if handler.mode == "validation" else {})

    def _check(self, value: Any, inner: Callable[[Any], Any], info: Any) -> Any:
        if not isinstance(value, list | tuple | frozenset):
            raise ValueError(f"{excerpt(value)} is no list")  # noqa: TRY004 (pydantic takes no TypeError)
        if info.context == WRITTEN and len(value) > MOST_VALUES:
            raise ValueError(f"{len(value):,} values are more than {MOST_VALUES:,}")
        return inner(value)

    def _dump(self, value: Any, inner: Callable[[Any], Any], info: Any) -> list[Any]:  # noqa: ARG002
        return sorted(inner(value)) if isinstance(value, frozenset) else list(inner(value))


class Pairs(Several):
    """Annotation of a mapping written as texts: ``["disk=1.1", "in=2"]``."""

    def __init__(
        self, read: Callable[[Any], tuple[Any, Any]], write: Callable[[Any, Any], str], schema: Mapping[str, Any]
    ) -> None:
        self.read, self.write, self.schema = read, write, dict(schema)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """A list of texts in a form, an object in plan.json."""
        in_form = {"type": "array", "items": self.schema, "maxItems": MOST_VALUES}
        return in_form if handler.mode == "validation" else handler(schema)

    def _check(self, value: Any, inner: Callable[[Any], Any], info: Any) -> Any:
        if info.context == WRITTEN:
            return super()._check(value, lambda pairs: inner(_once(map(self.read, pairs))), info)
        if not isinstance(value, Mapping):
            raise ValueError(f"{excerpt(value)} is no object")  # noqa: TRY004
        return inner(value)

    def _dump(self, value: Any, inner: Callable[[Any], Any], info: Any) -> Any:
        if info.context == WRITTEN:
            return [self.write(*pair) for pair in sorted(value.items())]
        return inner(dict(sorted(value.items())))


def _once(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
    given: dict[Any, Any] = {}
    for key, value in pairs:
        if key in given and given[key] != value:
            raise WrongKeyError(key, "is given twice, with different values; give it once")
        given[key] = value
    return given


def read_value(kind: Any, value: Any) -> Any:
    """Return the value. Raises ValueError with the value seen and what to give."""
    try:
        return TypeAdapter(kind, config=CHECKED).validate_python(value, context=WRITTEN)
    except ValidationError as error:
        raise ValueError(describe_error(error)) from error


def describe_error(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    if first["type"] == "value_error":
        return str(first["ctx"]["error"])
    if first["type"] in ("missing", "missing_argument"):
        return f"{first['loc'][-1]} is missing"
    if first["type"] in ("dict_type", "mapping_type", "dataclass_type"):
        return f"{excerpt(first['input'])} is no object"
    return f"{excerpt(first['input'])} cannot be; {first['msg'][0].lower()}{first['msg'][1:]}"


def wrong_key(error: ValidationError) -> Any:
    first = error.errors(include_url=False)[0]
    if isinstance(cause := first.get("ctx", {}).get("error"), WrongKeyError):
        return str(cause.key)
    return first["loc"][0] if first["loc"] and first["loc"][-1] != "[key]" else None


def nearest(name: Any, choices: Iterable[str]) -> str:
    """Return ``did you mean X?``, or all known names."""
    names = list(choices)
    near = get_close_matches(str(name), names, n=1)
    return f"did you mean {near[0]}?" if near else f"known: {', '.join(names)}"


def _whole(value: Any) -> Any:
    """JavaScript may write 5 as 5.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def whole_or_text(value: Any) -> Any:
    return int(value) if isinstance(value, str) and WHOLE.fullmatch(value) else _whole(value)


def _number(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        number = float(value.removesuffix("%"))
    except ValueError:
        return value
    return number / 100 if value.endswith("%") else number


def _plain_number(value: Any) -> Any:
    return value if isinstance(value, str) and value.endswith("%") else _number(value)


def read_amount(value: Any) -> Any:
    """Return bytes or bytes/s: ``500GB`` = 500,000,000,000, ``512MiB`` = 536,870,912, a plain number as it is.

    A plain number below 1 MiB is refused: ``50`` usually means 50 MB, not 50 bytes.
    """
    number = _whole(value)
    is_whole = isinstance(number, int) and not isinstance(number, bool) and number <= MOST_WHOLE
    text = str(number) if is_whole else value
    match = _AMOUNT.fullmatch(text.strip()) if isinstance(text, str) and len(text) <= LONGEST else None
    if match is None:
        return number
    amount = round(Fraction(match[1]) * _FACTORS[match[2]])
    if 0 < amount < LEAST_PLAIN_BYTES and match[2] is None and "B" not in text:
        plain = match[1]
        raise ValueError(
            f"{excerpt(text)} would be {amount:,} byte{'s' * (amount > 1)}: give its unit, {plain}MB or {plain}MiB "
            f"({plain}B for bytes)"
        )
    return amount


def _amount_text(value: int) -> str | int:
    return f"{value}B" if 0 < value < LEAST_PLAIN_BYTES else value


def _span(value: Any) -> Any:
    match = _SPAN.fullmatch(value.strip()) if isinstance(value, str) and len(value) <= LONGEST else None
    return str(value) if match is None else int(match[1]) * _SPAN_S[match[2]]


def _span_text(seconds: int) -> str:
    unit, size = next((unit, size) for unit, size in _SPAN_S.items() if seconds % size == 0)
    return f"{seconds // size}{unit}"


def _window(value: Any) -> Any:
    match = _WINDOW.fullmatch(value) if isinstance(value, str) else None
    return _whole(value) if match is None else int(match[1]) * (24 if match[2] == "d" else 1)


def _window_text(hours: int) -> str:
    days, rest = divmod(hours, 24)
    return f"{hours}h" if rest else f"{days}d"


def _new_broker(value: Any) -> tuple[int, str | None]:
    broker, colon, rack = value.partition(":") if isinstance(value, str) else (value, "", "")
    if isinstance(value, str) and (not WHOLE.fullmatch(broker) or (colon and not rack)):
        raise ValueError(f"{excerpt(value)}: give ID:RACK, or ID alone where there are no racks")
    return read_value(BrokerId, broker), rack or None


def _resource_and(value: Any, choices: Iterable[str], form: str) -> tuple[str, str]:
    resource, _, rest = value.partition("=") if isinstance(value, str) else ("", "", "")
    if resource not in choices or not rest:
        what = f"{excerpt(value)}" if isinstance(value, str) else f"{excerpt(value)} is no text"
        raise ValueError(f"{what}: give {form}, RESOURCE is one of {', '.join(choices)}")
    return resource, rest


def _target(value: Any) -> tuple[str, Any]:
    """``disk=1.1`` → upper limit, ``disk=0.9..1.1`` → both, ``disk=0.9..`` → lower limit."""
    resource, band = _resource_and(value, RESOURCES, "RESOURCE=HIGH or RESOURCE=LOW..HIGH")
    low, dots, high = band.rpartition("..")
    try:
        return resource, (float(low) if dots else None, float(high) if high or not dots else None)
    except ValueError:
        message = f"{excerpt(band)} is no allowed range: give HIGH or LOW..HIGH as multiples of the mean"
        raise ValueError(message) from None


def _target_text(resource: str, band: Target) -> str:
    high = "" if band.high is None else repr(band.high)
    return f"{resource}={high}" if band.low is None else f"{resource}={band.low!r}..{high}"


def _band(value: Any) -> Target:
    if isinstance(value, Target):
        target = value
    elif isinstance(value, list | tuple) and len(value) == 2 and all(map(_is_number_or_none, value)):
        try:
            target = Target(*value)
        except InvalidInputError as error:
            raise ValueError(str(error)) from error
    else:
        raise ValueError(f"{excerpt(value)} is no allowed range; give HIGH or LOW..HIGH as multiples of the mean")
    if target.low is None and target.high is None:
        raise ValueError("has neither a lower nor an upper limit; give HIGH or LOW..HIGH")
    if target.high is not None and not LEAST_RATIO <= target.high <= MOST_RATIO:
        wide = f"give a multiple of the mean from {LEAST_RATIO:g} to {MOST_RATIO:g}"
        raise ValueError(f"no broker can carry {target.high:g} × the mean at most; {wide}")
    if target.low is not None and not 0 <= target.low <= MOST_RATIO:
        raise ValueError(f"no broker can carry {target.low:g} × the mean at least; give at most {MOST_RATIO:g}")
    return target


def _is_number_or_none(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_number(value: Any) -> bool:
    """Return whether a float holds it: JSON numbers may be longer."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) if isinstance(value, float) else abs(value) <= MOST_WHOLE


def _cap(value: Any) -> tuple[str, float]:
    """Return the maximum of ``out=200MB/s``, ``disk=2TB``, ``replicas=4000``, ``cpu=80%``."""
    resource, most = _resource_and(value, RESOURCES, "RESOURCE=AMOUNT")
    unit = UNITS[resource]
    if unit == "count":
        return resource, read_value(Count, whole_or_text(most))
    if unit == "percent":
        return resource, _number(most.removesuffix("%"))
    if not _DECIMAL.fullmatch(plain := most.removesuffix("B")):
        return resource, read_value(Amount, most)
    if plain == most and math.isfinite(float(plain)):
        read_amount(str(math.ceil(float(plain))))  # refuses a small one without a unit
    return resource, float(plain)


def _cap_text(resource: str, most: float) -> str:
    is_whole = ROWS[resource].unit != "percent" and most == int(most)
    has_unit = ROWS[resource].unit in ("count", "percent") or most >= LEAST_PLAIN_BYTES
    return f"{resource}={int(most) if is_whole else repr(most)}{'' if has_unit else 'B'}"


def _allowed_cap(cap: Any) -> float:
    if not (_is_number(cap) and 0 < cap <= MOST_WHOLE):
        raise ValueError(f"{excerpt(cap)} cannot be; give a number above 0, up to {MOST_WHOLE:,}")
    return float(cap) if isinstance(cap, float) else int(cap)


def _counted_whole(caps: Mapping[str, float]) -> Mapping[str, float]:
    for resource, cap in caps.items():
        if ROWS[resource].is_counted and cap != int(cap):
            raise WrongKeyError(resource, f"{excerpt(cap)} cannot be; {resource} are counted: give a whole number")
    return caps


def _headroom(value: Any) -> tuple[str, float]:
    resource, free = _resource_and(value, BOUNDED, "RESOURCE=SHARE")
    return resource, read_value(Share, free)


def _growth(value: Any) -> tuple[int, int]:
    """``9=40GB``."""
    broker, _, amount = value.partition("=") if isinstance(value, str) else ("", "", "")
    if not WHOLE.fullmatch(broker) or not amount:
        raise ValueError(f"{excerpt(value)}: give BROKER=BYTES, for example 9=40GB")
    return read_value(BrokerId, broker), read_value(Amount, amount)


def _capacity(value: Any) -> Capacity:
    if isinstance(value, Capacity):
        return value
    if not isinstance(value, Mapping) or not set(value) <= set(CAPACITY_LIMITS):
        raise ValueError(f"{excerpt(value)} is no capacity; known figures are {', '.join(CAPACITY_LIMITS)}")
    if wrong := [figure for figure in value.values() if not _is_number_or_none(figure)]:
        raise ValueError(f"{excerpt(wrong[0])} is no number")
    try:
        return Capacity(**value)
    except InvalidInputError as error:
        raise ValueError(str(error)) from error


def _by_broker(value: Any) -> Any:
    if not isinstance(value, Mapping):
        raise ValueError(f"{excerpt(value)} is no object of brokers and what they can carry")  # noqa: TRY004
    return _once((whole_or_text(broker), figures) for broker, figures in value.items())


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError(f"{excerpt(text)} is no text")
    return text


def _regular_expression(text: str) -> str:
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{excerpt(text)} is no regular expression ({error})") from error
    return text


# Airflow tries each pattern on texts of any length: it must run in linear time.
def short_text(*types: str, pattern: str, **more: Any) -> dict[str, Any]:
    return {"type": [*types], "pattern": pattern, "maxLength": LONGEST, **more}


def long_text(pattern: str, *types: str) -> dict[str, Any]:
    return {"type": ["string", *types], "pattern": pattern, "maxLength": LONGEST_TEXT}


AMOUNT_TEXT = short_text("string", "integer", pattern=r"^[0-9]+(\.[0-9]+)?\s*([kMGTP]i?)?B?(/s)?$")
_SHARE_TEXT = short_text("string", "number", pattern="^[0-9.eE+-]+%?$")
_DECIMAL_TEXT = short_text("number", "string", pattern="^[0-9]+([.][0-9]+)?$")
_AMOUNT_TEXTS = f"give a whole number, 500GB or 512MiB, at most {MOST_WHOLE:,}"

Flag: TypeAlias = Annotated[bool, Strict(), Value("is neither true nor false")]
Unflag: TypeAlias = Annotated[
    bool,
    Strict(),
    Value(
        "is neither true nor false",
        read=lambda value: not value if isinstance(value, bool) else value,
        write=lambda held: not held,
    ),
]
Count: TypeAlias = Annotated[
    int, Strict(), Field(ge=0, le=MOST_WHOLE), Value("is no whole number", f"give 0 to {MOST_WHOLE:,}", read=_whole)
]
NumberFrom1: TypeAlias = Annotated[
    int,
    Strict(),
    Field(ge=1, le=MOST_WHOLE),
    Value("is none", f"give a whole number, 1 to {MOST_WHOLE:,}", read=_whole),
]
WholeHours: TypeAlias = Annotated[
    int,
    Strict(),
    Field(ge=1, le=MOST_HOURS),
    Value("is no whole number of hours", f"give 1 to {MOST_HOURS:,}", read=_whole),
]
Factor: TypeAlias = Annotated[
    int,
    Strict(),
    Field(ge=1, le=MOST_FACTOR),
    Value("is no replication factor", f"give 1 to {MOST_FACTOR:,}", read=_whole),
]
# A form's choice among known brokers gives texts.
BrokerId: TypeAlias = Annotated[
    int,
    Strict(),
    Field(ge=0, le=MOST_BROKER_ID),
    Value(
        "is no broker id",
        f"give 0 to {MOST_BROKER_ID:,}",
        read=whole_or_text,
        schema=short_text("integer", "string", pattern="^[0-9]+$"),
    ),
]
Amount: TypeAlias = Annotated[
    int,
    Strict(),
    Field(ge=0, le=MOST_WHOLE),
    Value("is no amount", _AMOUNT_TEXTS, read=read_amount, write=_amount_text, schema=AMOUNT_TEXT),
]
Rate: TypeAlias = Annotated[
    int,
    Strict(),
    Field(ge=1, le=MOST_WHOLE),
    Value(
        "is no amount above 0",
        _AMOUNT_TEXTS,
        read=read_amount,
        write=_amount_text,
        schema=AMOUNT_TEXT | {"minimum": LEAST_PLAIN_BYTES},
    ),
]
Share: TypeAlias = Annotated[
    float,
    Strict(),
    Field(ge=0, lt=1),
    Value("is no share between 0 and 1", "give 10% or 0.1", read=_number, schema=_SHARE_TEXT),
]
Ratio: TypeAlias = Annotated[
    float,
    Strict(),
    Field(ge=0, le=MOST_RATIO),
    Value("is no share", f"give 20% or 0.2, at most {MOST_RATIO:g}", read=_number, schema=_SHARE_TEXT),
]
Hours: TypeAlias = Annotated[
    float,
    Strict(),
    Field(gt=0, le=MOST_HOURS),
    Value(
        "is no number of hours above 0",
        f"give 6 or 1.5, at most {MOST_HOURS:,}",
        read=_plain_number,
        schema=_DECIMAL_TEXT,
    ),
]
Price: TypeAlias = Annotated[
    float,
    Strict(),
    Field(gt=0, le=MOST_PRICE),
    Value("is no price above 0", f"give 0.02, at most {MOST_PRICE:,}", read=_plain_number, schema=_DECIMAL_TEXT),
]
Span: TypeAlias = Annotated[
    int,
    Strict(),
    Field(ge=1, le=MOST_HOURS * 3600),
    Value(
        "is no time span",
        "give 90min, 2h or 3d",
        read=_span,
        write=_span_text,
        schema=short_text("string", pattern=r"^\s*[0-9]+\s*(min|h|d)\s*$"),
    ),
]
Window: TypeAlias = Annotated[
    int,
    Strict(),
    Field(ge=1, le=MOST_WINDOW_HOURS),
    Value(
        "is no window of history",
        f"give 7d or 36h, at most {_window_text(MOST_WINDOW_HOURS)}",
        read=_window,
        write=_window_text,
        schema=short_text("string", "integer", pattern="^[0-9]+[hd]$"),
    ),
]
Text: TypeAlias = Annotated[
    str,
    Strict(),
    Field(min_length=1, max_length=LONGEST_TEXT),
    Value("is no text", f"give 1 to {LONGEST_TEXT:,} characters"),
]
FilledText: TypeAlias = Annotated[Text, AfterValidator(_not_blank)]
Pattern: TypeAlias = Annotated[FilledText, AfterValidator(_regular_expression)]
Rack: TypeAlias = Annotated[str, Strict(), Field(min_length=1, max_length=LONGEST_TEXT), Value("is no rack")]

Brokers: TypeAlias = Annotated[frozenset[BrokerId], Several()]
Racks: TypeAlias = Annotated[frozenset[Rack], Several()]
Patterns: TypeAlias = Annotated[tuple[Pattern, ...], Several()]
AlsoBalanced: TypeAlias = Annotated[frozenset[Annotated[str, OneOf(ON_REQUEST, "is no such resource")]], Several()]
# Keys of plan.json's objects are texts.
_BrokerKey: TypeAlias = Annotated[BrokerId, BeforeValidator(whole_or_text)]
_Resource: TypeAlias = Annotated[str, OneOf(RESOURCES, "is no resource")]
_OF_RESOURCE = short_text("string", pattern=f"^({'|'.join(RESOURCES)})=.+$")
Targets: TypeAlias = Annotated[
    Mapping[
        _Resource,
        Annotated[
            Target,
            PlainValidator(_band),
            PlainSerializer(lambda band: [band.low, band.high], return_type=list[float | None]),
        ],
    ],
    Pairs(_target, _target_text, _OF_RESOURCE),
]
Caps: TypeAlias = Annotated[
    Mapping[
        _Resource,
        Annotated[float, PlainValidator(_allowed_cap), PlainSerializer(lambda cap: cap, return_type=int | float)],
    ],
    AfterValidator(_counted_whole),
    Pairs(_cap, _cap_text, _OF_RESOURCE),
]
Headroom: TypeAlias = Annotated[
    Mapping[Annotated[str, OneOf(BOUNDED, "has no capacity")], Share],
    Pairs(
        _headroom,
        lambda resource, share: f"{resource}={share!r}",
        short_text("string", pattern=f"^({'|'.join(BOUNDED)})=.+$"),
    ),
]
NewBrokers: TypeAlias = Annotated[
    Mapping[_BrokerKey, Rack | None],
    Pairs(
        _new_broker,
        lambda broker, rack: str(broker) if rack is None else f"{broker}:{rack}",
        {"minimum": 0, "maximum": MOST_BROKER_ID} | long_text("^[0-9]+(:.+)?$", "integer"),
    ),
]
Growths: TypeAlias = Annotated[
    Mapping[_BrokerKey, Annotated[int, Strict(), Field(ge=0, le=MOST_WHOLE)]],
    Pairs(
        _growth,
        lambda broker, amount: f"{broker}={_amount_text(amount)}",
        short_text("string", pattern="^[0-9]+=.+$"),
    ),
]
_FIGURE = {"type": ["null", "number"], "exclusiveMinimum": 0, "maximum": MOST_WHOLE}
Capacities: TypeAlias = Annotated[
    Mapping[
        _BrokerKey,
        Annotated[
            Capacity,
            PlainValidator(_capacity),
            PlainSerializer(asdict, return_type=dict[str, float | None]),
            WithJsonSchema(
                {"type": "object", "additionalProperties": False, "properties": dict.fromkeys(CAPACITY_LIMITS, _FIGURE)}
            ),
        ],
    ],
    Value(
        read=_by_broker,
        write=lambda held: {str(broker): asdict(held[broker]) for broker in sorted(held)} or None,
        schema={"maxProperties": MOST_VALUES, "propertyNames": {"pattern": "^[0-9]+$", "maxLength": LONGEST}},
    ),
]


class Checked:
    """Base of checked dataclasses: errors are the project's own and name the field."""

    __slots__ = ()
    refusal: ClassVar[type[InvalidInputError]] = InvalidInputError

    @model_validator(mode="wrap")
    @classmethod
    def _refused_by_name(cls, value: Any, handler: Callable[[Any], Any]) -> Any:
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        if isinstance(value, Mapping):  # null: not given
            value = {name: part for name, part in value.items() if part is not None}
        try:
            return handler(value)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            name = first["loc"][0] if first["loc"] else ""
            name = names[name] if isinstance(name, int) else name
            if first["type"].startswith("unexpected"):
                raise cls.refusal(f"{excerpt(name)} is not known; {nearest(name, names)}") from error
            if first["type"].startswith("missing"):
                raise cls.refusal(f"{name} is missing") from error
            if first["type"].startswith("dataclass"):
                raise cls.refusal(f"{excerpt(value)} is no object of {', '.join(names)}") from error
            raise cls.refusal.at(str(name), describe_error(error)) from error


def _release(version: str) -> str:
    release_of(version, "client version")
    return version


@dataclass(frozen=True, config=CHECKED)
class ClientRule(Checked):
    """``pattern`` matches the whole name; ``version``: the leader's release."""

    pattern: Pattern
    client: Annotated[str, OneOf((client.value for client in Client), "is unknown")]
    version: Annotated[Text, AfterValidator(_release)] | None = None

    def covers(self, group_id: str, client_ids: Collection[str | None]) -> bool:
        has_ids = bool(client_ids) and all(name is not None and re.fullmatch(self.pattern, name) for name in client_ids)
        return has_ids or re.fullmatch(self.pattern, group_id) is not None


# Brokers for the replicas of matching topics. All matching rules of a topic apply.


@dataclass(frozen=True, order=True, config=CHECKED)
class TopicBrokers(Checked):
    """``pattern`` matches whole topic names; ``brokers`` by id and ``racks`` by name, at least one of both."""

    pattern: Pattern
    brokers: Brokers = frozenset()
    racks: Racks = frozenset()

    def __post_init__(self) -> None:
        if not self.brokers and not self.racks:
            raise InvalidInputError.at(excerpt(self.pattern), "names no broker", "give PATTERN=1,2,3")

    def covers(self, topic: str) -> bool:
        return re.fullmatch(self.pattern, topic) is not None

    def allows(self, broker: int, rack: str | None) -> bool:
        return broker in self.brokers or (rack is not None and rack in self.racks)


def _read(value: Any) -> Any:
    """``pay-.*=1,2,rack:a``: brokers 1, 2 and all of rack a."""
    if not isinstance(value, str):
        return value
    named, _, places = value.rpartition("=")
    parts = [part.strip() for part in places.split(",")]
    if not named or not all(parts):
        raise ValueError(f"{excerpt(value)}: give PATTERN=1,2,3 or PATTERN=rack:NAME")
    racks = [part.removeprefix("rack:") for part in parts if part.startswith("rack:")]
    brokers = [read_value(BrokerId, part) for part in parts if not part.startswith("rack:")]
    return TopicBrokers(named, brokers, racks)  # type: ignore[arg-type]


def _write(rule: TopicBrokers) -> str:
    return f"{rule.pattern}={','.join([*map(str, sorted(rule.brokers)), *(f'rack:{r}' for r in sorted(rule.racks))])}"


# No place holds "=", so each "=" begins at most one match attempt.
TopicBrokersRule = Annotated[
    TopicBrokers, Value(read=_read, write=_write, schema=long_text("^.+=([0-9]+|rack:[^,=]+)(,([0-9]+|rack:[^,=]+))*$"))
]


# Minimum leaders of a topic on each broker that may lead; the largest matching rule counts. With fewer partitions each
# broker gets the whole share: 5 partitions on 4 brokers, one.


_WRITTEN = re.compile(r"(?P<pattern>.+)=\s*(?P<leaders>[0-9]{1,100})\s*", re.DOTALL)


@dataclass(frozen=True, order=True, config=CHECKED)
class TopicLeaders(Checked):
    """``pattern`` matches whole topic names; ``leaders`` of each on every broker that may lead, from 1."""

    pattern: Pattern
    leaders: NumberFrom1

    def covers(self, topic: str) -> bool:
        return re.fullmatch(self.pattern, topic) is not None


def _read_leaders(value: Any) -> Any:
    """``pay-.*=2``"""
    if not isinstance(value, str):
        return value
    match = _WRITTEN.fullmatch(value)
    if match is None:
        raise ValueError(f"{excerpt(value)}: give PATTERN=NUMBER")
    return TopicLeaders(match["pattern"], int(match["leaders"]))


TopicLeadersRule = Annotated[
    TopicLeaders,
    Value(read=_read_leaders, write=lambda rule: f"{rule.pattern}={rule.leaders}", schema=long_text("^.+=[0-9]+$")),
]


EVERYTHING = ".*"
MOST_TIER = 9
_SUBJECT_TYPES = (
    "cluster", "broker", "rack", "topic", "partition", "group", "member", "coordinator", "partitioner", "plan",
)  # fmt: skip
SubjectOf: TypeAlias = Annotated[str, OneOf(_SUBJECT_TYPES)]


def _end(value: Any) -> Any:
    end = _parse(value) if isinstance(value, str) else value
    if isinstance(end, datetime) or not isinstance(end, date):
        return end
    try:
        return datetime.combine(end + timedelta(days=1), time(), UTC)
    except OverflowError as error:
        raise ValueError(f"{excerpt(value)} has no end") from error


def _parse(text: str) -> Any:
    for read in (date.fromisoformat, datetime.fromisoformat):
        try:
            return read(text.strip())
        except ValueError:
            continue
    return text


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError(f"{excerpt(moment.isoformat())} has no time zone; write 2026-12-31 or 2026-12-31T18:00Z")
    return moment.astimezone(UTC)


@dataclass(frozen=True, config=CHECKED)
class OwnerRule(Checked):
    """``pattern`` matches the whole subject; the first match counts.

    subject_type  topic, group, broker … as in a finding; None: any
    tier          0 to 9
    """

    pattern: Pattern
    team: FilledText
    channel: FilledText | None = None
    tier: Annotated[int, Strict(), Field(ge=0, le=MOST_TIER), Value("is no tier", f"give 0 to {MOST_TIER}")] | None = (
        None
    )
    subject_type: SubjectOf | None = None

    def covers(self, subject_type: str, subject: str) -> bool:
        return _covers(self.subject_type, self.pattern, subject_type, subject)


@dataclass(frozen=True, config=CHECKED)
class MuteRule(Checked):
    """Findings before ``until`` stay in the list, but are not shown first or sent.

    code  of the registry; None: any
    """

    pattern: Annotated[Pattern, Field(default=EVERYTHING)]
    until: Annotated[
        datetime,
        Strict(),
        AfterValidator(_in_utc),
        Value("is no day and no time", "write 2026-12-31", read=_end, write=datetime.isoformat),
        WithJsonSchema({"type": "string", "minLength": 1, "maxLength": LONGEST_TEXT}),  # a day is no "date-time"
    ]
    reason: FilledText
    code: Text | None = None
    subject_type: SubjectOf | None = None

    def __post_init__(self) -> None:
        if self.code is None and self.pattern == EVERYTHING and self.subject_type is None:
            raise InvalidInputError("mutes everything; give a code, a pattern or a subject_type")

    def covers(self, code: str, subject_type: str, subject: str) -> bool:
        return self.code in (None, code) and _covers(self.subject_type, self.pattern, subject_type, subject)


def _covers(wanted_type: str | None, pattern: str, subject_type: str, subject: str) -> bool:
    # A topic's owner owns its partitions.
    names = {subject_type: subject} | ({"topic": subject.rpartition("-")[0]} if subject_type == "partition" else {})
    return any(wanted_type in (None, kind) and re.fullmatch(pattern, name) for kind, name in names.items())


@dataclass(frozen=True, config=CHECKED)
class HeavyKeyOf(Checked):
    """``key``: text or identity. ``share``: lower bound in its partition's sample."""

    topic: Text
    partition: Annotated[int, Strict(), Field(ge=0, le=MOST_PARTITION), Value("is no partition's number")]
    key: Text
    share: Annotated[float, Strict(), Field(gt=0, le=1), Value("is no share from 0 to 1")]
