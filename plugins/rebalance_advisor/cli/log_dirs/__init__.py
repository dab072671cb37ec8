"""Plans between the log dirs of one broker."""
