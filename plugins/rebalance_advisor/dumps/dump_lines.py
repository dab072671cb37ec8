"""Lines of a dump with their numbers, and what terminals and loggers mix in between."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kafka_rebalance.errors import InvalidInputError

LARGEST_ID = 2**31 - 1
LARGEST_LONG = 2**63 - 1

# What log4j prints before a tool's own output, and the prompt of a copied terminal.
_NOISE = re.compile(
    r"\s*(?:"
    r"\[\d{4}-\d\d-\d\d [\d:,.]+\] (?:TRACE|DEBUG|INFO|WARN|ERROR) "
    r"|(?:log4j|SLF4J)(?::| )"
    r"|(?:\S*[$#>%] ?)?(?:\S*/)?kafka-[a-z-]+(?:\.sh|\.bat)?\s.*--bootstrap-server"
    r"|WARNING: "
    r"|OpenJDK .* warning:"
    r")"
)
# What a tool prints when it gave up: whatever stands before it is only a part.
_FAILURE = re.compile(
    r"\s*(?:Error while executing|Error: Executing|Error occurred:|Exception in thread|Missing required argument"
    r"|java\.[\w.]+Exception|Caused by: |org\.apache\.kafka\.[\w.]+Exception)"
)


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end; ``place`` is ``file:line``."""

    place: str
    text: str

    def refuse(self, problem: str, hint: str = "") -> InvalidInputError:
        """The error to raise for this line."""
        return InvalidInputError.at(self.place, problem, hint)


def dump_lines(text: str, place: str) -> Iterator[Line]:
    """The lines that a tool printed, blank ones included, noise left out.

    Raises InvalidInputError where the tool reported that it gave up.
    """
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.rstrip("\r")
        if line.startswith("\tTopic: "):  # nearly all lines of the largest dump: neither noise nor failure
            yield Line(f"{place}:{number}", line)
            continue
        if _FAILURE.match(line):
            raise InvalidInputError.at(
                f"{place}:{number}", f"the tool gave up: {line.strip()[:120]!r}", "dump it again, this one is a part"
            )
        if not _NOISE.match(line):
            yield Line(f"{place}:{number}", line)


def whole_number(text: str, line: Line, what: str, largest: int = LARGEST_ID) -> int:
    """Digits only, at most ``largest``."""
    if not text.isascii() or not text.isdigit() or len(text) > 19 or int(text) > largest:
        raise line.refuse(f"expected {what}, found {text!r}")
    return int(text)


def broker_list(text: str, line: Line, what: str) -> tuple[int, ...]:
    """``1,2,3``; empty is no broker. Raises where a broker stands twice."""
    brokers = tuple(whole_number(each.strip(), line, f"a broker id in {what}") for each in text.split(",") if text)
    if len(set(brokers)) != len(brokers):
        raise line.refuse(f"a broker stands twice in {what} {text!r}")
    return brokers
