"""Custom assignors and partitioners, each in a process of its own: found, started, limited, called."""
