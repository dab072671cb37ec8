"""Topics that are still to be made."""
