"""``python -m rebalance_advisor.store``: bring the advisor's database forward."""

from __future__ import annotations

import sys

from kafka_rebalance.errors import AdvisorError
from rebalance_advisor.store import connect, dsn_from_environment, migrate


def main() -> int:
    """Exit code 0, or 1 with the reason on stderr."""
    try:
        with connect(dsn_from_environment()) as connection:
            applied = migrate(connection)
    except AdvisorError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"store: {', '.join(applied) or 'nothing to migrate'}; views and rights are up to date\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
