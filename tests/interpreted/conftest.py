"""Tests of single steps, which only kernels can call once compiled: collected where ``NUMBA_DISABLE_JIT=1``.

``tests/unit/kernels/test_interpreted_kernels.py`` runs them all in a process of that kind; to debug one of them:
``NUMBA_DISABLE_JIT=1 pytest tests/interpreted -k name``.
"""

from numba import config

collect_ignore_glob = [] if config.DISABLE_JIT else ["test_*.py"]
