"""Sticky strategies of clients that are not Java, all of them descended from Java's one way for all subscriptions."""
