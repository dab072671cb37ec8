"""Most even placement within a budget of bytes, replica moves and leader changes."""
