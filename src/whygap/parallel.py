"""Subsets in parallel: one function of one shared object, any backend, the same numbers.

The shared object (a part with its features and fits) travels once to every worker: on this machine
with each batch, large arrays as memory maps; to a Ray or Dask cluster once for all batches. A task
whose worker is lost runs again elsewhere. BLAS runs on one thread everywhere: the order of its
sums, and so the last bit of every number, does not depend on how many workers there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError
from threadpoolctl import threadpool_limits

from whygap.errors import SettingsError, WhygapError
from whygap.settings import Settings

__all__ = ["Workers", "one_thread", "run_chunks"]

_RETRIES = 3
_CHUNKS_PER_WORKER = 2


@contextmanager
def one_thread() -> Iterator[None]:
    """BLAS and OpenMP on one thread."""
    with threadpool_limits(1):
        yield


def run_chunks(job: Any, items: Sequence[Any], settings: Settings) -> list[Any]:
    """`[job(item) for item in items]`, spread over the workers."""
    return Workers(settings).run(job, items)


@dataclass(slots=True)
class Workers:
    """Where jobs run, and what has already been shipped there."""

    settings: Settings
    shipped: dict[int, tuple[Any, Any]] = field(default_factory=dict)

    def run(self, job: Any, items: Sequence[Any]) -> list[Any]:
        """`[job(item) for item in items]`, spread over the workers."""
        match self.settings.backend:
            case "ray":
                return self._on_ray(job, items)
            case "dask":
                return self._on_dask(job, items)
            case _:
                return self._here(job, items)

    def _here(self, job: Any, items: Sequence[Any]) -> list[Any]:
        """In this process, or in joblib's workers (the backend may be the caller's own choice)."""
        count = min(self.settings.n_jobs, len(items))
        if count <= 1:
            return _run(job, items)
        tasks = [joblib.delayed(_run)(job, chunk) for chunk in _cut(items, count)]
        try:
            done = joblib.Parallel(n_jobs=self.settings.n_jobs)(tasks)
        except TerminatedWorkerError:
            done = self._once_more(tasks)
        return _joined(done, len(items))

    def _once_more(self, tasks: Sequence[Any]) -> list[Any]:
        try:
            return list(joblib.Parallel(n_jobs=self.settings.n_jobs)(tasks))
        except TerminatedWorkerError as error:
            raise WhygapError(
                "A worker process was lost twice",
                got=f"n_jobs={self.settings.n_jobs}",
                hint="Most often the memory is full: use fewer workers.",
            ) from error

    def _on_ray(self, job: Any, items: Sequence[Any]) -> list[Any]:
        """Ray runs the tasks of a lost worker again; the data stay in the driver's object store."""
        ray = _ray(self.settings)
        handle = self._ship(job, ray.put)
        remote = ray.remote(_run).options(num_cpus=1, max_retries=_RETRIES)
        chunks = _cut(items, min(_CHUNKS_PER_WORKER * self.settings.n_jobs, len(items)))
        try:
            done = ray.get([remote.remote(handle, chunk) for chunk in chunks])
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error
        return _joined(done, len(items))

    def _on_dask(self, job: Any, items: Sequence[Any]) -> list[Any]:
        """Dask runs the tasks of a lost worker again; every worker holds a copy of the data."""
        client = _dask(self.settings)
        handle = self._ship(job, lambda one: client.scatter(one, broadcast=True, hash=False))
        tasks = [client.submit(_run, handle, [item], pure=False) for item in items]
        return [values[0] for values in client.gather(tasks)]

    def _ship(self, job: Any, send: Callable[[Any], Any]) -> Any:
        """What stands for the job on the cluster; sent when first asked for.

        A bound method is known by its object, which is kept so that its number stays its own.
        """
        owner = getattr(job, "__self__", job)
        if id(owner) not in self.shipped:
            self.shipped[id(owner)] = (owner, send(job))
        return self.shipped[id(owner)][1]


def _run(job: Any, items: Sequence[Any]) -> list[Any]:
    with one_thread():
        return [job(item) for item in items]


def _cut(items: Sequence[Any], count: int) -> list[Sequence[Any]]:
    """Every count-th item, so that chunks cost about the same."""
    return [items[k::count] for k in range(count)]


def _joined(done: Sequence[Sequence[Any]], size: int) -> list[Any]:
    """Undo `_cut`."""
    results: list[Any] = [None] * size
    for k, values in enumerate(done):
        results[k :: len(done)] = values
    return results


def _ray(settings: Settings) -> Any:
    """Ray, connected to the address given or to a local cluster started for this program."""
    try:
        import ray
    except ImportError as error:
        raise SettingsError(
            "backend='ray' needs the ray package", hint="pip install 'whygap[ray]'"
        ) from error
    if not ray.is_initialized():
        local = {"num_cpus": settings.n_jobs, "include_dashboard": False}
        where = {"address": settings.address} if settings.address else local
        ray.init(ignore_reinit_error=True, log_to_driver=False, **where)
    return ray


def _dask(settings: Settings) -> Any:
    """The current Dask client, else one at the address given or of a local cluster."""
    try:
        from distributed import Client, get_client
    except ImportError as error:
        raise SettingsError(
            "backend='dask' needs the distributed package", hint="pip install 'whygap[dask]'"
        ) from error
    try:
        return get_client()
    except ValueError:
        local = {"n_workers": settings.n_jobs, "threads_per_worker": 1, "dashboard_address": None}
        where = {"address": settings.address} if settings.address else local
        client: Any = Client
        return client(**where)
