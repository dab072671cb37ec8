"""Nobody above its capacity after a loss: other orders of followers, other leaders, and only then other replicas."""
