"""Linux limits on a custom class's processes, without effect elsewhere or when the kernel refuses."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading

_SET_PDEATHSIG, _GET_DUMPABLE, _SET_DUMPABLE, _DROP_FROM_BOUNDS, _SET_CHILD_SUBREAPER, _SET_NO_NEW_PRIVS = (
    1,
    3,
    4,
    24,
    36,
    38,
)
# Capabilities of root to read other processes; newer kernels let them bypass Landlock.
_SYS_PTRACE, _SYS_ADMIN, _PERFMON = 19, 21, 38
_CAPABILITY_VERSION = 0x20080522
_LANDLOCK_CREATE_RULESET, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT_SELF = 444, 445, 446  # on every architecture
_LANDLOCK_VERSION, _LANDLOCK_PATH_BENEATH = 1, 1
_MAKE_BLOCK, _REFER = 1 << 11, 1 << 13
_REFER_SINCE = 2

_hiding = threading.Lock()
_hidden = 0
_was_dumpable = 1


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Capabilities(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled_access_fs", ctypes.c_uint64),)


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def end_with_parent() -> None:
    """The kernel kills this process when its starting thread ends."""
    _prctl(_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Orphaned descendants of any session become children of this process."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def deny_other_processes() -> bool:
    """Block access to environment and memory of other processes; return whether it worked.

    Linux shows /proc/PID/environ to processes of the same user. Landlock (5.13 or newer) refuses it, to root too. This
    domain otherwise forbids only creating block devices.
    """
    version = _syscall(_LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_LANDLOCK_VERSION))
    if version < 1:
        return False
    # Without this right the domain forbids renaming across folders.
    refer = _REFER if version >= _REFER_SINCE else 0
    made = _Ruleset(_MAKE_BLOCK | refer)
    rules = _syscall(
        _LANDLOCK_CREATE_RULESET, ctypes.byref(made), ctypes.c_size_t(ctypes.sizeof(made)), ctypes.c_uint32(0)
    )
    if rules < 0:
        return False
    try:
        if refer:
            root = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            below = _PathBeneath(refer, root)
            _syscall(
                _LANDLOCK_ADD_RULE,
                ctypes.c_int(rules),
                ctypes.c_int(_LANDLOCK_PATH_BENEATH),
                ctypes.byref(below),
                ctypes.c_uint32(0),
            )
            os.close(root)
        _drop_rights_to_read()
        _prctl(_SET_NO_NEW_PRIVS, 1)
        return _syscall(_LANDLOCK_RESTRICT_SELF, ctypes.c_int(rules), ctypes.c_uint32(0)) == 0
    finally:
        os.close(rules)


def _drop_rights_to_read() -> None:
    """The drop holds for later programs, too."""
    header, sets = _CapabilityHeader(_CAPABILITY_VERSION, 0), (_Capabilities * 2)()
    libc = ctypes.CDLL(None)
    libc.capget(ctypes.byref(header), ctypes.byref(sets))
    for right in (_SYS_PTRACE, _SYS_ADMIN, _PERFMON):
        _prctl(_DROP_FROM_BOUNDS, right)
        half, kept = sets[right // 32], ~(1 << right % 32) & 0xFFFFFFFF
        half.effective, half.permitted, half.inheritable = (
            half.effective & kept, half.permitted & kept, half.inheritable & kept
        )  # fmt: skip
    libc.capset(ctypes.byref(header), ctypes.byref(sets))


def hide_environment() -> None:
    """Hide environment and memory from others of the user; calls nest."""
    global _hidden, _was_dumpable  # noqa: PLW0603 (the kernel's flag is the process's)
    with _hiding:
        if not _hidden:
            _was_dumpable = _prctl(_GET_DUMPABLE, 0)
            _prctl(_SET_DUMPABLE, 0)
        _hidden += 1


def show_environment() -> None:
    global _hidden  # noqa: PLW0603
    with _hiding:
        _hidden -= 1
        if not _hidden:
            _prctl(_SET_DUMPABLE, _was_dumpable)


def _prctl(option: int, value: int) -> int:
    if sys.platform != "linux":
        return -1
    numbers = (ctypes.c_ulong(number) for number in (value, 0, 0, 0))
    return int(ctypes.CDLL(None).prctl(ctypes.c_int(option), *numbers))


def _syscall(number: int, *arguments: object) -> int:
    if sys.platform != "linux":
        return -1
    return int(ctypes.CDLL(None).syscall(ctypes.c_long(number), *arguments))
