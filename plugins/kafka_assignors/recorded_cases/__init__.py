"""Recorded cases of the real strategies, and our answers."""
