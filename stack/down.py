"""Stop what ``stack.up`` started: ``python -m stack.down``. Data stay."""

from __future__ import annotations

import sys

from stack.machine import Machine


def main() -> int:
    Machine().stop()
    print("stopped; nothing is left running")
    return 0


if __name__ == "__main__":
    sys.exit(main())
