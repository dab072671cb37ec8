"""Values as people type them, in a shell or a form: ``10%``, ``disk=0.9..1.1``, ``500GB``, ``13:rack-a``."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import TypeVar

from kafka_rebalance.errors import InvalidInputError, UsageError
from kafka_rebalance.options.limits import (
    LEAST_RATIO,
    MOST_BROKER_ID,
    MOST_FACTOR,
    MOST_HOURS,
    MOST_PRICE,
    MOST_RATIO,
    MOST_WHOLE,
    MOST_WINDOW_HOURS,
)
from kafka_rebalance.options.target import Target
from kafka_rebalance.options.topic_brokers import TopicBrokers
from kafka_rebalance.options.topic_leaders import TopicLeaders
from kafka_rebalance.resources import BOUNDED, RESOURCES, UNITS

LEAST_PLAIN_BYTES = 2**20  # fewer bytes are given with a unit
LONGEST = 100  # characters of a number: nobody types more, and none of them would be a number of bytes
Key = TypeVar("Key")
Value = TypeVar("Value")
_WHOLE = re.compile(r"[0-9]{1,100}")
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


def share(text: str) -> float:
    """``10%`` or ``0.1`` → 0.1."""
    value = _number(text.removesuffix("%"), f"{_short(text)} is no share: give 10% or 0.1")
    value = value / 100 if text.endswith("%") else value
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{_short(text)} is no share between 0 and 1: give 10% or 0.1")
    return value


def ratio(text: str) -> float:
    """``20%`` or ``0.2`` → 0.2; above 1, too."""
    message = f"{_short(text)} is no share: give 20% or 0.2, at most {MOST_RATIO:g}"
    value = _number(text.removesuffix("%"), message)
    value = value / 100 if text.endswith("%") else value
    if not 0 <= value <= MOST_RATIO:
        raise argparse.ArgumentTypeError(message)
    return value


def target(text: str) -> tuple[str, Target]:
    """``disk=1.1`` → an upper limit, ``disk=0.9..1.1`` → both, ``disk=0.9..`` → a lower limit."""
    resource, _, band = text.partition("=")
    if resource not in RESOURCES or not band:
        known = ", ".join(RESOURCES)
        raise argparse.ArgumentTypeError(
            f"{_short(text)}: give RESOURCE=HIGH or RESOURCE=LOW..HIGH, RESOURCE is one of {known}"
        )
    low, dots, high = band.rpartition("..")
    message = f"{_short(band)} is no band: give HIGH or LOW..HIGH as multiples of the mean"
    lowest = _number(low, message) if dots else None
    highest = _number(high, message) if high or not dots else None
    if highest is not None and not LEAST_RATIO <= highest <= MOST_RATIO:
        wide = f"from {LEAST_RATIO:g} to {MOST_RATIO:g}"
        raise argparse.ArgumentTypeError(f"{_short(band)}: no broker carries {highest:g} × the mean at most: {wide}")
    if lowest is not None and not 0 <= lowest <= (MOST_RATIO if highest is None else highest):
        raise argparse.ArgumentTypeError(message)
    return resource, Target(lowest, highest)


def cap(text: str) -> tuple[str, float]:
    """``out=200MB/s``, ``disk=2TB``, ``replicas=4000``, ``cpu=80%``: what no broker may carry more of."""
    resource, _, most = text.partition("=")
    if resource not in RESOURCES or not most:
        known = ", ".join(RESOURCES)
        raise argparse.ArgumentTypeError(f"{_short(text)}: give RESOURCE=AMOUNT, RESOURCE is one of {known}")
    unit = UNITS[resource]
    if unit == "count":
        value: float = count(most)
    elif unit == "percent":
        value = _number(most.removesuffix("%"), f"{_short(most)} is no percentage: give 80%")
    elif _DECIMAL.fullmatch(plain := most.removesuffix("B")):
        value = _number(plain, "")
        if plain == most and value < LEAST_PLAIN_BYTES:
            amount(str(math.ceil(value)))  # refuses it, as it has no unit
    else:
        value = amount(most)
    if not 0 < value <= MOST_WHOLE:
        raise argparse.ArgumentTypeError(f"{_short(text)}: a broker carries something: give an amount above 0")
    return resource, value


def headroom(text: str) -> tuple[str, float]:
    """``disk=20%``: the share of each broker's capacity that stays free."""
    resource, _, free = text.partition("=")
    if resource not in BOUNDED or not free:
        known = ", ".join(BOUNDED)
        raise argparse.ArgumentTypeError(f"{_short(text)}: give RESOURCE=SHARE, RESOURCE is one of {known}")
    return resource, share(free)


def topic_brokers(text: str) -> TopicBrokers:
    """``pay-.*=1,2,rack:a``: brokers 1, 2 and all of rack a are where replicas of such topics may be."""
    named, _, places = text.rpartition("=")
    parts = [part.strip() for part in places.split(",")]
    if not named or not all(parts):
        raise argparse.ArgumentTypeError(f"{_short(text)}: give PATTERN=1,2,3 or PATTERN=rack:NAME")
    racks = frozenset(part.removeprefix("rack:") for part in parts if part.startswith("rack:"))
    brokers = frozenset(broker_id(part) for part in parts if not part.startswith("rack:"))
    try:
        return TopicBrokers(pattern(named), brokers, racks)
    except InvalidInputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def topic_brokers_text(rule: TopicBrokers) -> str:
    """The way back."""
    return f"{rule.pattern}={','.join([*map(str, sorted(rule.brokers)), *(f'rack:{r}' for r in sorted(rule.racks))])}"


def topic_leaders(text: str) -> TopicLeaders:
    """``pay-.*=2``: every broker that may lead leads two partitions of each of these topics."""
    named, _, count = text.rpartition("=")
    if not named or not _WHOLE.fullmatch(count.strip()):
        raise argparse.ArgumentTypeError(f"{_short(text)}: give PATTERN=NUMBER")
    try:
        return TopicLeaders(pattern(named), int(count))
    except InvalidInputError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def topic_leaders_text(rule: TopicLeaders) -> str:
    """The way back."""
    return f"{rule.pattern}={rule.leaders}"


def once(option: str, pairs: Iterable[tuple[Key, Value]]) -> dict[Key, Value]:
    """What an option gives by name. Raises UsageError where it gives the same name two values."""
    given: dict[Key, Value] = {}
    for key, value in pairs:
        if key in given and given[key] != value:
            raise UsageError.at(f"{option} {key}", "is given twice, with different values", "give it once")
        given[key] = value
    return given


def amount(text: str) -> int:
    """Bytes or bytes/s: ``500GB`` = 500,000,000,000, ``512MiB`` = 536,870,912, a plain number as it is.

    A plain number below 1 MiB is refused: ``50`` is meant to be 50 MB by most who write it, and would be 50 bytes.
    """
    match = _AMOUNT.fullmatch(text.strip())
    if match is None or len(text) > LONGEST:
        raise argparse.ArgumentTypeError(f"{_short(text)} is no amount: give a whole number, 500GB or 512MiB")
    value = round(Fraction(match[1]) * _FACTORS[match[2]])
    if value > MOST_WHOLE:
        raise argparse.ArgumentTypeError(f"{_short(text)} is above {MOST_WHOLE:,} bytes")
    if 0 < value < LEAST_PLAIN_BYTES and match[2] is None and "B" not in text:
        plain = match[1]
        raise argparse.ArgumentTypeError(
            f"{_short(text)} would be {value:,} byte{'s' * (value > 1)}: give its unit, {plain}MB or {plain}MiB "
            f"({plain}B for bytes)"
        )
    return value


def amount_text(value: int) -> str | int:
    """The way back: a plain number, with the unit ``B`` where ``amount`` asks for one."""
    return f"{value}B" if 0 < value < LEAST_PLAIN_BYTES else value


def rate(text: str) -> int:
    """As ``amount``, at least 1."""
    value = amount(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{_short(text)} is no rate: nothing would ever move")
    return value


def count(text: str) -> int:
    """A whole number that is not negative and fits into 64 bits."""
    if not _WHOLE.fullmatch(text) or int(text) > MOST_WHOLE:
        raise argparse.ArgumentTypeError(f"{_short(text)} is no whole number from 0 to {MOST_WHOLE:,}")
    return int(text)


def broker_id(text: str) -> int:
    """Kafka's ids are 32 bits wide."""
    value = count(text)
    if value > MOST_BROKER_ID:
        raise argparse.ArgumentTypeError(f"{_short(text)} is no broker id: they end at {MOST_BROKER_ID:,}")
    return value


def factor(text: str) -> int:
    """A whole number from 1; Kafka's are 16 bits wide."""
    value = count(text)
    if not 1 <= value <= MOST_FACTOR:
        raise argparse.ArgumentTypeError(f"{_short(text)} is no replication factor: they are 1 to {MOST_FACTOR:,}")
    return value


def at_least_one(text: str) -> int:
    """A whole number from 1."""
    value = count(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{_short(text)} is none: give a whole number from 1")
    return value


def hours(text: str) -> int:
    """A whole number of hours, at least one and at most a hundred years."""
    value = at_least_one(text)
    if value > MOST_HOURS:
        raise argparse.ArgumentTypeError(f"{_short(text)} hours are more than {MOST_HOURS:,}")
    return value


def spent_hours(text: str) -> float:
    """Hours that may be spent: ``6`` or ``1.5``, above 0."""
    message = f"{_short(text)} is no number of hours above 0: give 6 or 1.5, at most {MOST_HOURS:,}"
    value = _number(text, message)
    if not 0 < value <= MOST_HOURS:
        raise argparse.ArgumentTypeError(message)
    return value


def price(text: str) -> float:
    """A price above 0, as ``0.02``; its currency is the asker's."""
    message = f"{_short(text)} is no price above 0: give 0.02, at most {MOST_PRICE:,}"
    value = _number(text, message)
    if not 0 < value <= MOST_PRICE:
        raise argparse.ArgumentTypeError(message)
    return value


def span(text: str) -> int:
    """``90min``, ``2h``, ``3d`` → seconds."""
    match = _SPAN.fullmatch(text.strip()) if len(text) <= LONGEST else None
    seconds = 0 if match is None else int(match[1]) * _SPAN_S[match[2]]
    if not 0 < seconds <= MOST_HOURS * 3600:
        raise argparse.ArgumentTypeError(f"{_short(text)} is no time span: give 90min, 2h or 3d")
    return seconds


def span_text(seconds: int) -> str:
    """The way back, in the largest unit that divides it."""
    unit, size = next((unit, size) for unit, size in _SPAN_S.items() if seconds % size == 0)
    return f"{seconds // size}{unit}"


def window(text: str) -> int:
    """``7d`` or ``36h`` → hours."""
    match = _WINDOW.fullmatch(text)
    value = 0 if match is None else int(match[1]) * (24 if match[2] == "d" else 1)
    if not 1 <= value <= MOST_WINDOW_HOURS:
        longest = window_text(MOST_WINDOW_HOURS)
        raise argparse.ArgumentTypeError(f"{_short(text)} is no window of history: give 7d or 36h, at most {longest}")
    return value


def window_text(hours: int) -> str:
    """``7d`` for 168, ``36h`` for 36."""
    days, rest = divmod(hours, 24)
    return f"{hours}h" if rest else f"{days}d"


def new_broker(text: str) -> tuple[int, str | None]:
    """``13:rack-a``, or ``13`` for a broker without a rack."""
    broker, colon, rack = text.partition(":")
    if not _WHOLE.fullmatch(broker) or (colon and not rack):
        raise argparse.ArgumentTypeError(f"{_short(text)}: give ID:RACK, or ID alone where there are no racks")
    return broker_id(broker), rack or None


def pattern(text: str) -> str:
    """A regular expression that matches a whole topic name."""
    try:
        re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise argparse.ArgumentTypeError(f"{_short(text)} is no regular expression ({error})") from error
    return text


def _number(text: str, message: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(message) from None
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(message)
    return value


def _short(text: str) -> str:
    shown = repr(text)
    return shown if len(shown) <= 60 else shown[:57] + "..."
