"""Least leaders of a topic on each broker: other leaders, and other replicas where no leader suffices."""
