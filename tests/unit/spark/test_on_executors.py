import pytest

from rebalance_advisor.spark.on_executors import is_local


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]", "local[2, 3]"])
def test_local_masters_compute_in_this_machines_own_python(master):
    assert is_local(master)


@pytest.mark.parametrize("master", ["spark://10.0.0.1:7077", "local-cluster[2,1,1024]", "yarn", "k8s://https://k"])
def test_other_masters_have_executors_of_their_own(master):
    assert not is_local(master)
