"""Strategies of other clients than Java's.

Their leaders fill unordered maps, so only owners are theirs; our lists are by topic and partition. Strings compare by
code points, not UTF-16 code units.
"""
