"""Where the shell command begins: Ctrl-C is heard from before the first import of weight on."""

from __future__ import annotations

from rebalance_advisor.cli.interrupt import end_on_interrupt


def main() -> int:
    """The command ``rebalance-advisor``."""
    end_on_interrupt()
    from rebalance_advisor.cli.main import main as run

    return run()
