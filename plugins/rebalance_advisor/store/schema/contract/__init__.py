"""The public contract of the database, described once: views, columns, types, units, comments.

COMMENTs, the twins NAME_latest, ``sql/README.md`` and the tests come from it; what a view selects stands in
``sql/views/NAME.sql``, and a test compares the database with this, column by column.
"""

from rebalance_advisor.store.schema.contract import advisories, answers, history, own_health, readings
from rebalance_advisor.store.schema.contract.define import CONTRACT, history_of, unit_of

__all__ = ["CONTRACT", "advisories", "answers", "history", "history_of", "own_health", "readings", "unit_of"]
