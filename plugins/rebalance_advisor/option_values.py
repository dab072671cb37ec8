"""Values as people type them on the command line: ``10%``, ``disk=0.9..1.1``, ``500GB``, ``13:rack-a``."""

from __future__ import annotations

import argparse
import math
import re

from kafka_rebalance.planner.bands import Target
from kafka_rebalance.planner.problem import RESOURCES

_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)\s*([kMGTP]i?)?B?(?:/s)?")
_FACTORS = {None: 1} | {
    letter + ending: base**power
    for power, letter in enumerate("kMGTP", start=1)
    for ending, base in (("", 1000), ("i", 1024))
}


def share(text: str) -> float:
    """``10%`` or ``0.1`` → 0.1."""
    value = _number(text.removesuffix("%"), f"{text!r} is no share: give 10% or 0.1")
    value = value / 100 if text.endswith("%") else value
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no share between 0 and 1: give 10% or 0.1")
    return value


def target(text: str) -> tuple[str, Target]:
    """``disk=1.1`` → an upper limit, ``disk=0.9..1.1`` → both."""
    resource, _, band = text.partition("=")
    if resource not in RESOURCES or not band:
        known = ", ".join(RESOURCES)
        raise argparse.ArgumentTypeError(
            f"{text!r}: give RESOURCE=HIGH or RESOURCE=LOW..HIGH, RESOURCE is one of {known}"
        )
    low, dots, high = band.rpartition("..")
    message = f"{band!r} is no band: give HIGH or LOW..HIGH as multiples of the mean"
    lowest = _number(low, message) if dots else None
    highest = _number(high, message)
    if highest < 0 or (lowest is not None and not 0 <= lowest <= highest):
        raise argparse.ArgumentTypeError(message)
    return resource, Target(lowest, highest)


def amount(text: str) -> int:
    """Bytes or bytes/s: ``500GB`` = 500,000,000,000, ``512MiB`` = 536,870,912, a plain number as it is."""
    match = _AMOUNT.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no amount: give a whole number, 500GB or 512MiB")
    return round(float(match[1]) * _FACTORS[match[2]])


def rate(text: str) -> int:
    """As ``amount``, at least 1."""
    value = amount(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no rate: nothing would ever move")
    return value


def count(text: str) -> int:
    """A whole number that is not negative."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number")
    return int(text)


def factor(text: str) -> int:
    """A whole number from 1."""
    value = count(text)
    if value < 1:
        raise argparse.ArgumentTypeError("a replication factor is at least 1")
    return value


def new_broker(text: str) -> tuple[int, str | None]:
    """``13:rack-a``, or ``13`` for a broker without a rack."""
    broker, colon, rack = text.partition(":")
    if not broker.isdecimal() or (colon and not rack):
        raise argparse.ArgumentTypeError(f"{text!r}: give ID:RACK, or ID alone where there are no racks")
    return int(broker), rack or None


def pattern(text: str) -> str:
    """A regular expression that matches a whole topic name."""
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no regular expression ({error})") from error
    return text


def _number(text: str, message: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(message) from None
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(message)
    return value
