"""Limits of a custom assignor: a process that takes more is ended, and the next group gets a new one."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20
LEAST_BYTES = 64 * MIB  # an interpreter does not start in less


@dataclass(frozen=True, slots=True)
class Limits:
    """``start_s``: to import the class and make one; ``answer_s``: for one group, or one sample of keys.

    ``memory_bytes``: the process's address space (its interpreter and imports included). ``most_ends``: after so many
    ends of its process (by itself or by a limit) it is asked no more, so that a run with thousands of groups ends.
    """

    start_s: float = 30.0
    answer_s: float = 10.0
    memory_bytes: int = 1024 * MIB
    most_ends: int = 3


DEFAULTS = Limits()


def limits_of(answer_s: float | None, memory_bytes: int | None) -> Limits:
    """The usual ones but for what is given."""
    return Limits(
        answer_s=DEFAULTS.answer_s if answer_s is None else answer_s,
        memory_bytes=DEFAULTS.memory_bytes if memory_bytes is None else memory_bytes,
    )
