"""Subsets in parallel: one function of one shared object, any joblib backend, the same numbers.

Work is cut into one chunk per worker, so that the shared object travels once per batch and worker
(large arrays as memory maps). BLAS runs on one thread everywhere: the order of its sums, and so
the last bit of every number, does not depend on how many workers there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import joblib
from threadpoolctl import threadpool_limits

from whygap.errors import SettingsError
from whygap.settings import Settings

__all__ = ["one_thread", "run_chunks", "worker_backend"]


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS and OpenMP on one thread."""
    with threadpool_limits(1):
        yield


def run_chunks(job: Any, items: Sequence[Any], settings: Settings) -> list[Any]:
    """`[job(item) for item in items]`, spread over the workers."""
    count = min(settings.n_jobs, len(items))
    if count == 0 or (count == 1 and settings.backend == "local"):
        return _run(job, items)
    chunks = [items[k::count] for k in range(count)]
    with worker_backend(settings):
        done = joblib.Parallel(n_jobs=settings.n_jobs)(
            joblib.delayed(_run)(job, chunk) for chunk in chunks
        )
    results: list[Any] = [None] * len(items)
    for k, values in enumerate(done):
        results[k::count] = values
    return results


def _run(job: Any, items: Sequence[Any]) -> list[Any]:
    with one_thread():
        return [job(item) for item in items]


@contextmanager
def worker_backend(settings: Settings) -> Iterator[None]:
    """The joblib backend of the settings; "local" leaves the caller's own choice alone."""
    if settings.backend == "local":
        yield
        return
    if settings.backend == "ray":
        _register_ray(settings.address)
    else:
        _connect_dask(settings.address)
    with joblib.parallel_config(settings.backend):
        yield


def _register_ray(address: str | None) -> None:
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError as error:
        raise SettingsError(
            "backend='ray' needs the ray package", hint="pip install 'whygap[ray]'"
        ) from error
    if not ray.is_initialized():
        ray.init(address=address, ignore_reinit_error=True, log_to_driver=False)
    register_ray()


def _connect_dask(address: str | None) -> None:
    try:
        from distributed import Client, get_client
    except ImportError as error:
        raise SettingsError(
            "backend='dask' needs the distributed package", hint="pip install 'whygap[dask]'"
        ) from error
    try:
        get_client()
    except ValueError:
        Client(address) if address else Client(processes=True)
