"""What-if scenarios: a snapshot with a lost rack, added brokers, other loads or lost members."""
