"""Key → partition for each client and version."""
