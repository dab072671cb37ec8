"""The coordinator's assignors of KIP-848 groups."""
