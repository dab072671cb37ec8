"""Search for replica sets: release, evacuate, push, finish, pull, polish."""
