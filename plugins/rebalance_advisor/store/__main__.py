"""``python -m rebalance_advisor.store``: migrate the advisor's database."""

from __future__ import annotations

import sys

from kafka_assignors.errors import AdvisorError
from rebalance_advisor.store import connect, dsn_from_environment, migrate
from rebalance_advisor.terminal import write_lines


def main() -> int:
    try:
        with connect(dsn_from_environment()) as connection:
            applied = migrate(connection)
    except AdvisorError as error:
        write_lines(sys.stderr, str(error))
        return 1
    write_lines(sys.stdout, f"store: {', '.join(applied) or 'nothing to migrate'}; views and rights are up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
