"""``health``: is the advisor itself well?"""
