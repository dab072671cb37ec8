"""Rows as they are written."""
