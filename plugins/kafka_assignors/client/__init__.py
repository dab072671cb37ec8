"""Assignors that run in the group leader, but for the sticky ones."""
