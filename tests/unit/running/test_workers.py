"""Work in chunks: the same results in the same order, whatever the workers."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_info

from whygap import memmap
from whygap.errors import SettingsError, WhygapError
from whygap.running.shipping import Parcel, opened
from whygap.running.workers import Workers, one_thread, run_chunks
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


class Table:
    """Something large that all items share."""

    def __init__(self) -> None:
        self.large = np.arange(100_000.0)
        self.other = np.asfortranarray(np.arange(200_000.0).reshape(400, 500))
        self.small = np.arange(3)
        self.double = lambda number: 2 * number

    def __call__(self, item: int) -> tuple[float, int, int]:
        """The value asked for, which process answered, and which copy of the table it has."""
        return float(self.large[item]), os.getpid(), id(self)


def test_local_workers_get_the_shared_object_once(monkeypatch, tmp_path):
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    workers, job = Workers(Settings(n_jobs=2)), Table()
    answers = [answer for _ in range(3) for answer in workers.run(job, [5, 6, 7, 8])]
    assert [value for value, _, _ in answers] == [5, 6, 7, 8] * 3
    assert len(list(tmp_path.glob("whygap-*"))) == 1
    assert os.getpid() not in {process for _, process, _ in answers}
    copies = {(process, copy) for _, process, copy in answers}
    assert len(copies) == len({process for process, _ in copies})
    del workers
    assert not list(tmp_path.glob("whygap-*"))


def test_the_callers_own_backend_takes_the_job_itself(monkeypatch, tmp_path):
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    job = Table()
    with joblib.parallel_config("threading"):
        answers = Workers(Settings(n_jobs=2)).run(job, [1, 2, 3])
    assert {copy for _, _, copy in answers} == {id(job)}
    assert not list(tmp_path.iterdir())


def test_what_comes_out_of_a_parcel_went_into_it():
    job = Table()
    parcel = Parcel(job)
    there = opened(parcel.path)
    for name in ("large", "other", "small"):
        array = getattr(there, name)
        assert np.array_equal(array, getattr(job, name))
        assert array.flags.aligned
    assert there.other.flags.f_contiguous
    assert there.double(4) == 8
    assert opened(parcel.path) is there
    there.large[0] = 99
    assert job.large[0] == 0
    opened.cache_clear()
    assert opened(parcel.path).large[0] == 0
    sizes = {path.name: path.stat().st_size for path in parcel.path.iterdir()}
    assert sizes["job"] < 10_000
    assert sizes["arrays"] >= job.large.nbytes + job.other.nbytes
    opened.cache_clear()


def test_a_table_in_a_file_of_its_own_is_not_written_again(monkeypatch, tmp_path):
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    monkeypatch.setattr(memmap, "LARGE", 100_000)
    table = memmap.allocate(400, 500, np.float64, "F")
    table[:] = np.arange(200_000.0).reshape(400, 500)
    parcels = [Parcel({"table": table, "own": np.full(20_000, k)}) for k in (1, 2)]
    for k, parcel in enumerate(parcels, start=1):
        assert (parcel.path / "arrays").stat().st_size < table.nbytes
        there = opened(parcel.path)
        assert np.array_equal(there["table"], table)
        assert there["table"].flags.f_contiguous
        assert set(there["own"]) == {k}
    first, second = (opened(parcel.path)["table"] for parcel in parcels)
    assert np.shares_memory(first, second)
    first[0, 0] = 99
    assert table[0, 0] == 0
    opened.cache_clear()


def test_a_parcel_without_large_arrays():
    parcel = Parcel({"few": np.arange(4)})
    assert np.array_equal(opened(parcel.path)["few"], np.arange(4))
    opened.cache_clear()


def test_a_folder_without_room_says_what_to_do(monkeypatch, tmp_path):
    gone = tmp_path / "gone"
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(gone))
    with pytest.raises(WhygapError) as caught:
        Parcel(1)
    text = str(caught.value)
    assert text.startswith("The tables and models could not be laid out for the workers. Got ")
    assert text.endswith("Let JOBLIB_TEMP_FOLDER name a folder with more room, or use n_jobs=1.")
    assert not Path(gone).exists()
