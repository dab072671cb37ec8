"""Compiled functions: how they are declared, linked and kept."""
