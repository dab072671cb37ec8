"""Rows as Spark jobs read and write them."""
