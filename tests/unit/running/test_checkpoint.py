"""Finished subsets on disk: a killed run resumes to the same bits; another analysis is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_study import fast, make_study, make_table

import whygap as wg
from whygap.domains import ByDomain
from whygap.errors import ResultError
from whygap.estimate import Estimate, Sample
from whygap.running import checkpoint
from whygap.running.checkpoint import Checkpoint, fingerprint, open_checkpoint

HERE = Path(__file__).resolve().parents[2]
SUBSETS = 48


def wide_tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Seven covariates, so that there is something to be killed in the middle of."""
    pair = []
    for rows, shift, seed in ((400, 0.0, 1), (400, 1.5, 2)):
        rng = np.random.default_rng(seed + 10)
        extra = {f"d{k}": rng.normal(size=rows) for k in range(4)}
        pair.append(make_table(rows, shift, seed).assign(**extra))
    return pair[0], pair[1]


RUN = """
import sys
from test_checkpoint import SUBSETS, wide_tables
from small_study import fast, make_study
import whygap as wg
if __name__ == "__main__":
    settings = fast(subsets=SUBSETS, checkpoint=sys.argv[1])
    wg.explain(make_study(*wide_tables()), detail="shares", settings=settings)
"""


def saved(gap: wg.Gap, path: Path) -> dict:
    """The JSON of a result, apart from times and the name of the checkpoint folder."""
    plain = json.loads(gap.save(path, influence=True).read_text())
    del plain["about"]["seconds"], plain["about"]["created"]
    del plain["about"]["settings"]["checkpoint"]
    return plain


def kill_in_the_middle(folder: Path, tmp_path: Path) -> None:
    """Start a real run, wait for its second batch of subsets, and kill it without mercy."""
    script = tmp_path / "run.py"
    script.write_text(RUN)
    paths = [str(HERE), str(Path(__file__).parent), str(Path(wg.__file__).parents[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    run = subprocess.Popen([sys.executable, str(script), str(folder)], env=environment)
    try:
        deadline = time.monotonic() + 120
        while len(list(folder.glob("outcome-shares-0-*.npz"))) < 2:
            assert run.poll() is None, "the run ended before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()


def test_a_killed_run_resumes_to_the_same_bits(tmp_path):
    folder = tmp_path / "checkpoint"
    kill_in_the_middle(folder, tmp_path)
    kept = sum(len(np.load(path)["subsets"]) for path in folder.glob("*.npz"))
    assert 2 <= kept < SUBSETS
    study = make_study(*wide_tables())
    resumed = wg.explain(
        study, detail="shares", settings=fast(subsets=SUBSETS, checkpoint=str(folder))
    )
    whole = wg.explain(study, detail="shares", settings=fast(subsets=SUBSETS))
    assert saved(resumed, tmp_path / "a.json") == saved(whole, tmp_path / "b.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    wg.explain(make_study(), detail="shares", settings=fast(checkpoint=str(folder)))
    return folder


def refused(folder: Path, study: wg.Study, **settings) -> str:
    with pytest.raises(ResultError) as caught:
        wg.explain(study, detail="shares", settings=fast(checkpoint=str(folder), **settings))
    return str(caught.value)


def message(folder: Path, change: str) -> str:
    return (
        f"The checkpoint in {folder} belongs to another analysis. Got a change of {change}. Use "
        "another folder, or undo the change."
    )


def test_a_changed_setting_is_refused_by_name(folder):
    assert refused(folder, make_study(), clip=9.0) == message(folder, "settings 'clip'")
    changed = message(folder, "settings 'folds', settings 'seed'")
    assert refused(folder, make_study(), folds=4, seed=1) == changed


def test_values_of_another_engine_are_refused(folder, monkeypatch):
    monkeypatch.setattr(checkpoint, "ENGINE", checkpoint.ENGINE + 1)
    assert refused(folder, make_study()) == message(folder, "settings 'engine'")


def test_a_changed_table_is_refused_by_ingredient(folder):
    other = make_table(400, 0.0, 1), make_table(300, 1.0, 3)
    text = refused(folder, make_study(*other))
    assert text.startswith(
        f"The checkpoint in {folder} belongs to another analysis. Got a change of study 'features'"
    )
    assert "'outcome'" in text


def test_a_changed_metric_and_a_changed_role_are_told_apart(folder):
    changed = message(folder, "study 'metric', study 'slope of the metric'")
    assert refused(folder, make_study(metric="zero_one")) == changed
    assert refused(folder, make_study(groups={"ab": ["a", "b"]})) == message(
        folder, "study 'roles'"
    )


def test_more_workers_more_subsets_and_another_level_are_welcome(folder):
    before = sorted(path.name for path in folder.iterdir())
    gap = wg.explain(
        make_study(),
        detail="shares",
        settings=fast(checkpoint=str(folder), level=0.9, subsets="all"),
    )
    assert gap.shares["outcome"].sampling.evaluated == 8
    assert sorted(path.name for path in folder.iterdir()) == before, "nothing was computed again"


def test_nothing_half_written_is_left_behind(folder):
    assert not list(folder.glob("*.partial"))
    assert (folder / "analysis.json").exists()


def test_a_damaged_folder_says_so(tmp_path):
    (tmp_path / "analysis.json").write_text("{half")
    study = make_study()
    with pytest.raises(ResultError) as caught:
        open_checkpoint(str(tmp_path), fingerprint(study.design, fast()))
    assert str(caught.value) == (
        f"The checkpoint file {tmp_path / 'analysis.json'} is damaged. Delete the folder, or use "
        "another one."
    )


def test_a_folder_that_cannot_be_made_says_so(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultError, match=r"^The checkpoint folder .*file.inside cannot be used\."):
        open_checkpoint(str(tmp_path / "file" / "inside"), {})


def test_no_folder_no_checkpoint():
    assert open_checkpoint(None, {}) is None


def test_what_is_kept_reads_back_bit_for_bit(tmp_path):
    rng = np.random.default_rng(0)
    sample = Sample.of(ByDomain(20, 10))
    batch = {
        subset: Estimate.from_contributions(
            sample, source=rng.normal(size=20), target=rng.normal(size=10), plugin=rng.normal()
        )
        for subset in ((), (0,), (0, 3, 11))
    }
    batch[()] = batch[()].with_errors(fits=np.array([0.1, -0.2, 0.3]), bias=np.array([0.05]))
    kept = Checkpoint(tmp_path)
    kept.save("outcome", 0, batch)
    kept.save("outcome", 0, {})
    kept.save("outcome", 1, {(5,): batch[()]})
    found = kept.load("outcome", 0, sample)
    assert found.keys() == batch.keys()
    for subset, estimate in batch.items():
        assert found[subset].value == estimate.value
        assert found[subset].plugin == estimate.plugin
        assert found[subset].standard_error == estimate.standard_error
        assert (found[subset].influence.source == estimate.influence.source).all()
        assert found[subset].influence.fits.tolist() == estimate.influence.fits.tolist()
    assert kept.load("covariate", 0, sample) == {}
    assert list(kept.load("outcome", 1, sample)) == [(5,)]
