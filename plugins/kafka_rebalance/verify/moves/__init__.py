"""Moves, costs, waves and rollback against the rules."""
