"""What the docs tell people to type is typed here."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from conftest import QUICK

from whygap.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
LONG = {"demo", "rehearse"}
COMPUTES = {"explain"}


def examples(names: set[str] | None = None) -> list[str]:
    found = []
    for module in COMMANDS:
        name = module.__name__.rpartition(".")[2]
        if (name in LONG) == (names is LONG):
            found += [" ".join(e.replace("\\\n", " ").split()) for e in module.EXAMPLES]
    return found


@pytest.fixture
def desk(world, result, tmp_path, monkeypatch):
    """A folder with every file that the examples name."""
    for name in ("source.parquet", "target.parquet", "study.toml"):
        shutil.copy(world / name, tmp_path / name)
    shutil.copy(result, tmp_path / "gap.json")
    rng = np.random.default_rng(0)
    for short, table in (("s", "source"), ("t", "target")):
        rows = pq.read_table(world / f"{table}.parquet").slice(0, 600)
        people = rows.rename_columns(
            ["age" if c == "W" else "risk" if c == "prediction" else c for c in rows.column_names]
        )
        people = people.append_column("sex", [rng.choice(["f", "m"], 600).tolist()])
        pq.write_table(people, tmp_path / f"{short}.parquet")
        after = {"s": "before", "t": "after"}[short]
        pyarrow.csv.write_csv(people, tmp_path / f"{after}.csv")
    _stream(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _stream(desk: Path) -> None:
    """The target by month, the same months as files, and rules that hold."""
    rows = pq.read_table(desk / "target.parquet")
    months = np.repeat(["2026-01", "2026-02"], [len(rows) // 2, len(rows) - len(rows) // 2])
    (desk / "arrived").mkdir()
    for month in np.unique(months):
        pq.write_table(rows.filter(months == month), desk / "arrived" / f"{month}.parquet")
    pq.write_table(rows.append_column("month", [months.tolist()]), desk / "target.parquet")
    rule = '[[rule]]\npart = "outcome"\nbelow = -0.9\n'
    (desk / "alerts.toml").write_text(rule, encoding="utf-8")


def run(call, example: str):
    command, _, redirected = example.partition(" > ")
    arguments = shlex.split(command)[1:]
    if arguments[0] in COMPUTES:
        arguments += QUICK
    done = call(*arguments)
    if redirected:
        Path(redirected).write_text(done.out)
    return done


@pytest.mark.parametrize("example", examples())
def test_an_example_of_the_command_line_runs(call, desk, example):
    if " init " in example:
        (desk / "study.toml").unlink()
    done = run(call, example)
    codes = (0, 1) if " check " in example else (0,)
    assert done.code in codes, done.err


@pytest.mark.parametrize("example", examples(LONG))
def test_a_long_example_of_the_command_line_runs(call, desk, example):
    quick = {
        "demo": " --set learner=fast",
        "rehearse": " --replicates 2 --set learner=fast --set folds=3",
    }
    name = example.split()[1]
    done = run(call, example + quick.get(name, ""))
    assert done.code == 0, done.err


def test_the_indented_commands_of_the_readme_exist(call):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    whygap (\w+)", text, re.MULTILINE)
    known = {module.__name__.rpartition(".")[2] for module in COMMANDS}
    assert commands
    assert set(commands) <= known
    for script in re.findall(r"^    (scripts/\w+)", text, re.MULTILINE):
        assert (ROOT / script).stat().st_mode & 0o111, script
