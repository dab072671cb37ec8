"""Compilation of kernels in a first run."""
