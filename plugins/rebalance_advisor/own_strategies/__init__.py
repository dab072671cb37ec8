"""Strategies and partitioners of one's own, each in a process of its own: found, started, limited, asked."""
