"""One module a family of recorded cases: from its dictionaries to columns and back. Listed in ``replay.FAMILIES``."""
