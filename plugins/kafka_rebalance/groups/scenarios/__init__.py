"""What a group's strategies would do if something happened: events, restarts, other sizes, other topics."""
