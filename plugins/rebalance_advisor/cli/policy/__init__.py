"""What a team allows of any plan, asked of one by `check` and `verify`."""
