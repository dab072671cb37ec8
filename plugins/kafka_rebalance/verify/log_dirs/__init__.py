"""A plan between log dirs, judged by its snapshot alone; no code of those who make it."""

from kafka_rebalance.verify.log_dirs.verification import check_log_dir_plan

__all__ = ["check_log_dir_plan"]
