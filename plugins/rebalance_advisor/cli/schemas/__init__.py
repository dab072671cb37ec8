"""The command that prints the schemas of what is published."""
