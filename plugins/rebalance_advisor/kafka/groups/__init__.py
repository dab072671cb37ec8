"""Groups, their members and what those subscribe to."""
