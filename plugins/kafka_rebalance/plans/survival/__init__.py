"""``--survive``: nobody above its capacity after the loss of any broker, or of any rack."""
