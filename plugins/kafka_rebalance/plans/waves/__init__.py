"""The order in which copies run: waves under limits in and out, throttle, free disk, and their time."""
