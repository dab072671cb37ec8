"""Everything that is found out about a snapshot, put together."""
