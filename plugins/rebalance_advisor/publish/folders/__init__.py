"""Folders and files that are replaced whole or not at all."""
