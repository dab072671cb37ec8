"""Everything derived from one snapshot."""
