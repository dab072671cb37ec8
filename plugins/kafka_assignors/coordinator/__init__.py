"""Coordinating broker, elected strategy and leader, timelines and pauses of rebalances."""
