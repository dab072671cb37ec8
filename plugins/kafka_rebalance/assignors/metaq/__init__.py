"""Assignors of Metamorphosis, in which every consumer decides for itself."""
