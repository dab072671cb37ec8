"""What could not be seen, and when that leaves no verdict."""
