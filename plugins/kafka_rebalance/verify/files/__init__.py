"""The other files of a plan folder against its document."""
