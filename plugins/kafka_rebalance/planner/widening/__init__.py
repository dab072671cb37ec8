"""Bands that nobody can meet: how near each resource can come, one after the other."""
