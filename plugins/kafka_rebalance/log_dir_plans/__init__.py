"""Plans that move replicas between the log dirs of their own broker: nothing of them is on the network."""
