"""The search for replica sets: release, evacuate, push, finish, pull, polish, over one state of sets and loads."""
