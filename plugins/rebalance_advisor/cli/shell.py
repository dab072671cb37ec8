"""Handles Ctrl-C before heavy imports."""

from __future__ import annotations

from rebalance_advisor.cli.interrupt import end_on_interrupt


def main() -> int:
    end_on_interrupt()
    from rebalance_advisor.cli.main import main as run

    return run()
