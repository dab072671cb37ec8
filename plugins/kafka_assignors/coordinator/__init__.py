"""The group coordinator: the coordinating broker, elected strategy and leader, timelines and pauses of rebalances."""
