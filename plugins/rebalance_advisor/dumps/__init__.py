from rebalance_advisor.dumps.any_input import read_input
from rebalance_advisor.dumps.capacity_file import Capacities, read_capacity, with_capacity

__all__ = ["Capacities", "read_capacity", "read_input", "with_capacity"]
