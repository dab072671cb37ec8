"""Somebody's own assignor: registered, checked, called."""
