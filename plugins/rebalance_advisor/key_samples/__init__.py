"""Samples of records from files: which column is what, read into batches that are counted."""
