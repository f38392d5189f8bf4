"""Runs that end early: killed in the second part, or stopped with Ctrl-C."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_study import fast, make_study, warnings_of

import whygap as wg
from whygap._explain import was_interrupted
from whygap.shapley import SubsetPlan

TESTS = Path(__file__).resolve().parents[2]


def twice_shifted(rows: int = 600, extra: int = 3) -> tuple[pd.DataFrame, pd.DataFrame]:
    """More hard rows (g = 1) in the target, and there a high h means failure; both parts exist."""
    pair = []
    for hard, spoiled, seed in ((0.15, False, 1), (0.9, True, 2)):
        rng = np.random.default_rng(seed)
        table = pd.DataFrame({f"x{k}": rng.normal(size=rows) for k in range(extra)})
        table["w"], table["h"] = rng.normal(size=rows), rng.normal(size=rows)
        table["g"] = (rng.random(rows) < hard).astype(float)
        chance = np.where(table["g"] == 1, 0.6, 0.95)
        if spoiled:
            chance = np.where(table["h"] > 0, 0.15, chance)
        table["y"] = (rng.random(rows) < chance).astype(int)
        table["risk"] = 0.9
        pair.append(table)
    return pair[0], pair[1]


def text_of(gap: wg.Gap, path: Path) -> str:
    """The file of a result, times and the name of the checkpoint folder blanked."""
    plain = json.loads(gap.save(path, influence=True).read_text())
    plain["about"] |= {"seconds": {}, "created": ""}
    plain["about"]["settings"]["checkpoint"] = ""
    return json.dumps(plain)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted run, its text, and the folder of what it kept."""
    folder = tmp_path_factory.mktemp("whole")
    kept = fast(checkpoint=str(folder / "kept"))
    gap = wg.explain(make_study(*twice_shifted()), detail="shares", settings=kept)
    assert gap.shares["covariate"].defined
    assert gap.shares["outcome"].defined
    assert gap.shares["outcome"].sampling.evaluated == 32
    return text_of(gap, folder / "gap.json"), folder / "kept"


@pytest.mark.parametrize("lost", ["a part of the second part", "the second part", "nothing"])
def test_a_run_killed_in_its_second_part_resumes_to_the_same_file(whole, tmp_path, lost):
    expected, kept = whole
    folder = tmp_path / "kept"
    shutil.copytree(kept, folder)
    later = sorted(folder.glob("outcome-shares-0-*.npz"))
    assert len(later) >= 2
    gone = {"nothing": [], "the second part": later}.get(lost, later[1:])
    for path in gone:
        path.unlink()
    # What a process leaves behind that is killed while it writes.
    (folder / "outcome-shares-0-00001.partial").write_bytes(b"half a fi")
    resumed = wg.explain(
        make_study(*twice_shifted()), detail="shares", settings=fast(checkpoint=str(folder))
    )
    assert text_of(resumed, tmp_path / "gap.json") == expected


RUN = """
import sys
from test_interrupted_runs import twice_shifted
from small_study import fast, make_study, warnings_of
import whygap as wg
if __name__ == "__main__":
    settings = fast(subsets="all", checkpoint=sys.argv[1])
    study = make_study(*twice_shifted(400, extra=6))
    wg.explain(study, detail="shares", settings=settings).save(sys.argv[2])
"""


def test_ctrl_c_ends_a_run_with_what_is_finished(tmp_path):
    folder, result = tmp_path / "kept", tmp_path / "gap.json"
    script = tmp_path / "run.py"
    script.write_text(RUN)
    paths = [str(TESTS), str(Path(__file__).parent), str(Path(wg.__file__).parents[1])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    run = subprocess.Popen([sys.executable, str(script), str(folder), str(result)], env=environment)
    smallest = SubsetPlan(8, 0).smallest
    try:
        deadline = time.monotonic() + 120
        while finished(folder) < smallest:
            assert run.poll() is None, "the run ended before it could be interrupted"
            assert time.monotonic() < deadline
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 0
    finally:
        run.kill()
        run.wait()
    gap = wg.load(result)
    assert was_interrupted(gap)
    said = "You interrupted the analysis: the last answer rests on the subsets finished until then."
    assert said in warnings_of(gap)
    sampling = gap.shares["outcome"].sampling
    assert sampling.stopped == "you interrupted it; the finished subsets are used"
    assert smallest <= sampling.evaluated < 256
    assert not sampling.exact
    total = (
        sum(share.value for share in gap.shares["outcome"].values.values())
        + gap.shares["outcome"].base.value
    )
    assert total == pytest.approx(1, abs=1e-9)


def finished(folder: Path) -> int:
    return sum(len(np.load(path)["subsets"]) for path in folder.glob("outcome-shares-0-*.npz"))
