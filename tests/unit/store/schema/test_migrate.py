from types import SimpleNamespace

import pytest

from rebalance_advisor.store.schema.connection import StoreError
from rebalance_advisor.store.schema.migrate import migrate


def test_postgres_14_is_too_old():
    """Only its version is looked at: this connection can do nothing else."""
    with pytest.raises(StoreError, match="PostgreSQL 14 is too old; 15 is the oldest that works"):
        migrate(SimpleNamespace(info=SimpleNamespace(server_version=140021)))
