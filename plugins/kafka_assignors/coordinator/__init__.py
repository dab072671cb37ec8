"""The group coordinator: coordinating broker, elected strategy and leader, timelines and pauses of rebalances."""
