"""Exact replicas of the assignors and partitioners of Kafka and of its clients; README.md states the promises.

Needs only numpy and numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_assignors.contract import Assignment, AssignmentRequest, Assignor, MemberColumns, TopicColumns
    from kafka_assignors.custom import CustomAssignor
    from kafka_assignors.errors import AdvisorError, AssignorError, InvalidInputError, UnknownNameError
    from kafka_assignors.registry import assign, by_name, names, register

__all__ = [
    "AdvisorError", "Assignment", "AssignmentRequest", "Assignor", "AssignorError", "CustomAssignor",
    "InvalidInputError", "MemberColumns", "TopicColumns", "UnknownNameError", "assign", "by_name", "names", "register",
]  # fmt: skip

# Kernels are slow to import.
_MODULES = {
    "contract": ("Assignment", "AssignmentRequest", "Assignor", "MemberColumns", "TopicColumns"),
    "custom": ("CustomAssignor",),
    "errors": ("AdvisorError", "AssignorError", "InvalidInputError", "UnknownNameError"),
    "registry": ("assign", "by_name", "names", "register"),
}
_MODULE_OF = {name: module for module, listed in _MODULES.items() for name in listed}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
