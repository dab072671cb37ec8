"""A snapshot as broker and partition arrays, fair shares and bands: what scoring, planner and plans compute on."""
