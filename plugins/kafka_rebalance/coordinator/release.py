"""Which class coordinates classic groups in a release: their votes and leaders differ.

- ``GroupMetadata``, in Scala: 2.8 – 3.9 (older brokers were not run). 3.7 – 3.9 with the new coordinator switched on
  have the other one.
- ``ClassicGroup``, in Java: 4.0 – 4.3.
"""

from __future__ import annotations

from enum import StrEnum


class Coordinator(StrEnum):
    """The broker's class of a classic group."""

    SCALA = "scala"  # GroupMetadata, Kafka 2.8 – 3.9
    JAVA = "java"  # ClassicGroup, Kafka 4.0 – 4.3


NEWEST = Coordinator.JAVA
_SCALA_FROM, _JAVA_FROM, _BEYOND = (2, 8), (4,), (4, 4)


def coordinator_of(release: tuple[int, ...]) -> Coordinator | None:
    """The class in ``release`` ((3, 9, 2), (4,)); None where nobody has run it: before 2.8, or newer than 4.3."""
    if not _SCALA_FROM <= release < _BEYOND:
        return None
    return Coordinator.SCALA if release < _JAVA_FROM else Coordinator.JAVA
