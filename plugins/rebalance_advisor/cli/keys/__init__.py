"""The command ``keys``: scores of a topic's keys, from files or from the topic itself."""
