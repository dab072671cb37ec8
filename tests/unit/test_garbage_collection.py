from __future__ import annotations

import gc

import pytest

from rebalance_advisor.garbage_collection import without_collector


def test_it_rests_inside_and_works_again_after_a_failure_too() -> None:
    assert gc.isenabled()
    with without_collector():
        assert not gc.isenabled()
        with without_collector():
            assert not gc.isenabled()
        assert not gc.isenabled(), "what is outside still asks for it"
    assert gc.isenabled()
    with pytest.raises(ValueError, match="in vain"), without_collector():
        raise ValueError("in vain")
    assert gc.isenabled()
