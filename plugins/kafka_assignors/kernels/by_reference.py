"""Records of arrays that compiled kernels take as one pointer, a row of 64-bit words.

Numba passes a tuple of thirty arrays as about two hundred arguments, which costs time
(``docs/internals/cold-start.md``). In Python a record is a frozen dataclass. Unlike ``numba.experimental.structref`` it
counts no references: Python keeps its arrays alive while a kernel runs. A kernel may change the arrays' contents, but
not make or return such a record, and return an array of it only as a copy.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields
from functools import cache, partial
from typing import Any

import numpy as np
from numba import extending, from_dtype, types
from numba.core.typing.templates import AttributeTemplate


class RecordType(types.Type):  # type: ignore[misc]
    def __init__(self, class_name: str, members: dict[str, tuple[types.Type, int]]) -> None:
        self.members = members
        digest = hashlib.sha256(repr(members).encode()).hexdigest()[:12]
        super().__init__(name=f"{class_name}_{digest}")


# A plan makes hundreds of records of few layouts.
@cache
def _record_type(class_name: str, members: tuple[tuple[str, types.Type, int], ...]) -> RecordType:
    return RecordType(class_name, {name: (kind, first) for name, kind, first in members})


@cache
def _array_type(dtype: np.dtype[Any], dimensions: int) -> types.Array:
    return types.Array(from_dtype(dtype), dimensions, "C")


extending.register_model(RecordType)(extending.models.OpaqueModel)


class ByReference:
    """Base of frozen dataclasses of C-contiguous arrays, numbers and other records.

    Raises ValueError for other arrays: kernels are compiled for one layout.
    """

    _words: np.ndarray
    _address: int
    _numba_type_: RecordType

    def __post_init__(self) -> None:
        members: list[tuple[str, types.Type, int]] = []
        words: list[int] = []
        for field in fields(self):  # type: ignore[arg-type]
            kind, layout = _layout(field.name, getattr(self, field.name))
            members.append((field.name, kind, len(words)))
            words += layout
        object.__setattr__(self, "_words", np.array(words, dtype=np.int64))
        object.__setattr__(self, "_address", self._words.ctypes.data)
        object.__setattr__(self, "_numba_type_", _record_type(type(self).__name__, tuple(members)))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **{field.name: getattr(self, field.name) for field in fields(self)}), ()  # type: ignore[arg-type]


def _layout(name: str, value: Any) -> tuple[types.Type, list[int]]:
    """Numba's type, and 64-bit words: of an array its address, size, shape and strides."""
    if isinstance(value, ByReference):
        return value._numba_type_, [value._address]
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise ValueError(f"{name}: an array of shape {value.shape} is not C-contiguous; copy it first")
        words = [value.ctypes.data, value.size, *value.shape, *value.strides]
        return _array_type(value.dtype, value.ndim), words
    if isinstance(value, bool | np.bool_):
        return types.boolean, [int(value)]
    if isinstance(value, int | np.integer):
        return types.int64, [int(value)]
    return types.float64, [int(np.float64(value).view(np.int64))]


@extending.typeof_impl.register(ByReference)
def _typeof(value: ByReference, _context: Any) -> RecordType:
    return value._numba_type_


@extending.unbox(RecordType)
def _unbox(_kind: RecordType, value: Any, c: Any) -> extending.NativeValue:
    address = c.pyapi.object_getattr_string(value, "_address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return extending.NativeValue(pointer, is_error=c.pyapi.c_api_error())


@extending.infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = RecordType

    def generic_resolve(self, kind: RecordType, name: str) -> types.Type | None:
        return kind.members.get(name, (None,))[0]


@extending.lower_getattr_generic(RecordType)
def _get(context: Any, builder: Any, kind: RecordType, record: Any, name: str) -> Any:
    member, first = kind.members[name]
    words = builder.bitcast(record, context.get_value_type(types.int64).as_pointer())

    def word(index: int) -> Any:
        value = builder.load(builder.gep(words, [context.get_constant(types.int64, first + index)], inbounds=True))
        # No kernel writes to a record.
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
        return value

    if isinstance(member, types.Array):
        size = context.get_abi_sizeof(context.get_data_type(member.dtype))
        lengths = types.UniTuple(types.intp, member.ndim)
        array = context.make_array(member)(context, builder)  # zeroed: numba counts no references
        array.data = builder.inttoptr(word(0), array.data.type)
        array.nitems, array.itemsize = word(1), context.get_constant(types.intp, size)
        array.shape = context.make_tuple(builder, lengths, [word(2 + d) for d in range(member.ndim)])
        array.strides = context.make_tuple(builder, lengths, [word(2 + member.ndim + d) for d in range(member.ndim)])
        return array._getvalue()
    if isinstance(member, RecordType):
        return builder.inttoptr(word(0), record.type)
    if isinstance(member, types.Boolean):
        return builder.icmp_signed("!=", word(0), context.get_constant(types.int64, 0))
    return builder.bitcast(word(0), context.get_value_type(member))
