"""Findings about the disks within a broker."""
