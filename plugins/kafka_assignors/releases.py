"""Releases of Kafka and its clients as text, and spans of releases with equal answers.

Fewer than three numbers name a line: (3, 7) is some release of 3.7. ``Releases("Kafka", "3.5.2", "3.7.0")`` holds 3.6.2
and 3.7.0, not 3.7.1. "3.7" touches both "3.5.2 – 3.7.0" and "3.7.1 – 4.4", so ``answering`` refuses it and asks for the
third number. 4.5 is newer than all tried releases: ``answering`` gives the newest span with ``is_assumed``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from kafka_assignors.errors import InvalidInputError
from kafka_assignors.visible_text import excerpt

Release = tuple[int, ...]


class Client(StrEnum):
    JAVA = "java"
    LIBRDKAFKA = "librdkafka"
    SARAMA = "sarama"
    FRANZ_GO = "franz-go"
    KAFKA_PYTHON = "kafka-python"
    AIOKAFKA = "aiokafka"
    KAFKAJS = "kafkajs"
    KAFKA_GO = "kafka-go"


_ASKED = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,4}){0,2}")
# After the numbers: nothing, a pre-release as Python's clients write it, or a separator and a vendor's addition.
# (?>...) takes the numbers whole, so that "3.7-" is not release 3 of a vendor.
_SEEN = re.compile(
    r"(?P<numbers>(?>[0-9]{1,2}(?:\.[0-9]{1,4}){0,2}))(?P<rest>(?:(?:a|b|rc)[0-9]+|[-.+_ ][(0-9A-Za-z].*)?)", re.DOTALL
)
# Confluent's platform: 7.6.0-ccs is Kafka 3.6.
_OF_PLATFORM = re.compile(r"\b(?:ccs|ce)\b")


def release_of(text: object, location: str = "version") -> Release:
    """From a user: ``4.0.1`` is (4, 0, 1). Raises InvalidInputError, naming ``location``."""
    if not isinstance(text, str) or not _ASKED.fullmatch(text):
        raise InvalidInputError.at(location, f"expected a release such as 3.7.1, found {excerpt(text)}")
    return tuple(map(int, text.split(".")))


def seen_release(text: str | None) -> Release:
    """Of a broker, a client or a snapshot.

    The leading numbers count: ``3.9-IV0`` is (3, 9), ``2.8.1.amzn.1`` (2, 8, 1), ``3.7.x`` (3, 7). () for text without
    them and for versions of Confluent Platform.
    """
    match = _SEEN.fullmatch(text or "")
    if match is None or _OF_PLATFORM.search(match["rest"]):
        return ()
    return tuple(map(int, match["numbers"].split(".")))


# First metadata.version level of each release (Kafka's MetadataVersion).
_FIRST_LEVELS = (
    (1, "3.0"), (2, "3.1"), (3, "3.2"), (4, "3.3"), (8, "3.4"), (9, "3.5"), (12, "3.6"), (15, "3.7"), (20, "3.8"),
    (21, "3.9"), (22, "4.0"), (26, "4.1"), (28, "4.2"), (30, "4.3"), (31, "4.4"),
)  # fmt: skip
_LAST_LEVEL = 33  # 4.4-IV2


def broker_release(reported: str | None, metadata_version: int | None) -> str | None:
    """The newer of those implied by requests and by the finalized metadata.version.

    Both are lower bounds: requests change in some releases only, and a level stays until an operator raises it.
    Example: 3.4 on KRaft has the requests of 3.3, its level 8 implies 3.4. A level above all known ones is a later
    release.
    """
    if metadata_version is None or metadata_version < 1:
        return reported
    level = next(release for first, release in reversed(_FIRST_LEVELS) if metadata_version >= first)
    if seen_release(reported) >= release_of(level):
        return reported
    return f"{level} or later" if metadata_version > _LAST_LEVEL else level


@dataclass(frozen=True, slots=True)
class Releases:
    """From ``first`` to ``last``; a last one of two numbers is its whole line."""

    product: str
    first: str
    last: str

    def __str__(self) -> str:
        span = self.first if self.first == self.last else f"{self.first} – {self.last}"
        return f"{self.product} {span}"

    def touches(self, release: Release) -> bool:
        first, last = release_of(self.first), release_of(self.last)
        return first[: len(release)] <= release and release[: len(last)] <= last

    def ends_before(self, release: Release) -> bool:
        last = release_of(self.last)
        return release[: len(last)] > last


@dataclass(frozen=True, slots=True)
class Answering:
    """``index``: of the span. ``is_assumed``: the release is newer than any tried one."""

    index: int
    is_assumed: bool = False


def answering(spans: Sequence[Releases], version: object, strategy: str, *, is_ended: bool = False) -> Answering:
    """``spans``: newest first; ``version`` None: the newest. ``is_ended``: no later release has ``strategy``.

    Raises InvalidInputError for other text, for a release known not to have it, or whose line holds several spans.
    """
    if version is None:
        return Answering(0)
    release = release_of(version)
    if spans[0].ends_before(release) and not is_ended:
        return Answering(0, is_assumed=True)
    matches = [index for index, span in enumerate(spans) if span.touches(release)]
    if not matches:
        known_spans = ", ".join(map(str, spans))
        raise InvalidInputError.at("version", f"no {strategy} of release {version} is known", f"known: {known_spans}")
    if len(matches) > 1:
        lines = " and ".join(str(spans[index]) for index in matches)
        raise InvalidInputError.at("version", f"{version} of {strategy} is {lines}", "they differ: name the release")
    return Answering(matches[0])
