"""Array types, and the index for no broker, member or partition."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

ABSENT = -1
