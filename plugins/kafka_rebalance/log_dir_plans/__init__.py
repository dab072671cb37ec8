"""Plans that move replicas between log dirs of their own broker, without network traffic."""
