"""Snapshots as broker and partition arrays, fair shares and bands: input of scoring, planner and plans."""
