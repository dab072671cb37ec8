"""The coordinator's assignors of share groups."""
