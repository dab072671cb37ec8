"""Conversion to table rows."""
