"""Stop what ``stack.up`` started: ``python -m stack.down``."""

from __future__ import annotations

import sys

from stack.machine import Machine


def main() -> int:
    """Stop; the data stay."""
    Machine().stop()
    print("stopped; nothing is left running")
    return 0


if __name__ == "__main__":
    sys.exit(main())
