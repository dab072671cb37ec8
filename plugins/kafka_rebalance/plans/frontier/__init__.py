"""The plans between doing nothing and the narrowest band, and the one that is recommended."""
