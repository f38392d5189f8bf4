"""Real local clusters: the numbers of a serial run, also when a worker is killed on the way."""

from __future__ import annotations

import importlib.util
import os
import signal
from dataclasses import replace
from pathlib import Path

import joblib
import pytest
from deadly import Deadly
from sklearn.linear_model import LinearRegression
from small_study import fast, make_study, tables

import whygap as wg
from whygap.errors import FitError
from whygap.running.workers import Workers

# what the cluster packages warn about themselves is not ours to fail on
pytestmark = pytest.mark.filterwarnings("ignore")
CLUSTERS = {"ray": "ray", "dask": "distributed"}


LONGEST = 240


@pytest.fixture(params=list(CLUSTERS))
def backend(request):
    return _installed(request.param)


def _installed(where: str) -> str:
    """The backend's name, if its package is there."""
    package = CLUSTERS.get(where)
    if package and importlib.util.find_spec(package) is None:
        pytest.skip(f"the package {package} is not installed: pip install 'whygap[{where}]'")
    return where


@pytest.fixture(autouse=True)
def bounded():
    """A cluster that hangs fails its test; it does not stop the suite."""

    def too_long(number, frame):
        raise TimeoutError(f"no answer from the cluster in {LONGEST} seconds")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.alarm(LONGEST)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module", autouse=True)
def clusters_end_with_the_module():
    """Workers of Ray find the modules of these tests by the path they inherit."""
    here = Path(__file__).parent
    known = os.environ.get("PYTHONPATH", "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(here), str(here.parent), known]))
        yield
        _end_clusters()


def _end_clusters() -> None:
    if importlib.util.find_spec("ray"):
        import ray

        ray.shutdown()
    if importlib.util.find_spec("distributed"):
        import distributed

        try:
            client = distributed.get_client()
        except ValueError:
            return
        client.shutdown()


def spread(backend: str, **changes) -> wg.Settings:
    return fast(backend=backend, n_jobs=2, **changes)


def test_a_cluster_gives_the_numbers_of_one_process(backend):
    study = make_study(*tables(1500, 1200), baseline=["w", "b"])
    serial = wg.explain(study, settings=fast())
    assert serial.shares["outcome"].defined
    assert {"points", "recoverable"} <= set(serial.to_frame()["kind"])
    spread_out = wg.explain(study, settings=spread(backend))
    assert serial.to_frame().equals(spread_out.to_frame())


def test_a_killed_worker_changes_nothing(backend, tmp_path):
    study, grave = make_study(*tables(1500, 1200)), tmp_path / "grave"
    learner = {
        "classifier": Deadly(os.getpid(), str(grave)),
        "regressor": LinearRegression(),
    }
    serial = wg.explain(study, settings=fast(learner=learner))
    assert serial.shares["outcome"].defined
    assert not grave.exists()
    survived = wg.explain(study, settings=spread(backend, learner=learner))
    died = int(grave.read_text(encoding="ascii"))
    assert died != os.getpid()
    assert not _alive(died)
    assert serial.to_frame().equals(survived.to_frame())


def test_a_killed_local_worker_changes_nothing(tmp_path):
    study, grave = make_study(*tables(1500, 1200)), tmp_path / "grave"
    learner = {
        "classifier": Deadly(os.getpid(), str(grave)),
        "regressor": LinearRegression(),
    }
    settings = fast(learner=learner)
    serial = wg.explain(study, detail="shares", settings=settings)
    survived = wg.explain(study, detail="shares", settings=replace(settings, n_jobs=2))
    assert grave.exists()
    assert serial.to_frame().equals(survived.to_frame())


@pytest.mark.parametrize("where", ["local", *CLUSTERS])
def test_the_shared_object_travels_once_and_stays(where):
    job, sent = Shared(list(range(1000))), []
    workers = Workers(spread(_installed(where)))
    ship = Workers._ship

    def counted(self, one, send):
        return ship(self, one, lambda thing: (sent.append(thing), send(thing))[1])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Workers, "_ship", counted)
        answers = [answer for _ in range(3) for answer in workers.run(job, [1, 2, 3, 4])]
    assert [number for number, _, _ in answers] == [1, 2, 3, 4] * 3
    assert sent == [job]
    copies = {(process, copy) for _, process, copy in answers}
    # Two tasks that ask Dask for it at once may each unpack what was sent once.
    most = 2 if where == "dask" else 1
    assert len(copies) <= most * len({process for process, _ in copies})


@pytest.mark.parametrize("where", ["local", *CLUSTERS])
def test_work_goes_on_when_all_workers_were_killed(where):
    job, workers = Shared(list(range(1000))), Workers(spread(_installed(where)))
    processes = {process for _, process, _ in workers.run(job, [1, 2, 3, 4])}
    assert os.getpid() not in processes
    for process in processes:
        os.kill(process, signal.SIGKILL)
    answers = workers.run(job, [5, 6, 7, 8])
    assert [number for number, _, _ in answers] == [5, 6, 7, 8]
    assert not processes & {process for _, process, _ in answers}


class Shared:
    """Something to ship: numbers, who was asked for them, and which copy answered."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __call__(self, item):
        return self.numbers[item], os.getpid(), id(self)


def test_joblibs_own_switch_works_too(backend):
    study = make_study(*tables(500, 400))
    serial = wg.explain(study, detail="shares", settings=fast())
    Workers(spread(backend)).run(abs, [-1])
    if backend == "ray":
        from ray.util.joblib import register_ray

        register_ray()
    with joblib.parallel_config(backend):
        switched = wg.explain(study, detail="shares", settings=fast(n_jobs=2))
    assert serial.to_frame().equals(switched.to_frame())


def test_an_error_on_a_worker_arrives_with_its_own_type(backend):
    with pytest.raises(FitError, match=r"^No luck with 2\.$"):
        Workers(spread(backend)).run(fail_at_two, [1, 2, 3])


def fail_at_two(item):
    if item == 2:
        raise FitError(f"No luck with {item}")
    return item


def _alive(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text(encoding="ascii").split()[2] != "Z"
