"""Large tables lie in files that go when nobody needs them."""

from __future__ import annotations

import os

import numpy as np
import pytest

from whygap import memmap


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    return tmp_path


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="tables stay in memory there")
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_large_table_lies_in_a_file_as_long_as_it_is_used(monkeypatch, folder, order):
    monkeypatch.setattr(memmap, "LARGE", 1000)
    table = memmap.allocate(100, 5, np.float32, order)
    table[:] = 7
    part = table[:, 1:]
    (file,) = folder.iterdir()
    assert table.flags[f"{order}_CONTIGUOUS"]
    assert file.stat().st_size == table.nbytes
    del table
    assert set(part.ravel()) == {7}
    assert file.exists()
    del part
    assert not list(folder.iterdir())


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="tables stay in memory there")
def test_arrays_are_found_where_they_lie(monkeypatch, folder):
    monkeypatch.setattr(memmap, "LARGE", 1000)
    table = memmap.allocate(100, 5)
    (file,) = folder.iterdir()
    assert memmap.slice_of(table.data.cast("B")) == memmap.FileSlice(file, 0)
    assert memmap.slice_of(table[10:20].data.cast("B")) == memmap.FileSlice(file, 400)
    assert memmap.slice_of(memoryview(bytes(8))) is None


def test_small_tables_and_tables_without_room_stay_in_memory(monkeypatch, folder):
    assert memmap.allocate(100, 5).shape == (100, 5)
    assert not list(folder.iterdir())
    monkeypatch.setattr(memmap, "LARGE", 1000)
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(folder / "gone"))
    table = memmap.allocate(100, 5, np.float64, "F")
    assert table.flags.f_contiguous
    assert memmap.slice_of(table.T.data.cast("B")) is None


def test_a_full_disk_leaves_no_file(monkeypatch, folder):
    def full(*_: int) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(memmap, "LARGE", 1000)
    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    assert memmap.allocate(100, 5).shape == (100, 5)
    assert not list(folder.iterdir())


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="tables stay in memory there")
def test_tables_that_are_evict_keep_what_was_written(monkeypatch, folder):
    monkeypatch.setattr(memmap, "LARGE", 1000)
    table = memmap.allocate(100, 5, ending=memmap.RARELY_READ)
    table[:] = np.arange(5.0)
    memmap.evict()
    np.testing.assert_array_equal(table, np.tile(np.arange(5.0), (100, 1)))
    assert [file.suffix for file in folder.iterdir()] == [memmap.RARELY_READ]
