"""Subsets in parallel: one function of one shared object, any backend, the same numbers.

The shared object (a part with its features and fits) travels once to every worker and stays there
for all batches: on this machine as a file that workers map into their memory, on a Ray cluster
through its object store, on a Dask cluster as a copy per worker. A task names the object and brings
the items. A task whose worker is lost runs again elsewhere. BLAS runs on one thread everywhere: the
order of its sums, and so the last bit of every number, does not depend on how many workers there
are.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import joblib
from joblib.externals.loky.process_executor import TerminatedWorkerError
from joblib.parallel import BACKENDS, get_active_backend
from threadpoolctl import threadpool_limits

from whygap.errors import SettingsError, WhygapError
from whygap.running.shipping import Parcel, opened
from whygap.settings import Settings

_RETRIES = 3  # of tasks whose worker was lost: more often, it is not bad luck


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
        if min(self.settings.n_jobs, len(items)) <= 1:
            return _run(job, items)
        parcel = self._ship(job, _parcel)
        where = parcel.path if isinstance(parcel, Parcel) else None
        tasks = [
            joblib.delayed(_run if where is None else _run_at)(where or job, chunk)
            for chunk in self._chunks(items)
        ]
        try:
            done = self._spread(tasks)
        except TerminatedWorkerError:
            done = self._once_more(tasks)
        return _joined(done, len(items))

    def _spread(self, tasks: Sequence[Any]) -> list[Any]:
        """Workers that have mapped a second job are replaced; of that joblib need not warn."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="A worker stopped while some jobs")
            return list(joblib.Parallel(n_jobs=self.settings.n_jobs)(tasks))

    def _once_more(self, tasks: Sequence[Any]) -> list[Any]:
        try:
            return self._spread(tasks)
        except TerminatedWorkerError as error:
            raise WhygapError(
                "A worker process was lost twice",
                got=f"n_jobs={self.settings.n_jobs}",
                hint="Most often the memory is full: use fewer workers.",
            ) from error

    def _on_ray(self, job: Any, items: Sequence[Any]) -> list[Any]:
        """Ray runs the tasks of a lost worker again; the data stay in the driver's object store."""
        ray = _ray(self.settings)
        handle = self._ship(job, lambda one: _Held(ray.put(one)))
        remote = ray.remote(_run_held).options(num_cpus=1, max_retries=_RETRIES)
        try:
            done = ray.get([remote.remote(handle, chunk) for chunk in self._chunks(items)])
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error
        return _joined(done, len(items))

    def _on_dask(self, job: Any, items: Sequence[Any]) -> list[Any]:
        """Dask runs the tasks of a lost worker again; every worker holds a copy of the data.

        Where all copies were lost with their workers, Dask cancels the tasks: they start anew.
        """
        client = _dask(self.settings)
        for _ in range(_RETRIES):
            try:
                return self._gathered(client, job, items)
            except CancelledError:
                self.shipped.pop(id(job), None)
        raise WhygapError(
            f"All Dask workers were lost {_RETRIES} times",
            got=f"n_jobs={self.settings.n_jobs}",
            hint="Most often their memory is full: give them more, or use fewer per machine.",
        )

    def _gathered(self, client: Any, job: Any, items: Sequence[Any]) -> list[Any]:
        handle = self._ship(job, lambda one: client.scatter(one, broadcast=True, hash=False))
        chunks = self._chunks(items)
        tasks = [client.submit(_run, handle, chunk, pure=False) for chunk in chunks]
        return _joined(client.gather(tasks), len(items))

    def _chunks(self, items: Sequence[Any]) -> list[Sequence[Any]]:
        """Four items each, so that no worker waits long; of every count-th item: alike in cost."""
        count = min(max(2 * self.settings.n_jobs, len(items) // 4), len(items))
        return [items[k::count] for k in range(count)]

    def _ship(self, job: Any, send: Callable[[Any], Any]) -> Any:
        """What stands for the job where it runs; sent when first asked for.

        The job is kept, so that its number stays its own.
        """
        if id(job) not in self.shipped:
            self.shipped[id(job)] = (job, send(job))
        return self.shipped[id(job)][1]


def _run(job: Any, items: Sequence[Any]) -> list[Any]:
    with one_thread():
        return [job(item) for item in items]


def _parcel(job: Any) -> Parcel | None:
    """A file for joblib's own worker processes; None where the caller's backend takes the job."""
    backend, _ = get_active_backend()
    return Parcel(job) if isinstance(backend, BACKENDS.get("loky", ())) else None


def _run_at(path: Path, items: Sequence[Any]) -> list[Any]:
    return _run(opened(path), items)


@dataclass(frozen=True, slots=True)
class _Held:
    """A reference to an object in Ray's store; wrapped, so that Ray does not fetch it by itself."""

    reference: Any


@lru_cache(maxsize=2)
def _fetched(reference: Any) -> Any:
    import ray

    return ray.get(reference)


def _run_held(held: _Held, items: Sequence[Any]) -> list[Any]:
    return _run(_fetched(held.reference), items)


def _joined(done: Sequence[Sequence[Any]], size: int) -> list[Any]:
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
