"""Plans of many clusters in one call."""
