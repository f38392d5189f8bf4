"""Work in chunks: the same results in the same order, whatever the workers."""

from __future__ import annotations

import sys

import pytest
from threadpoolctl import threadpool_info

from whygap.errors import SettingsError
from whygap.parallel import one_thread, run_chunks
from whygap.settings import Settings


def square(number: int) -> int:
    return number * number


def threads(_: int) -> int:
    return max((info["num_threads"] for info in threadpool_info()), default=1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_come_back_in_the_order_of_the_items(jobs):
    settings = Settings(n_jobs=jobs)
    assert run_chunks(square, list(range(7)), settings) == [k * k for k in range(7)]


@pytest.mark.parametrize("jobs", [1, 2])
def test_no_items_give_no_results(jobs):
    assert run_chunks(square, [], Settings(n_jobs=jobs)) == []


def test_more_workers_than_items():
    assert run_chunks(square, [3], Settings(n_jobs=2)) == [9]


@pytest.mark.parametrize("jobs", [1, 2])
def test_workers_compute_on_one_thread(jobs):
    import numpy as np

    _ = np.eye(2) @ np.eye(2)
    assert run_chunks(threads, [0, 1], Settings(n_jobs=jobs)) == [1, 1]


def test_one_thread_gives_the_threads_back():
    before = [info["num_threads"] for info in threadpool_info()]
    with one_thread():
        pass
    assert [info["num_threads"] for info in threadpool_info()] == before


@pytest.mark.parametrize(
    ("backend", "module", "package"),
    [("ray", "ray", "ray"), ("dask", "distributed", "distributed")],
)
def test_a_missing_cluster_package_is_named(monkeypatch, backend, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SettingsError) as caught:
        run_chunks(square, [1], Settings(backend=backend))
    assert str(caught.value) == (
        f"backend='{backend}' needs the {package} package. pip install 'whygap[{backend}]'"
    )
