"""Assignors of the group leader, except the sticky ones."""
