"""Limits of a custom assignor; a process that exceeds one is replaced."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20
LEAST_BYTES = 64 * MIB  # an interpreter needs more


@dataclass(frozen=True, slots=True)
class Limits:
    """``start_s``: import and construction; ``answer_s``: one group or one sample of keys.

    ``memory_bytes``: address space with interpreter. ``most_ends``: the class is disabled after so many ends, so that
    runs with thousands of groups finish.
    """

    start_s: float = 30.0
    answer_s: float = 10.0
    memory_bytes: int = 1024 * MIB
    most_ends: int = 3


DEFAULTS = Limits()


def limits_of(answer_s: float | None, memory_bytes: int | None) -> Limits:
    return Limits(
        answer_s=DEFAULTS.answer_s if answer_s is None else answer_s,
        memory_bytes=DEFAULTS.memory_bytes if memory_bytes is None else memory_bytes,
    )
