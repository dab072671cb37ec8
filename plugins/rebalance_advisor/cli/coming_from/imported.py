"""What became of another tool's settings: options of ours, and words on each that is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Imported:
    """One file of settings.

    options    option of a run → its value as in a form; a list where it may be given several times
    notes      what differs between the two tools in what was taken over, one sentence each
    left_out   each setting that was not taken over: ``file:line  name``, and why where there is more to say; never its
               value, which may be a password
    """

    options: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
