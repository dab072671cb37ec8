"""Preparation of the host for the compose file."""
