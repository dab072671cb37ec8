"""Scenarios in a shell."""
