"""The process of one custom class: one JSON line in, one out, over the given socket.

    python -P -m rebalance_advisor.own_strategies.child FD MEMORY_BYTES

The ``supervisor`` is its parent. Only names, numbers and fault messages go back. This is no sandbox: the class has the
user's rights, except reading other processes where the kernel forbids it.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import resource
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kafka_assignors.custom_views import TopicView, members_of_document, plain_answer, plain_partition
from kafka_assignors.errors import AssignorError
from rebalance_advisor.own_strategies import kernel_guards
from rebalance_advisor.own_strategies.supervisor import supervise
from rebalance_advisor.own_strategies.targets import Kind, Target

_MOST_FAULT_CHARS = 500
_MOST_NAME_CHARS = 100
Message = dict[str, Any]


def main() -> None:
    channel, memory_bytes = int(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    kernel_guards.adopt_orphans()
    supervisor = os.getpid()
    worker = os.fork()
    if worker:
        supervise(worker, channel, memory_bytes)
    kernel_guards.end_with_parent()
    if os.getppid() != supervisor:  # ended before the kernel call
        os._exit(1)
    kernel_guards.deny_other_processes()
    _limit(memory_bytes)
    _answer_all(socket.socket(fileno=channel))


def _answer_all(channel: socket.socket) -> None:
    lines = channel.makefile("rb")
    setup = json.loads(lines.readline())
    pid = os.getpid()
    target = Target(Kind(setup["kind"]), setup["place"], setup["place"])
    instances: list[Any] = []

    def send(message: Message) -> None:
        if os.getpid() != pid:  # a forked copy of the class
            os._exit(0)
        channel.sendall(json.dumps(message).encode() + b"\n")

    send(_guarded(lambda: _hello(target, instances)))
    answer = _assign if target.kind is Kind.ASSIGNOR else _partition
    for line in lines:
        request = json.loads(line)
        reply = _guarded(lambda: answer(instances[0], request))  # noqa: B023 (called at once)
        send(reply | {"number": request["number"]})


def _limit(memory_bytes: int) -> None:
    """Hard limit, if the system supports it."""
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = memory_bytes if hard == resource.RLIM_INFINITY else min(memory_bytes, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _guarded(work: Callable[[], Message]) -> Message:
    try:
        return work()
    except MemoryError:
        return _fault("MemoryLimit", "runs out of its memory")
    except AssignorError as error:
        return _fault(error.java_class, error.java_message)
    except SystemExit as error:
        return _fault("Exited", f"calls sys.exit({error.code!r})")
    except BaseException as error:  # noqa: BLE001 (foreign code)
        return _fault("Raised", _error_text(error))


def _error_text(error: BaseException) -> str:
    """Survive errors whose message raises."""
    frames = traceback.extract_tb(error.__traceback__)
    location = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    try:
        message = str(error)
    except BaseException:  # noqa: BLE001 (foreign code may also exit)
        message = "its message cannot be made"
    return f"{type(error).__name__}: {message[:_MOST_FAULT_CHARS]}{location}"


def _fault(kind: str, message: str) -> Message:
    return {"fault": [kind, message[: 2 * _MOST_FAULT_CHARS]]}


def _hello(target: Target, instances: list[Any]) -> Message:
    made = _imported(target)
    strategy = made() if isinstance(made, type) else made
    method = "assign_members" if target.kind is Kind.ASSIGNOR else "partition_of"
    if not callable(getattr(strategy, method, None)):
        raise AssignorError("NoStrategy", f"has no method {method}")
    name, versions = getattr(strategy, "name", None), getattr(strategy, "versions", None)
    if not isinstance(name, str) or not 0 < len(name) <= _MOST_NAME_CHARS:
        raise AssignorError("NoStrategy", f"has no name of 1 to {_MOST_NAME_CHARS} characters")
    instances.append(strategy)
    return {"name": name, "versions": versions[:_MOST_NAME_CHARS] if isinstance(versions, str) else None}


def _imported(target: Target) -> Any:
    """A file's folder is searched last."""
    if target.is_file:
        path = Path(target.module)
        sys.path.append(str(path.resolve().parent))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise AssignorError("NoStrategy", "is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(target.module)
    imported: Any = module
    for part in target.attribute.split("."):
        imported = getattr(imported, part)
    return imported


def _assign(strategy: Any, request: Mapping[str, Any]) -> Message:
    members = members_of_document(request)
    topics = tuple(TopicView.of_document(topic) for topic in request["topics"])
    return {"answer": plain_answer(strategy.assign_members(members, topics))}


def _partition(strategy: Any, request: Mapping[str, Any]) -> Message:
    keys = [None if key is None else bytes.fromhex(key) for key in request["keys"]]
    return {"answer": [plain_partition(strategy.partition_of(key, request["partitions"])) for key in keys]}


if __name__ == "__main__":
    main()
