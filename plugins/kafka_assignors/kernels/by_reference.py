"""Records of arrays that compiled kernels take as one pointer: ``ByReference``.

Numba passes a tuple of thirty arrays by value: every function that takes it has some two hundred arguments, and every
call copies them. Both the time to compile and the time to run are spent there. A record of this kind is a row of
64-bit words in memory (address and shape of each array, numbers as they are), and a kernel is given its address. In
Python it stays an ordinary frozen dataclass, also where kernels run as plain Python (``NUMBA_DISABLE_JIT``).

``numba.experimental.structref`` does the same with reference counts on every array that is read, and compiles its
constructor and one function per attribute in each process. Nothing of that is needed here: which arrays a record holds
never changes, and Python keeps them alive while a kernel runs. A kernel changes what is in the arrays; it can neither
make such a record nor return one, nor return an array of it but as a copy.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.np import arrayobj, numpy_support

_WORD = ir.IntType(64)
_BYTES = 8


class RecordType(types.Type):  # type: ignore[misc]
    """Numba's type of a record: its fields in order, each an array, a number, a truth value or another record."""

    def __init__(self, class_name: str, members: tuple[tuple[str, types.Type], ...]) -> None:
        self.members = members
        digest = hashlib.sha256(repr(members).encode()).hexdigest()[:12]  # short: names of functions are made of it
        super().__init__(name=f"{class_name}_{digest}")

    @property
    def first_word(self) -> dict[str, int]:
        """Where each field begins."""
        ends = np.cumsum([0, *(_words_of(kind) for _, kind in self.members)])
        return {name: int(ends[i]) for i, (name, _) in enumerate(self.members)}


class ByReference:
    """Base of frozen dataclasses whose fields are C-contiguous arrays, numbers and other records.

    Raises ValueError for an array that is not contiguous: the kernels are compiled for one layout.
    """

    _words: np.ndarray
    _address: int
    _numba_type_: RecordType

    def __post_init__(self) -> None:
        """Lay the fields out in memory."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        members = tuple((name, _kind(name, value)) for name, value in values.items())
        words = np.array([word for value in values.values() for word in _layout(value)], dtype=np.int64)
        for name, value in (
            ("_words", words),
            ("_address", words.ctypes.data),
            ("_numba_type_", RecordType(type(self).__name__, members)),
        ):
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, also in another process, has words and an address of its own."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return _made_again, (type(self), values)


def _made_again(kind: type[ByReference], values: dict[str, Any]) -> ByReference:
    return kind(**values)


def _words_of(kind: types.Type) -> int:
    return 1 + kind.ndim if isinstance(kind, types.Array) else 1


def _kind(name: str, value: Any) -> types.Type:
    if isinstance(value, ByReference):
        return value._numba_type_
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise ValueError(f"{name}: an array of shape {value.shape} is not C-contiguous; copy it first")
        return types.Array(numpy_support.from_dtype(value.dtype), value.ndim, "C")
    if isinstance(value, bool | np.bool_):
        return types.boolean
    return types.int64 if isinstance(value, int | np.integer) else types.float64


def _layout(value: Any) -> list[int]:
    if isinstance(value, ByReference):
        return [value._address]
    if isinstance(value, np.ndarray):
        return [value.ctypes.data, *value.shape]
    if isinstance(value, bool | np.bool_ | int | np.integer):
        return [int(value)]
    return [int(np.float64(value).view(np.int64))]


@typeof_impl.register(ByReference)
def _typeof(value: ByReference, _context: Any) -> RecordType:
    return value._numba_type_


@register_model(RecordType)
class _RecordModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: RecordType) -> None:
        super().__init__(manager, kind, _WORD.as_pointer())


@unbox(RecordType)
def _unbox(_kind: RecordType, value: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(value, "_address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(c.builder.bitcast(pointer, _WORD.as_pointer()), is_error=c.pyapi.c_api_error())


@infer_getattr
class _RecordAttributes(AttributeTemplate):  # type: ignore[misc]
    key = RecordType

    def generic_resolve(self, kind: RecordType, name: str) -> types.Type | None:
        return dict(kind.members).get(name)


@lower_getattr_generic(RecordType)
def _get(context: Any, builder: Any, kind: RecordType, pointer: Any, name: str) -> Any:
    member = dict(kind.members)[name]
    first = kind.first_word[name]
    word = _load(builder, pointer, first)
    if isinstance(member, RecordType):
        return builder.inttoptr(word, _WORD.as_pointer())
    if isinstance(member, types.Boolean):
        return builder.icmp_signed("!=", word, _WORD(0))
    if isinstance(member, types.Integer):
        return word
    if isinstance(member, types.Float):
        return builder.bitcast(word, ir.DoubleType())
    return _array(context, builder, member, word, [_load(builder, pointer, first + 1 + d) for d in range(member.ndim)])


def _load(builder: Any, pointer: Any, index: int) -> Any:
    """A word of the record; no kernel ever writes to it, so it need not be read again after a store elsewhere."""
    word = builder.load(builder.gep(pointer, [_WORD(index)], inbounds=True))
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


def _array(context: Any, builder: Any, kind: types.Array, address: Any, shape: list[Any]) -> Any:
    """A view without an owner: nothing is counted."""
    array = context.make_array(kind)(context, builder)
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    strides = [_WORD(size)]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    arrayobj.populate_array(
        array,
        data=builder.inttoptr(address, array.data.type),
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=_WORD(size),
        meminfo=None,
    )
    return array._getvalue()
