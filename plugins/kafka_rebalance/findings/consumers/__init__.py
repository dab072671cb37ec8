"""Rules on groups of consumers by their rates, their protocol and their kind."""
