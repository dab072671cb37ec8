"""What no plan can beat: lower bounds on bytes, replica moves and leader changes, each with its proof."""
