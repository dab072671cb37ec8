"""Assignors of the group leader, without the sticky ones."""
