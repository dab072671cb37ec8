"""The last step of an advisory: its files, in a folder or in an object store, then the run that readers see."""
