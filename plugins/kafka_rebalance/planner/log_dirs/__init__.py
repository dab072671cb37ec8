"""Which log dir of its broker a replica lies in: a small problem for each broker, nothing of it on the network."""
