"""The most even placement that a budget of bytes, replica moves and leader changes allows."""
