"""Exact replicas, in Python, of the assignors and partitioners of Kafka and of its clients.

``assign`` answers for a group in plain dictionaries, ``by_name`` gives the strategy itself, ``names`` lists them.
The package needs numpy and numba alone, and knows no snapshot and no plan. README.md says what it promises.
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

# Imported on first use: kernels are heavy, and many importers need an error class alone.
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
