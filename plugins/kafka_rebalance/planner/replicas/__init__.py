"""Where replicas go: evacuate, push, pull, finish, polish, all over one state of sets and loads."""
