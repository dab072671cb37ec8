"""What stands under every hash kernel: reading four bytes at once, and a remainder without dividing.

``x % n`` costs more than hashing a short key. For 0 ≤ x < 2^31 the quotient is taken from x · (1 / n) in doubles, which
is off by one at most, and put right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import config, njit, types
from numba.extending import intrinsic

Bytes = npt.NDArray[np.uint8]

POSITIVE = np.uint32(0x7FFFFFFF)


@intrinsic
def _loaded_word(_context: Any, data: Any, _at: Any) -> Any:
    """One load, whatever its alignment."""

    def load(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        pointer = builder.bitcast(builder.gep(array.data, [arguments[1]]), ir.IntType(32).as_pointer())
        word = builder.load(pointer)
        word.align = 1
        return word

    return types.uint32(data, types.intp), load


def _viewed_word(data: Bytes, at: int) -> np.uint32:
    return np.uint32(data[at : at + 4].view("<u4")[0])


# ``data[at:at + 4]`` as a little-endian uint32. The caller keeps within the array.
four_bytes: Any = _viewed_word if config.DISABLE_JIT else _loaded_word


@njit(cache=True, inline="always")
def remainder(value: np.uint32, divisor: np.int32, inverse: float) -> np.int32:
    """``value % divisor`` for a value below 2^31; ``inverse`` = 1 / divisor."""
    signed = np.int32(value)
    quotient = np.int32(np.float64(signed) * inverse)
    rest = np.int32(signed - np.int32(quotient * divisor))
    if rest < 0:
        rest = np.int32(rest + divisor)
    if rest >= divisor:
        rest = np.int32(rest - divisor)
    return rest
