"""Advisories as objects in a store that knows keys and no folders: nothing there can be renamed or exchanged."""
