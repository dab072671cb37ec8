"""The pure library: ``advise`` returns plan, proof and findings for one ``ClusterSnapshot``; ``verify_plan`` judges a
plan.

No file, socket, database or clock. README.md lists its promises.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_rebalance.advisory.advise import Advice, AdviceRequest, advise
    from kafka_rebalance.options.plan_options import PlanOptions
    from kafka_rebalance.snapshot.codec import snapshot_from_document, snapshot_to_document
    from kafka_rebalance.snapshot.model import ClusterSnapshot
    from kafka_rebalance.verify import Verification, verify_plan

__all__ = [
    "Advice", "AdviceRequest", "ClusterSnapshot", "PlanOptions", "Verification", "advise",
    "snapshot_from_document", "snapshot_to_document", "verify_plan",
]  # fmt: skip

# Imported on first use: kernels and the solver are heavy.
_MODULES = {
    "advisory.advise": ("Advice", "AdviceRequest", "advise"),
    "options.plan_options": ("PlanOptions",),
    "snapshot.codec": ("snapshot_from_document", "snapshot_to_document"),
    "snapshot.model": ("ClusterSnapshot",),
    "verify": ("Verification", "verify_plan"),
}
_MODULE_OF = {name: module for module, listed in _MODULES.items() for name in listed}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
