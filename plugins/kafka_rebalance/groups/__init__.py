"""Inputs of groups, and their replay under each strategy."""
