"""Where replicas go: release, evacuate, push, finish, pull, polish, all over one state of sets and loads."""
